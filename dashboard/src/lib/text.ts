// Text from logs, made safe to look at. It is always rendered as text; this is about characters that deceive the eye.

// CSI and OSC sequences, and two-character escapes.
const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[@-Z\\-_])/g
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g
// Characters that reorder the text around them, and ones that have no width.
const HIDDEN = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g

const picture = (character: string): string => {
  const code = character.charCodeAt(0)
  return code === 0x7f ? '\u2421' : String.fromCharCode(0x2400 + code)
}
const named = (character: string): string => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`

/** Removes ANSI escape sequences, and makes control, direction and zero-width characters visible. */
export function plain(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(ANSI, '').replace(CONTROL, picture).replace(HIDDEN, named)
}

/** Lines of a text, without an empty one after a last line break. */
export function toLines(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines
}

/** Numbers of the lines that have the query, from 1; where none has it whole, those that have one of its words. Case does not matter. */
export function linesWith(lines: readonly string[], query: string): number[] {
  const wanted = query.trim().toLowerCase()
  if (wanted === '') return []
  const having = (parts: readonly string[]): number[] =>
    lines.flatMap((line, index) => (parts.some((part) => line.toLowerCase().includes(part)) ? [index + 1] : []))
  const whole = having([wanted])
  return whole.length > 0 ? whole : having(wanted.split(/\s+/))
}

/** The text cut at the occurrences of a query, which are at the odd positions. Case does not matter. */
export function splitAt(text: string, query: string): string[] {
  const wanted = query.trim()
  if (wanted === '') return [text]
  return text.split(new RegExp(`(${wanted.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')})`, 'gi'))
}
