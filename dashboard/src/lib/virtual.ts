// The arithmetic of long lists with rows of one height.

export interface Geometry {
  count: number
  rowHeight: number
  /** Height of the visible part, in pixels. */
  viewport: number
}

/** Browsers clamp the height of an element, Firefox first at about 17.8 million pixels. Longer lists scroll scaled. */
export const MAX_HEIGHT = 8_000_000

export interface Extent {
  /** Height of all rows. */
  total: number
  /** Height of the element that scrolls. */
  height: number
  /** Pixels of rows per pixel of scrolling; 1 unless the list is longer than an element can be. */
  scale: number
}

export function extent({ count, rowHeight, viewport }: Geometry): Extent {
  const total = count * rowHeight
  const height = Math.min(total, MAX_HEIGHT)
  const scale = height === total ? 1 : (total - viewport) / (height - viewport)
  return { total, height, scale }
}

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value))

/** How far the rows are moved for a position of the scroll bar. */
export const toOffset = (scrollTop: number, { scale }: Extent): number => scrollTop * scale

export const toScrollTop = (offset: number, { scale }: Extent): number => offset / scale

export function clampOffset(offset: number, geometry: Geometry): number {
  return clamp(offset, 0, Math.max(0, geometry.count * geometry.rowHeight - geometry.viewport))
}

/** The rows to draw, `from` included, `to` excluded, with `extra` rows on both sides. */
export function visibleRange(offset: number, { count, rowHeight, viewport }: Geometry, extra: number): { from: number; to: number } {
  const from = clamp(Math.floor(offset / rowHeight) - extra, 0, count)
  const to = clamp(Math.ceil((offset + viewport) / rowHeight) + extra, from, count)
  return { from, to }
}

export type Align = 'nearest' | 'start' | 'center'

/** The offset at which a row can be seen. With `nearest`, a row that is already visible moves nothing. */
export function reveal(index: number, offset: number, geometry: Geometry, align: Align = 'nearest'): number {
  const { rowHeight, viewport } = geometry
  const top = index * rowHeight
  if (align === 'start') return clampOffset(top, geometry)
  if (align === 'center') return clampOffset(top - (viewport - rowHeight) / 2, geometry)
  if (top < offset) return clampOffset(top, geometry)
  if (top + rowHeight > offset + viewport) return clampOffset(top + rowHeight - viewport, geometry)
  return offset
}

/** Pages (by number) that hold the rows from `from` to `to`. */
export function pagesOf(from: number, to: number, pageSize: number): number[] {
  if (to <= from) return []
  const first = Math.floor(from / pageSize)
  const last = Math.floor((to - 1) / pageSize)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
