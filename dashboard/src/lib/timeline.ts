// The events of a session as letters, one for each: which are shown, where the next failure is, how a turn looks. Pure, so that it can
// be tested without a browser.

/** Kinds that the reader can choose, with the letters of `PageSessionOutline.kinds`. */
export const eventFilters = [
  { id: 'failed', label: 'Failed', letters: 'x' },
  { id: 'prompts', label: 'Prompts', letters: 'us' },
  { id: 'messages', label: 'Messages', letters: 'my' },
  { id: 'reasoning', label: 'Reasoning', letters: 'r' },
  { id: 'calls', label: 'Calls', letters: 'cf' },
  { id: 'results', label: 'Results', letters: 'ox' },
  { id: 'notes', label: 'Notes', letters: 'np' },
  { id: 'tokens', label: 'Tokens', letters: 't' },
] as const

/** The letters of the chosen filters, in both cases; empty when none is chosen. */
export function lettersOf(chosen: readonly string[]): string {
  const letters = eventFilters.filter(({ id }) => chosen.includes(id)).map(({ letters }) => letters).join('')
  return letters + letters.toUpperCase()
}

/** How many events each filter has. */
export function countByFilter(kinds: string): Record<string, number> {
  const byLetter = new Map<string, number>()
  for (const letter of kinds.toLowerCase()) byLetter.set(letter, (byLetter.get(letter) ?? 0) + 1)
  return Object.fromEntries(eventFilters.map(({ id, letters }) => [id, [...letters].reduce((sum, letter) => sum + (byLetter.get(letter) ?? 0), 0)]))
}

/** Numbers of the events that have one of the letters. */
export function eventsWith(kinds: string, letters: string): number[] {
  const numbers: number[] = []
  for (let at = 0; at < kinds.length; at += 1) if (letters.includes(kinds[at] ?? ' ')) numbers.push(at)
  return numbers
}

/** Where a number is in an ascending list, or where it would be. */
export function placeOf(numbers: readonly number[], wanted: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** The next event with one of the letters after `from` (or before it), `null` when there is none. */
export function nextWith(kinds: string, letters: string, from: number, by: 1 | -1): number | null {
  for (let at = from + by; at >= 0 && at < kinds.length; at += by) if (letters.includes(kinds[at] ?? ' ')) return at
  return null
}

interface Span {
  first_event: number
  events: number
}

/** The position of the turn that has an event, -1 before the first. */
export function turnAt(turns: readonly Span[], event: number): number {
  let low = 0
  let high = turns.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((turns[middle]?.first_event ?? 0) <= event) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** A turn as lines of an SVG, 100 wide and 16 high: calls, failures, words of the agent, compactions. */
export interface Strip {
  calls: string
  failures: string
  words: string
  compactions: string
}

const WIDTH = 100
/** Lines that fit side by side; more are drawn as one. */
const CELLS = 120

export function stripOf(kinds: string, from: number, events: number): Strip {
  const strip: Strip = { calls: '', failures: '', words: '', compactions: '' }
  const seen = new Set<string>()
  const draw = (part: keyof Strip, at: number, line: string): void => {
    const cell = Math.floor(((at - from + 0.5) / Math.max(1, events)) * CELLS)
    const key = `${part}${cell}`
    if (seen.has(key)) return
    seen.add(key)
    strip[part] += `M${Math.round(((cell + 0.5) / CELLS) * WIDTH * 100) / 100} ${line}`
  }
  for (let at = from; at < from + events; at += 1) {
    const letter = (kinds[at] ?? '').toLowerCase()
    if (letter === 'c') draw('calls', at, '5V11')
    else if (letter === 'f') draw('failures', at, '1V15')
    else if (letter === 'm' || letter === 'r') draw('words', at, '7V9')
    else if (letter === 'p') draw('compactions', at, '0V16')
  }
  return strip
}

/** JSON with line breaks; the text itself when it is not JSON. */
export function prettyJson(text: string): string {
  const start = text.trimStart()[0]
  if (start !== '{' && start !== '[') return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
