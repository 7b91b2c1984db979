// A value that is loaded from the server and loaded again when what it depends on changes.

import { untrack } from 'svelte'
import { isAbort, toFailure, type ApiFailure } from './api.ts'

export class Resource<T> {
  data: T | undefined = $state.raw(undefined)
  failure: ApiFailure | null = $state.raw(null)
  isLoading = $state(true)
  #load: (signal: AbortSignal) => Promise<T>
  #abort: AbortController | null = null

  constructor(load: (signal: AbortSignal) => Promise<T>) {
    this.#load = load
  }

  /** Loads again. What was there stays until the new value arrives. */
  reload = (): void => {
    this.#abort?.abort()
    const abort = (this.#abort = new AbortController())
    untrack(() => (this.isLoading = true))
    this.#load(abort.signal).then(
      (data) => {
        if (abort.signal.aborted) return
        this.data = data
        this.failure = null
        this.isLoading = false
      },
      (error: unknown) => {
        if (abort.signal.aborted || isAbort(error)) return
        this.failure = toFailure(error)
        this.isLoading = false
      },
    )
  }

  cancel(): void {
    this.#abort?.abort()
  }
}

/**
 * Loads when the component is set up, and again whenever state that `load` reads before its first `await` changes.
 *
 *     const sessions = resource((signal) => get<SessionList>('/api/page/sessions', { project: router.param('project') }, signal))
 */
export function resource<T>(load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const value = new Resource(load)
  $effect(() => {
    value.reload()
    return () => value.cancel()
  })
  return value
}
