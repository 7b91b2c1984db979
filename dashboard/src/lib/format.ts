// Figures and dates as text. The words are English, like the page; dates are in the reader's zone.

const locale = typeof navigator !== 'undefined' && navigator.language.startsWith('en') ? navigator.language : 'en'

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
// Not in the reader's variety of English: in some, a million is `m`.
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const tenths = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
const share = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 0 })
const dollars = new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' })
const wholeDollars = new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', maximumFractionDigits: 0 })

export const NONE = '–'

/** 1,234,567 */
export const formatCount = (value: number | null | undefined): string => (value == null ? NONE : whole.format(value))

/** 950, 12.3K, 1.2M: for tokens and other large figures. The exact figure belongs in a title. */
export function formatTokens(value: number | null | undefined): string {
  if (value == null) return NONE
  return Math.abs(value) < 1000 ? whole.format(value) : short.format(value).replace('K', 'k')
}

/** Dollars. Less than a cent is not rounded to nothing. */
export function formatMoney(value: number | null | undefined): string {
  if (value == null) return NONE
  const size = Math.abs(value)
  if (size > 0 && size < 0.005) return value < 0 ? `-<${dollars.format(0.01)}` : `<${dollars.format(0.01)}`
  return size >= 1000 ? wholeDollars.format(value) : dollars.format(value)
}

/** Dollars of which some are not known, as the command line writes them. */
export function formatAtLeast(value: number | null | undefined): string {
  if (value == null) return NONE
  return `≥\u00a0${value < 0.005 ? dollars.format(0) : formatMoney(value)}`
}

/** 512 B, 1.5 KiB, 20 MiB */
export function formatBytes(value: number | null | undefined): string {
  if (value == null) return NONE
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let size = value
  let unit = 0
  while (Math.abs(size) >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit += 1
  }
  const digits = Math.abs(size) < 10 && unit > 0 ? tenths : whole
  return `${digits.format(size)} ${units[unit]}`
}

/** A part of 1 as percent: 0.89 is 89%. What is not nothing is at least 1%, what is not all at most 99%. */
export function formatShare(part: number | null | undefined): string {
  if (part == null || !Number.isFinite(part)) return NONE
  if (part > 0 && part < 0.01) return `<${share.format(0.01)}`
  if (part < 1 && part > 0.99) return share.format(0.99)
  return share.format(part)
}

/** 850 ms, 12.3 s, 4 min 12 s, 2 h 5 min, 3 d 4 h */
export function formatDuration(millis: number | null | undefined): string {
  if (millis == null) return NONE
  const size = Math.max(0, millis)
  if (size < 1000) return `${Math.round(size)} ms`
  if (size < 59_950) return `${tenths.format(size / 1000)} s`
  const parts: [name: string, size: number, next: string, nextSize: number][] = [
    ['d', 86_400_000, 'h', 3_600_000],
    ['h', 3_600_000, 'min', 60_000],
    ['min', 60_000, 's', 1000],
  ]
  for (const [name, unit, next, nextUnit] of parts) {
    // Rounded to the smaller unit first, so that it never reads `1 h 60 min`.
    const rounded = Math.round(size / nextUnit) * nextUnit
    if (rounded < unit) continue
    const rest = Math.round((rounded % unit) / nextUnit)
    return rest === 0 ? `${whole.format(Math.floor(rounded / unit))} ${name}` : `${whole.format(Math.floor(rounded / unit))} ${name} ${rest} ${next}`
  }
  return `${Math.round(size / 1000)} s`
}

export type Moment = number | string | Date

export function toDate(moment: Moment | null | undefined): Date | null {
  if (moment == null) return null
  const date = new Date(moment)
  return Number.isNaN(date.getTime()) ? null : date
}

const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' })
const clockTime = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
const dayOfYear = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' })

/** Date and time to the second, with the zone. */
export const formatExact = (moment: Moment | null | undefined): string => {
  const date = toDate(moment)
  return date ? exact.format(date) : NONE
}

/** 14:05:09 */
export const formatClock = (moment: Moment | null | undefined): string => {
  const date = toDate(moment)
  return date ? clockTime.format(date) : NONE
}

/** now, 12 s ago, 5 min ago, 3 h ago, 2 d ago, then the date. */
export function formatRelative(moment: Moment | null | undefined, now: number): string {
  const date = toDate(moment)
  if (!date) return NONE
  const past = now - date.getTime()
  const size = Math.abs(past)
  const words = (text: string): string => (past >= 0 ? `${text} ago` : `in ${text}`)
  if (size < 5000) return 'now'
  if (size < 60_000) return words(`${Math.floor(size / 1000)} s`)
  if (size < 3_600_000) return words(`${Math.floor(size / 60_000)} min`)
  if (size < 86_400_000) return words(`${Math.floor(size / 3_600_000)} h`)
  if (size < 7 * 86_400_000) return words(`${Math.floor(size / 86_400_000)} d`)
  return date.getFullYear() === new Date(now).getFullYear() ? dayOfYear.format(date) : day.format(date)
}

/** `1 session`, `3 sessions` */
export const plural = (count: number, one: string, many: string = `${one}s`): string => `${whole.format(count)} ${count === 1 ? one : many}`
