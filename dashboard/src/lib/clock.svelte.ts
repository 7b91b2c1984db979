import { createSubscriber } from 'svelte/reactivity'

/** One tick a second for every relative time on the page. It stops when nothing shows one. */
const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, 1000)
  return () => clearInterval(timer)
})

/** The current time in milliseconds. Reactive inside effects and templates. */
export function now(): number {
  subscribe()
  return Date.now()
}
