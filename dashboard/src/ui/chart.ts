import { plural } from '../lib/format.ts'

export interface ChartSeries {
  label: string
  /** One value per x; `null` where there is none. */
  values: readonly (number | null)[]
  /** Shades the area below the line. Only for the first series. */
  fill?: boolean
}

export interface ChartMark {
  x: number
  label: string
  tone?: 'neutral' | 'wait' | 'bad'
}

/** The chart in words, for readers who do not see it. */
export function describe(
  label: string,
  series: readonly ChartSeries[],
  marks: readonly ChartMark[],
  format: (value: number) => string,
): string {
  const parts = series.map(({ label: name, values }) => {
    const known = values.filter((value): value is number => value !== null)
    if (known.length === 0) return `${name}: no values`
    const low = known.reduce((a, b) => Math.min(a, b))
    const high = known.reduce((a, b) => Math.max(a, b))
    return `${name}: ${plural(known.length, 'value')}, from ${format(low)} to ${format(high)}, last ${format(known.at(-1) ?? 0)}`
  })
  const counts = new Map<string, number>()
  for (const mark of marks) counts.set(mark.label, (counts.get(mark.label) ?? 0) + 1)
  const marked = [...counts].map(([name, count]) => `${name}: ${count}`)
  return `${label}. ${[...parts, ...marked].join('. ')}.`
}
