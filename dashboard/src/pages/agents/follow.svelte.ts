// Loads a list again when agents change: at each event of the live connection, and now and then while that is not there.

import { live, useLive } from '../../lib/live.svelte.ts'
import type { LiveMessage } from '../../lib/messages.ts'

const TOGETHER_MILLIS = 300
const POLL_MILLIS = 5000

/**
 * Calls `reload` soon after each change, and at most once for changes that come together. Changes of agents that `isWanted` refuses are
 * left out; those of no agent in particular, such as of the settings, are not. Call it while the component is set up.
 */
export function useAgentEvents(reload: () => void, isWanted: (agent: string) => boolean = () => true): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const soon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      reload()
    }, TOGETHER_MILLIS)
  }
  useLive('event', (batch) => {
    const concerns = ({ instance_id: agent }: LiveMessage): boolean => typeof agent !== 'string' || isWanted(agent)
    if (batch.some(concerns)) soon()
  })
  useLive('gap', soon)
  $effect(() => {
    const poll = setInterval(() => {
      if (document.visibilityState === 'visible' && live.state !== 'live') reload()
    }, POLL_MILLIS)
    return () => {
      clearInterval(poll)
      clearTimeout(timer)
    }
  })
}
