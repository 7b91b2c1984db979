// How the page gets in: the code of a one-time link, which is exchanged for a cookie that scripts cannot read.

import { post, toFailure, whenUnauthorized, type ApiFailure } from './api.ts'
import { readCode } from './code.ts'

class Entry {
  state: 'entering' | 'in' | 'out' = $state('in')
  /** Why the last link did not work. */
  failure: ApiFailure | null = $state.raw(null)

  async start(): Promise<void> {
    whenUnauthorized(() => {
      if (this.state === 'in') this.state = 'out'
    })
    // A link that is opened where the page is already open changes only the fragment.
    addEventListener('hashchange', () => void this.#takeCode())
    await this.#takeCode()
  }

  /** Takes the code out of the address at once, so that it is in no history entry, then exchanges it. */
  async #takeCode(): Promise<void> {
    if (!location.hash.startsWith('#code=')) return
    const code = readCode(location.hash)
    history.replaceState(history.state, '', location.pathname + location.search)
    if (code !== null) await this.enter(code)
  }

  async enter(code: string): Promise<void> {
    const before = this.state
    this.state = 'entering'
    this.failure = null
    try {
      await post('/api/page/enter', { code })
      this.state = 'in'
    } catch (error) {
      this.failure = toFailure(error)
      // A used link does not matter where the cookie is still good; the first request shows whether it is.
      this.state = before
    }
  }
}

export const entry = new Entry()
