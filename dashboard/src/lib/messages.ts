// What the live connection does that needs no browser: the queue, the removal of duplicates, the waiting times.

export interface LiveMessage {
  type: string
  [field: string]: unknown
}

/** The first message after each connection: what to send again. */
export interface Follow {
  type: 'follow'
  events_after: number | null
  calls_since: number | null
}

/** How long to wait before attempt `n` (from 0): 250 ms doubling to 10 s, of which a random half, so that pages do not reconnect in step. */
export function backoff(attempt: number, random: number = Math.random()): number {
  const full = Math.min(10_000, 250 * 2 ** Math.min(attempt, 10))
  return Math.round(full / 2 + (full / 2) * random)
}

/** Milliseconds since the epoch, from a number or an RFC 3339 text. */
export function toMillis(at: unknown): number | null {
  if (typeof at === 'number') return Number.isFinite(at) ? at : null
  if (typeof at !== 'string') return null
  const millis = Date.parse(at)
  return Number.isNaN(millis) ? null : millis
}

const SEEN = 20_000

/** A set that forgets its oldest keys. */
export class RecentKeys {
  #keys = new Set<string>()

  constructor(readonly limit: number = SEEN) {}

  /** True when the key is new. */
  add(key: string): boolean {
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    if (this.#keys.size > this.limit) {
      const oldest = this.#keys.values().next().value
      if (oldest !== undefined) this.#keys.delete(oldest)
    }
    return true
  }
}

/** Remembers what has arrived: drops what was sent twice, and says what to request after a reconnect. */
export class Progress {
  #seen = new RecentKeys()
  #lastSeq: number | null = null
  #lastAt: number | null = null
  #isGreeted = false

  /** True when the message has not arrived before. */
  accept(message: LiveMessage): boolean {
    if (message.type === 'event' && typeof message['seq'] === 'number') {
      if (!this.#seen.add(`e${message['seq']}`)) return false
      this.#lastSeq = Math.max(this.#lastSeq ?? 0, message['seq'])
    }
    if (message.type === 'call') {
      if (!this.#seen.add(`c${String(message['session'])}/${String(message['event'])}`)) return false
      const at = toMillis(message['at'])
      if (at !== null) this.#lastAt = Math.max(this.#lastAt ?? 0, at)
    }
    if (message.type === 'hello' && this.#lastSeq === null && typeof message['events_last'] === 'number') {
      this.#lastSeq = message['events_last']
    }
    // Where no call has arrived, those after the greeting are missed by a connection that is lost.
    if (message.type === 'hello' && this.#lastAt === null) this.#lastAt = toMillis(message['at'])
    return true
  }

  /** True for the greeting of each connection but the first: rows that changed meanwhile are not sent again. */
  isReconnected(message: LiveMessage): boolean {
    if (message.type !== 'hello') return false
    const last = message['events_last']
    // The events of this server start anew, since its data was removed.
    if (typeof last === 'number' && this.#lastSeq !== null && last < this.#lastSeq) {
      this.#seen = new RecentKeys()
      this.#lastSeq = last
    }
    const wasGreeted = this.#isGreeted
    this.#isGreeted = true
    return wasGreeted
  }

  follow(): Follow {
    return { type: 'follow', events_after: this.#lastSeq, calls_since: this.#lastAt }
  }
}

/** Messages that wait for the next frame. When too many wait, they are dropped and a `gap` takes their place. */
export class MessageQueue {
  #waiting: LiveMessage[] = []

  constructor(readonly limit: number = 10_000) {}

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  push(message: LiveMessage): void {
    if (this.#waiting.length >= this.limit) this.#waiting = [{ type: 'gap' }]
    this.#waiting.push(message)
  }

  /** Everything that waits, by type, in order of arrival within each type. */
  take(): Map<string, LiveMessage[]> {
    const byType = new Map<string, LiveMessage[]>()
    for (const message of this.#waiting) {
      const list = byType.get(message.type)
      if (list) list.push(message)
      else byType.set(message.type, [message])
    }
    this.#waiting = []
    return byType
  }
}

/** `newer` in front of `list`, newest first, at most `limit` long. */
export function prepend<T>(list: readonly T[], newer: readonly T[], limit: number): T[] {
  return [...newer.slice(-limit).reverse(), ...list].slice(0, limit)
}
