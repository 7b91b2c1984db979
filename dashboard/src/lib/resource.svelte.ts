// A value that is loaded from the server and loaded again when what it depends on changes.

import { untrack } from 'svelte'
import { isAbort, toFailure, type ApiFailure } from './api.ts'

export class Resource<T> {
  data: T | undefined = $state.raw(undefined)
  failure: ApiFailure | null = $state.raw(null)
  isLoading = $state(true)
  #load: (signal: AbortSignal) => Promise<T>
  /** Of the request whose answer is awaited. */
  #abort: AbortController | null = null
  /** A reload was asked for meanwhile. */
  #isStale = false

  constructor(load: (signal: AbortSignal) => Promise<T>) {
    this.#load = load
  }

  /**
   * Loads again. What was there stays until the new value arrives. While an answer is awaited, it only notes that one more is wanted:
   * reloads that come faster than answers must not keep every answer from arriving.
   */
  reload = (): void => {
    if (this.#abort) this.#isStale = true
    else this.#request()
  }

  /** Loads for new dependencies: the answer for the former ones is no longer wanted. With `keep`, what was there stays meanwhile. */
  start(keep: boolean): void {
    this.cancel()
    untrack(() => {
      this.failure = null
      if (!keep) this.data = undefined
    })
    this.#request()
  }

  cancel(): void {
    this.#abort?.abort()
    this.#abort = null
    this.#isStale = false
  }

  #request(): void {
    const abort = (this.#abort = new AbortController())
    untrack(() => (this.isLoading = true))
    const end = (): void => {
      this.#abort = null
      this.isLoading = false
      if (!this.#isStale) return
      this.#isStale = false
      this.#request()
    }
    this.#load(abort.signal).then(
      (data) => {
        if (abort.signal.aborted) return
        this.data = data
        this.failure = null
        end()
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        if (!isAbort(error)) this.failure = toFailure(error)
        end()
      },
    )
  }
}

/**
 * Loads when the component is set up, and again whenever state that `load` reads before its first `await` changes.
 * Where that makes it another thing and not a newer one, such as the next event, `keep: false` draws nothing of the former one.
 *
 *     const sessions = resource((signal) => get<SessionList>('/api/page/sessions', { project: router.param('project') }, signal))
 */
export function resource<T>(load: (signal: AbortSignal) => Promise<T>, { keep = true }: { keep?: boolean } = {}): Resource<T> {
  const value = new Resource(load)
  $effect(() => {
    value.start(keep)
    return () => value.cancel()
  })
  return value
}
