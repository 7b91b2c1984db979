// How two figures differ, in words that need no colour. Pure, so that it can be tested without a browser.

export interface Difference {
  kind: 'same' | 'differs' | 'unknown'
  /** `×2.4`, `+12%`, `+3`, `+3 points`, `–` */
  text: string
  /** Which of the two is better; `null` when neither is. */
  better: 'a' | 'b' | null
  tone: 'better' | 'worse' | ''
  /** What B is, compared with A. */
  word: 'better' | 'worse' | ''
}

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const large = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function differenceOf(a: number | null, b: number | null, better?: 'less' | 'more', unit?: string): Difference {
  if (a === null || b === null) return { kind: 'unknown', text: '–', better: null, tone: '', word: '' }
  if (a === b) return { kind: 'same', text: 'same', better: null, tone: '', word: '' }
  const winner = better === undefined ? null : (better === 'less') === b < a ? 'b' : 'a'
  const word = winner === null ? '' : winner === 'b' ? 'better' : 'worse'
  return { kind: 'differs', text: unit ? `${amountOf(b - a)} ${unit}${Math.abs(b - a) === 1 ? '' : 's'}` : changeOf(a, b), better: winner, tone: word, word }
}

const amountOf = (by: number): string => `${by > 0 ? '+' : '−'}${(Math.abs(by) < 10_000 ? number : large).format(Math.abs(by))}`

function changeOf(a: number, b: number): string {
  if (a === 0 || b === 0 || (Math.max(a, b) < 20 && Number.isInteger(a) && Number.isInteger(b))) return amountOf(b - a)
  const ratio = b / a
  if (ratio >= 2) return `×${number.format(ratio)}`
  const percent = Math.round((ratio - 1) * 100)
  if (percent === 0) return ratio > 1 ? '+<1%' : '−<1%'
  return `${percent > 0 ? '+' : '−'}${Math.abs(percent)}%`
}
