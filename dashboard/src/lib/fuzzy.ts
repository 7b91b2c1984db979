// Fuzzy matching for the command palette.

export interface FuzzyMatch {
  score: number
  /** Positions of the matched characters, for emphasis. */
  at: number[]
}

const isBoundary = (text: string, index: number): boolean => index === 0 || /[\s/\-_.:]/.test(text[index - 1] ?? '')

/** Matches the characters of `query` in order. Runs and starts of words score higher, and shorter texts win ties. */
export function fuzzy(query: string, text: string): FuzzyMatch | null {
  const wanted = query.toLowerCase().replace(/\s+/g, '')
  const given = text.toLowerCase()
  if (wanted === '') return { score: 0, at: [] }
  const whole = given.indexOf(query.trim().toLowerCase())
  if (whole >= 0) {
    const length = query.trim().length
    const score = 1000 - whole - text.length / 100 + (isBoundary(given, whole) ? 100 : 0)
    return { score, at: Array.from({ length }, (_, index) => whole + index) }
  }
  const at: number[] = []
  let score = 0
  let from = 0
  for (const character of wanted) {
    let found = given.indexOf(character, from)
    if (found < 0) return null
    // A later start of a word is better than the first occurrence inside one.
    for (let next = found; next >= 0 && next < given.length; next = given.indexOf(character, next + 1)) {
      if (isBoundary(given, next)) {
        if (canFinish(given, wanted, at.length, next)) found = next
        break
      }
    }
    const previous = at.at(-1)
    score += isBoundary(given, found) ? 10 : previous !== undefined && found === previous + 1 ? 8 : 1
    at.push(found)
    from = found + 1
  }
  return { score: score - text.length / 100, at }
}

function canFinish(given: string, wanted: string, done: number, at: number): boolean {
  let from = at + 1
  for (const character of wanted.slice(done + 1)) {
    const found = given.indexOf(character, from)
    if (found < 0) return false
    from = found + 1
  }
  return true
}

/** Items that match, best first; the given order decides ties. */
export function rank<T>(query: string, items: readonly T[], textOf: (item: T) => string): { item: T; at: number[] }[] {
  return items
    .map((item, order) => ({ item, order, match: fuzzy(query, textOf(item)) }))
    .filter((entry): entry is typeof entry & { match: FuzzyMatch } => entry.match !== null)
    .sort((a, b) => b.match.score - a.match.score || a.order - b.order)
    .map(({ item, match }) => ({ item, at: match.at }))
}
