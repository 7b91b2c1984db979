// What the page Now derives from its rows: who needs a person at this moment, and in which order.

import type { LiveCall, NowSession, NowState } from './types.ts'

export type NowGroup = 'needs' | 'working' | 'recent'

/** The state of a session at a time, and since when. A row's phases say what becomes of it while nothing more is written. */
export function stateAt(session: NowSession, now: number): { state: NowState; since: number } {
  let current = session.phases[0]
  for (const phase of session.phases) if (phase.from <= now) current = phase
  return current ? { state: current.state, since: current.from } : { state: 'idle', since: session.last_activity }
}

const groups: Record<NowState, NowGroup> = { waiting: 'needs', maybe_waiting: 'needs', working: 'working', idle: 'recent' }

export interface GroupedSession {
  session: NowSession
  state: NowState
  since: number
}

/** Sessions by group. The order within each is one that does not change while its sessions go on. */
export function groupSessions(sessions: readonly NowSession[], now: number): Record<NowGroup, GroupedSession[]> {
  const result: Record<NowGroup, GroupedSession[]> = { needs: [], working: [], recent: [] }
  for (const session of sessions) {
    const { state, since } = stateAt(session, now)
    result[groups[state]].push({ session, state, since })
  }
  const certain = (row: GroupedSession): number => (row.state === 'waiting' ? 0 : 1)
  const byId = (a: GroupedSession, b: GroupedSession): number => (a.session.id < b.session.id ? -1 : 1)
  result.needs.sort((a, b) => certain(a) - certain(b) || b.since - a.since || byId(a, b))
  result.working.sort((a, b) => (b.session.started ?? 0) - (a.session.started ?? 0) || byId(a, b))
  result.recent.sort((a, b) => b.session.last_activity - a.session.last_activity || byId(a, b))
  return result
}

/** Rows with those that changed in the place of their former selves. */
export function replaceSessions(sessions: readonly NowSession[], changed: readonly NowSession[]): NowSession[] {
  const byId = new Map(sessions.map((session) => [session.id, session]))
  for (const session of changed) byId.set(session.id, session)
  return [...byId.values()]
}

/** The start of the reader's day, in milliseconds. */
export function startOfDay(now: number): number {
  const day = new Date(now)
  day.setHours(0, 0, 0, 0)
  return day.getTime()
}

export interface CallRow {
  key: string
  /** `null` for a mark that some calls are missing. */
  call: LiveCall | null
  outcome: 'open' | 'done' | 'failed' | 'gap'
  /** Milliseconds from the call to its result. */
  took: number | null
}

const keyOf = (session: string, event: number): string => `${session}/${event}`

/** The list of calls, newest first, after some more messages. `added` is how many rows are new. */
export function addCalls(rows: readonly CallRow[], messages: readonly LiveCall[], limit: number): { rows: CallRow[]; added: number } {
  const fresh: CallRow[] = []
  const placeInFresh = new Map<string, number>()
  let known: CallRow[] | null = null
  let placeInKnown: Map<string, number> | null = null
  for (const call of messages) {
    const outcome = call.failed ? 'failed' : call.is_result ? 'done' : 'open'
    if (!call.is_result) {
      placeInFresh.set(keyOf(call.session, call.event), fresh.length)
      fresh.push({ key: keyOf(call.session, call.event), call, outcome, took: null })
      continue
    }
    const key = call.of === null ? '' : keyOf(call.session, call.of)
    const finish = (row: CallRow): CallRow => {
      const took = call.at !== null && row.call?.at != null ? Math.max(0, call.at - row.call.at) : null
      return { ...row, outcome, took }
    }
    const inFresh = placeInFresh.get(key)
    if (inFresh !== undefined) {
      fresh[inFresh] = finish(fresh[inFresh]!)
      continue
    }
    placeInKnown ??= new Map(rows.map((row, at) => [row.key, at]))
    const inKnown = placeInKnown.get(key)
    if (inKnown !== undefined) (known ??= [...rows])[inKnown] = finish(known[inKnown]!)
    // A result whose call was before all this is worth a row only if it failed.
    else if (call.failed) fresh.push({ key: keyOf(call.session, call.event), call, outcome, took: null })
  }
  // Sessions are read one after the other; their calls are shown in order.
  fresh.sort((a, b) => (a.call?.at ?? 0) - (b.call?.at ?? 0))
  const added = Math.min(fresh.length, limit)
  return { rows: [...fresh.reverse(), ...(known ?? rows)].slice(0, limit), added }
}

/** A mark that some calls are missing, unless one is on top already. */
export function addGap(rows: readonly CallRow[], limit: number): CallRow[] {
  if (rows.length === 0 || rows[0]?.outcome === 'gap') return [...rows]
  return [{ key: `gap/${rows[0]?.key}`, call: null, outcome: 'gap' as const, took: null }, ...rows].slice(0, limit)
}
