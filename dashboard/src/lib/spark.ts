/** An SVG path through values, scaled into a box from the lowest to the highest, with half a line's width kept free at the edges. */
export function sparkPath(values: readonly number[], width: number, height: number, inset: number = 1): string {
  if (values.length === 0) return ''
  const low = Math.min(0, ...values)
  const high = Math.max(...values)
  const span = high - low
  const step = values.length > 1 ? (width - 2 * inset) / (values.length - 1) : 0
  const y = (value: number): number => (span === 0 ? height - inset : height - inset - ((value - low) / span) * (height - 2 * inset))
  const points = values.map((value, index) => `${round(inset + index * step)} ${round(y(value))}`)
  return values.length === 1 ? `M${points[0]}H${round(width - inset)}` : `M${points.join('L')}`
}

const round = (value: number): number => Math.round(value * 100) / 100

/** At most `limit` values: the highest of each group, so that peaks stay. */
export function thin(values: readonly number[], limit: number): number[] {
  if (values.length <= limit) return [...values]
  const size = values.length / limit
  return Array.from({ length: limit }, (_, index) => Math.max(...values.slice(Math.floor(index * size), Math.max(Math.floor(index * size) + 1, Math.floor((index + 1) * size)))))
}
