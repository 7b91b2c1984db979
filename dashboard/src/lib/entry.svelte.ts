// How the page gets in: the code of a one-time link, which is exchanged for a cookie that scripts cannot read.

import { post, toFailure, whenUnauthorized, type ApiFailure } from './api.ts'
import { readCode } from './code.ts'

class Entry {
  state: 'entering' | 'in' | 'out' = $state('in')
  failure: ApiFailure | null = $state(null)

  /** Takes the code out of the address at once, so that it is in no history entry, then exchanges it. */
  async start(): Promise<void> {
    whenUnauthorized(() => (this.state = 'out'))
    const code = location.hash.startsWith('#code=') ? readCode(location.hash) : null
    if (location.hash.startsWith('#code=')) history.replaceState(history.state, '', location.pathname + location.search)
    if (code !== null) await this.enter(code)
  }

  async enter(code: string): Promise<void> {
    this.state = 'entering'
    this.failure = null
    try {
      await post('/api/page/enter', { code })
      this.state = 'in'
    } catch (error) {
      this.failure = toFailure(error)
      this.state = 'out'
    }
  }
}

export const entry = new Entry()
