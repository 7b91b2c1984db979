/** Lines with a meaning, both ends included. */
export interface LineRange {
  from: number
  to: number
  tone: 'cut' | 'recovered' | 'hit' | 'added' | 'removed'
  /** The reason, as a title and for screen readers. */
  label?: string
}

export interface Block {
  /** Lines before the block. */
  from: number
  size: number
}

const SIZE = 200

/** Cuts a number of lines into blocks that are drawn only when they are near the visible part. */
export function blocksOf(count: number, size: number = SIZE): Block[] {
  return Array.from({ length: Math.ceil(count / size) }, (_, index) => ({ from: index * size, size: Math.min(size, count - index * size) }))
}
