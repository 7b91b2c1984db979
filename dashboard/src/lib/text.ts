// Text from logs, made safe to look at. It is always rendered as text; this is about characters that deceive the eye.

// Whole sequences: CSI, then OSC, then DCS, SOS, PM and APC, then escapes of two characters. One without its end is left, with its ESC shown:
// where it would end is not known, and what follows it must not be hidden.
const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[@-OQ-WYZ\\])/g
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g
// C1 controls, separators of lines that are no line break here, characters that reorder the text around them, and ones that have no width.
// The joiners U+200C and U+200D stay: words and emoji need them.
const HIDDEN = /[\u0080-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu

const picture = (character: string): string => {
  const code = character.charCodeAt(0)
  return code === 0x7f ? '\u2421' : String.fromCharCode(0x2400 + code)
}
const named = (character: string): string => `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`

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

/** As the start of a sentence. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
