// A long list that is loaded page by page, as `VirtualList` needs it.

import { untrack } from 'svelte'
import { isAbort, toFailure, type ApiFailure } from './api.ts'
import { pagesOf } from './virtual.ts'

export interface Slice<T> {
  /** Rows in the whole list. */
  total: number
  rows: T[]
}

type Load<T> = (from: number, limit: number, signal: AbortSignal) => Promise<Slice<T>>

/** At most this many pages stay in memory; the ones that were needed longest ago go. */
const KEPT_PAGES = 60

export class PagedList<T> {
  /** Rows in the whole list; `undefined` until the first page has arrived. */
  count: number | undefined = $state(undefined)
  failure: ApiFailure | null = $state.raw(null)
  isLoading = $state(false)
  /** Grows when rows arrive, so that `get` is reactive. */
  #version = $state(0)
  #pages = new Map<number, T[]>()
  #requests = new Map<number, AbortController>()
  /** The rows that were last in sight. */
  #visible: [from: number, to: number] = [0, 1]
  /** A reload was asked for while pages were awaited. */
  #isStale = false
  #load: Load<T>

  constructor(
    load: Load<T>,
    readonly pageSize: number = 100,
  ) {
    this.#load = load
  }

  /** The row at `index`, or `undefined` while it is not loaded. */
  get = (index: number): T | undefined => {
    void this.#version
    return this.#pages.get(Math.floor(index / this.pageSize))?.[index % this.pageSize]
  }

  /** Requests the pages of a range, and gives up requests for pages that are out of sight. */
  loadRange = (from: number, to: number): void => {
    this.#visible = [from, Math.max(to, from + 1)]
    const wanted = pagesOf(...this.#visible, this.pageSize)
    for (const [page, request] of this.#requests) {
      if (wanted.includes(page)) continue
      request.abort()
      this.#requests.delete(page)
    }
    for (const page of wanted) {
      const rows = this.#pages.get(page)
      if (rows) {
        // Moved to the end: it was needed last.
        this.#pages.delete(page)
        this.#pages.set(page, rows)
      } else if (!this.#requests.has(page)) this.#request(page)
    }
  }

  /**
   * Forgets everything and loads the beginning again. With `keep`, rows in sight stay until new ones replace them; while pages are
   * awaited, it only notes that they are to be loaded once more.
   */
  reload = (options: { keep?: boolean } = {}): void => {
    if (options.keep && this.#requests.size > 0) {
      this.#isStale = true
      return
    }
    this.cancel()
    if (!options.keep) this.#visible = [0, 1]
    const wanted = pagesOf(...this.#visible, this.pageSize)
    for (const page of this.#pages.keys()) if (!options.keep || !wanted.includes(page)) this.#pages.delete(page)
    untrack(() => {
      if (!options.keep) this.count = undefined
      this.failure = null
      this.#version += 1
    })
    for (const page of wanted) this.#request(page)
  }

  /** Replaces rows that are loaded, for changes that arrive live. */
  update(change: (row: T) => T): void {
    for (const [page, rows] of this.#pages) this.#pages.set(page, rows.map(change))
    untrack(() => (this.#version += 1))
  }

  cancel(): void {
    this.#isStale = false
    for (const request of this.#requests.values()) request.abort()
    this.#requests.clear()
  }

  #request(page: number): void {
    const abort = new AbortController()
    this.#requests.set(page, abort)
    untrack(() => (this.isLoading = true))
    this.#load(page * this.pageSize, this.pageSize, abort.signal)
      .then((slice) => {
        if (abort.signal.aborted) return
        this.#pages.set(page, slice.rows)
        this.count = slice.total
        this.failure = null
        this.#version += 1
        const oldest = this.#pages.keys().next().value
        if (this.#pages.size > KEPT_PAGES && oldest !== undefined) this.#pages.delete(oldest)
      })
      .catch((error: unknown) => {
        if (!abort.signal.aborted && !isAbort(error)) this.failure = toFailure(error)
      })
      .finally(() => {
        if (this.#requests.get(page) === abort) this.#requests.delete(page)
        this.isLoading = this.#requests.size > 0
        if (this.isLoading || !this.#isStale) return
        this.#isStale = false
        this.reload({ keep: true })
      })
  }
}

/**
 * A paged list for as long as the component lives. It starts again whenever state that `depends` reads changes (filters).
 *
 *     const list = pagedList((from, limit, signal) => get('/api/page/sessions', { from, limit, ...filters() }, signal), filters)
 */
export function pagedList<T>(load: Load<T>, depends: () => unknown = () => null, pageSize?: number): PagedList<T> {
  const list = new PagedList(load, pageSize)
  $effect(() => {
    // Read deeply: a returned object of filters counts with all its fields.
    JSON.stringify(depends())
    untrack(() => list.reload())
    return () => list.cancel()
  })
  return list
}
