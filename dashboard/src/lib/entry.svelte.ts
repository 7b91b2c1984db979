// How the page gets in: the code of a one-time link, which is exchanged for a cookie that scripts cannot read.

import { get, post, toFailure, whenUnauthorized, type ApiFailure } from './api.ts'
import { readCode } from './code.ts'
import type { PageStatus } from './types.ts'

class Entry {
  /** `checking` until the first answer. */
  state: 'checking' | 'in' | 'out' = $state('checking')
  isEntering = $state(false)
  /** Which server this is: its version and machine. */
  status: PageStatus | null = $state.raw(null)
  /** Why the last link did not work. */
  failure: ApiFailure | null = $state.raw(null)

  async start(): Promise<void> {
    whenUnauthorized(() => (this.state = 'out'))
    // A link that is opened where the page is already open changes only the fragment.
    addEventListener('hashchange', () => void this.#takeCode())
    await this.#takeCode()
    await this.#check()
  }

  /** A page that cannot reach its server is drawn too, and says so itself. */
  async #check(): Promise<void> {
    try {
      this.status = await get<PageStatus>('/api/page/status')
      this.state = 'in'
    } catch (error) {
      if (toFailure(error).status !== 401) this.state = 'in'
    }
  }

  /** Takes the code out of the address at once, so that it is in no history entry, then exchanges it. */
  async #takeCode(): Promise<void> {
    if (!location.hash.startsWith('#code=')) return
    const code = readCode(location.hash)
    history.replaceState(history.state, '', location.pathname + location.search)
    if (code !== null) await this.enter(code)
  }

  async enter(code: string): Promise<void> {
    this.isEntering = true
    this.failure = null
    try {
      await post('/api/page/enter', { code })
      // The first check follows by itself.
      if (this.state === 'out') await this.#check()
    } catch (error) {
      // A used link does not matter where the cookie is still good.
      this.failure = toFailure(error)
    } finally {
      this.isEntering = false
    }
  }

  /** Makes the browser forget its cookie. */
  async leave(): Promise<void> {
    await post('/api/page/leave')
    this.failure = null
    this.state = 'out'
  }
}

export const entry = new Entry()
