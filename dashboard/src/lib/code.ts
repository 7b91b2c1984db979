/** The code in what a reader pastes: the whole one-time link, its fragment, or the code alone. */
export function readCode(pasted: string): string | null {
  const text = pasted.trim()
  const at = text.lastIndexOf('#code=')
  const code = at >= 0 ? text.slice(at + '#code='.length) : text
  return /^[\w.~-]+$/.test(code) ? code : null
}
