// The current address as state, navigation through the history API, and what each history entry remembers (scroll positions).

import { tick } from 'svelte'
import { href, matchPath, pageOf, type Match, type QueryValue } from './routes.ts'

interface Entry {
  /** Identifies the history entry, so that going back finds what it remembered. */
  entry: string
}

const newEntry = (): string => crypto.randomUUID()

class Router {
  path = $state(location.pathname)
  search = $state(location.search)
  match: Match = $derived(matchPath(this.path))
  query: URLSearchParams = $derived(new URLSearchParams(this.search))
  /** Grows with each navigation to another page; the shell moves the focus when it changes. */
  visits = $state(0)

  /** The element that scrolls: the shell's main part. */
  scroller: HTMLElement | undefined

  #entry = newEntry()
  #memory = new Map<string, Map<string, unknown>>()

  start(): void {
    history.scrollRestoration = 'manual'
    const state = history.state as Entry | null
    if (state?.entry) this.#entry = state.entry
    else history.replaceState({ entry: this.#entry } satisfies Entry, '')
    addEventListener('popstate', (event) => {
      this.#leave()
      this.#entry = (event.state as Entry | null)?.entry ?? newEntry()
      this.#arrive(true)
    })
    document.addEventListener('click', (event) => this.#click(event))
  }

  /** Goes to an address of the page. `replace` keeps the history entry, and with it the scroll position. */
  go(address: string, options: { replace?: boolean } = {}): void {
    const url = new URL(address, location.href)
    if (url.origin !== location.origin) return
    if (url.href === location.href) return
    if (options.replace) {
      history.replaceState({ entry: this.#entry } satisfies Entry, '', url)
      this.path = url.pathname
      this.search = url.search
      return
    }
    this.#leave()
    this.#entry = newEntry()
    history.pushState({ entry: this.#entry } satisfies Entry, '', url)
    this.#arrive(false)
  }

  /** One query parameter, `''` when absent. Reactive. */
  param(name: string): string {
    return this.query.get(name) ?? ''
  }

  /** Changes query parameters of the current address. Replaces the entry unless `push` is set: filters are not steps to go back through. */
  set(changes: Record<string, QueryValue>, options: { push?: boolean } = {}): void {
    const next = Object.fromEntries(new URLSearchParams(location.search)) as Record<string, QueryValue>
    this.go(href(location.pathname, { ...next, ...changes }), { replace: !options.push })
  }

  /** Keeps a value with the current history entry, to be recalled when the reader comes back to it. */
  remember(key: string, value: unknown): void {
    let values = this.#memory.get(this.#entry)
    if (!values) this.#memory.set(this.#entry, (values = new Map()))
    values.set(key, value)
  }

  recall<T>(key: string): T | undefined {
    return this.#memory.get(this.#entry)?.get(key) as T | undefined
  }

  #leave(): void {
    this.remember('scroll', this.scroller?.scrollTop ?? 0)
  }

  #arrive(back: boolean): void {
    const changed = pageOf(matchPath(this.path)) !== pageOf(matchPath(location.pathname))
    this.path = location.pathname
    this.search = location.search
    if (changed) this.visits += 1
    const target = back ? (this.recall<number>('scroll') ?? 0) : changed ? 0 : null
    if (target !== null) void this.#scroll(target)
  }

  /** Content may arrive after the navigation: keep trying for a second, until the page is tall enough or the reader scrolls. */
  async #scroll(top: number): Promise<void> {
    const entry = this.#entry
    await tick()
    const scroller = this.scroller
    if (!scroller) return
    scroller.scrollTop = top
    const until = performance.now() + 1000
    let last = scroller.scrollTop
    const again = (): void => {
      const now = scroller.scrollTop
      if (entry !== this.#entry || Math.abs(now - top) < 2 || performance.now() > until || now !== last) return
      scroller.scrollTop = top
      last = scroller.scrollTop
      requestAnimationFrame(again)
    }
    requestAnimationFrame(again)
  }

  #click(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element | null)?.closest('a')
    // Attributes, because the properties of a link in an SVG are objects.
    const address = link?.getAttribute('href')
    if (!link || !address || link.hasAttribute('target') || link.hasAttribute('download')) return
    const url = new URL(address, location.href)
    if (url.origin !== location.origin || (url.hash !== '' && url.pathname === location.pathname)) return
    event.preventDefault()
    this.go(url.href)
  }
}

export const router = new Router()
