// Matches of a search: grouped, and cut at what is marked. Pure, so that it can be tested without a browser.

export interface SessionGroup<T> {
  /** Unique among the groups: a session may have several, where matches of its subagents are between its own. */
  key: string
  session: string
  matches: T[]
}

/** Matches that follow each other in one session. */
export function groupBySession<T extends { session: string; event: number }>(matches: readonly T[]): SessionGroup<T>[] {
  const groups: SessionGroup<T>[] = []
  for (const match of matches) {
    const last = groups.at(-1)
    if (last?.session === match.session) last.matches.push(match)
    else groups.push({ key: `${match.session}/${match.event}`, session: match.session, matches: [match] })
  }
  return groups
}

/** The text cut at the marks, which are at the odd positions. */
export function cutAt(text: string, marks: readonly (readonly [number, number])[]): string[] {
  const parts: string[] = []
  let at = 0
  for (const [start, end] of marks) {
    if (start < at || end > text.length) continue
    parts.push(text.slice(at, start), text.slice(start, end))
    at = end
  }
  parts.push(text.slice(at))
  return parts
}
