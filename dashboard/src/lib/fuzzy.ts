// Fuzzy matching for the command palette.

export interface FuzzyMatch {
  score: number
  /** Positions of the matched characters, for emphasis. An emoji counts as one. */
  at: number[]
}

const isBoundary = (text: readonly string[], index: number): boolean => index === 0 || /[\s/\-_.:]/.test(text[index - 1] ?? '')

/** Lower case, with as many characters as before, so that positions stay true. */
const lower = (text: string): string[] => Array.from(text, (character) => Array.from(character.toLowerCase())[0] ?? character)

/** Matches the characters of `query` in order. Runs and starts of words score higher, and shorter texts win ties. */
export function fuzzy(query: string, text: string): FuzzyMatch | null {
  const wanted = lower(query.replace(/\s+/g, ''))
  const given = lower(text)
  if (wanted.length === 0) return { score: 0, at: [] }
  const phrase = lower(query.trim())
  const before = given.join('').indexOf(phrase.join(''))
  if (before >= 0) {
    const whole = Array.from(given.join('').slice(0, before)).length
    const score = 1000 - whole - given.length / 100 + (isBoundary(given, whole) ? 100 : 0)
    return { score, at: phrase.map((_, index) => whole + index) }
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
  return { score: score - given.length / 100, at }
}

function canFinish(given: readonly string[], wanted: readonly string[], done: number, at: number): boolean {
  let from = at + 1
  for (const character of wanted.slice(done + 1)) {
    const found = given.indexOf(character, from)
    if (found < 0) return false
    from = found + 1
  }
  return true
}

/** The text cut where the emphasis changes: what matched is at the odd positions. */
export function emphasized(text: string, at: readonly number[]): string[] {
  const matched = new Set(at)
  const parts = ['']
  for (const [index, character] of Array.from(text).entries()) {
    if (matched.has(index) !== (parts.length % 2 === 0)) parts.push('')
    parts[parts.length - 1] += character
  }
  return parts
}

/** Items that match, best first; the given order decides ties. */
export function rank<T>(query: string, items: readonly T[], textOf: (item: T) => string): { item: T; at: number[] }[] {
  return items
    .map((item, order) => ({ item, order, match: fuzzy(query, textOf(item)) }))
    .filter((entry): entry is typeof entry & { match: FuzzyMatch } => entry.match !== null)
    .sort((a, b) => b.match.score - a.match.score || a.order - b.order)
    .map(({ item, match }) => ({ item, at: match.at }))
}
