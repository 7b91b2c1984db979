// The latest tool calls of all sessions. Collected as long as the page is open, so that the list is there when the reader comes back.

import { live } from './live.svelte.ts'
import { addCalls, addGap, type CallRow } from './now.ts'
import type { LiveCall } from './types.ts'

const MOST = 1000

class Calls {
  /** Newest first. Replaced as a whole, at most once per frame. */
  rows: CallRow[] = $state.raw([])
  isPaused = $state(false)
  /** Calls that arrived while paused. */
  waiting = $state(0)
  /** Called with the number of new rows, before they are shown. */
  onadded: (added: number) => void = () => {}
  /** What arrived while paused: calls, and marks that some are missing. */
  #held: (LiveCall | 'gap')[] = []

  constructor() {
    live.on<LiveCall>('call', (batch) => this.#take(batch))
    live.on('gap', () => {
      if (this.isPaused) this.#held.push('gap')
      else this.rows = addGap(this.rows, MOST)
    })
  }

  setPaused(isPaused: boolean): void {
    this.isPaused = isPaused
    if (isPaused) return
    const held = this.#held
    this.#held = []
    this.waiting = 0
    let batch: LiveCall[] = []
    for (const item of held) {
      if (item !== 'gap') {
        batch.push(item)
        continue
      }
      this.#add(batch)
      batch = []
      this.rows = addGap(this.rows, MOST)
    }
    this.#add(batch)
  }

  #take(batch: LiveCall[]): void {
    if (!this.isPaused) return this.#add(batch)
    // Twice as many: each call has a result.
    this.#held = [...this.#held, ...batch].slice(-2 * MOST)
    this.waiting = this.#held.filter((item) => item !== 'gap' && !item.is_result).length
  }

  #add(batch: LiveCall[]): void {
    const { rows, added } = addCalls(this.rows, batch, MOST)
    this.rows = rows
    if (added > 0) this.onadded(added)
  }
}

export const calls = new Calls()
