// References of reports: `path`, `path:12`, `path:12:3`, `path:12-40`.

export type TextPart = { text: string } | { reference: string } | { code: string }

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Cuts a sentence into words, `code` and references to files that are known. A known file may have any line behind it. */
export function partsOf(text: string, known: readonly string[]): TextPart[] {
  const paths = [...new Set(known.map(pathOf))].filter((path) => path !== '').sort((one, other) => other.length - one.length)
  if (paths.length === 0) return codeParts(text)
  const pattern = new RegExp(`(?<![\\w/.-])(?:${paths.map(escape).join('|')})(?::\\d+(?:-\\d+|:\\d+)?)?(?![\\w/-])`, 'g')
  const parts: TextPart[] = []
  let at = 0
  for (const match of text.matchAll(pattern)) {
    // In backticks it is a reference all the same, without them.
    const isQuoted = text[match.index - 1] === '`' && text[match.index + match[0].length] === '`'
    const [start, end] = [match.index - (isQuoted ? 1 : 0), match.index + match[0].length + (isQuoted ? 1 : 0)]
    parts.push(...codeParts(text.slice(at, start)), { reference: match[0] })
    at = end
  }
  parts.push(...codeParts(text.slice(at)))
  return parts
}

function codeParts(text: string): TextPart[] {
  const parts = text.split('`')
  // An odd backtick is one.
  if (parts.length % 2 === 0) return text === '' ? [] : [{ text }]
  return parts.map((part, index) => (index % 2 === 1 ? { code: part } : { text: part })).filter((part) => !('text' in part) || part.text !== '')
}

export function pathOf(reference: string): string {
  return reference.replace(/:\d+(?:-\d+|:\d+)?$/, '')
}

/** The path in two: the folders, which may be shortened, and the name with its lines. */
export function nameOf(reference: string): { folder: string; name: string } {
  const at = reference.lastIndexOf('/')
  return { folder: reference.slice(0, at + 1), name: reference.slice(at + 1) }
}
