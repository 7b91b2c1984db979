// A text with cut blocks as rows of one height. Pure, so that it can be tested without a browser.

import type { PageCutCause } from './types.ts'

/** `all` shades what was cut, `cut` shows only that, `shown` is what the model read. */
export type CutMode = 'all' | 'cut' | 'shown'

/** A block that was cut: lines from 1, both ends included. */
export interface CutBlock {
  from: number
  to: number
  label: string
}

/** Neighbouring rows. `line` rows have a line each; a `fold` stands for a cut block, a `gap` for kept lines. */
export interface Segment {
  kind: 'kept' | 'cut' | 'fold' | 'gap'
  from: number
  to: number
  /** The first row. */
  row: number
  rows: number
  /** The block that it belongs to; -1 for kept lines. */
  block: number
}

/** The rows of a text of `count` lines. `open` has the first lines of the folds that are unfolded. */
export function segmentsOf(count: number, blocks: readonly CutBlock[], mode: CutMode, open: ReadonlySet<number> = new Set()): Segment[] {
  const segments: Segment[] = []
  let row = 0
  const add = (kind: Segment['kind'], from: number, to: number, block: number): void => {
    const rows = kind === 'fold' || kind === 'gap' ? 1 : to - from + 1
    segments.push({ kind, from, to, row, rows, block })
    row += rows
  }
  let next = 1
  const keep = (to: number): void => {
    if (to >= next) add(mode === 'cut' ? 'gap' : 'kept', next, to, -1)
  }
  for (const [index, block] of blocks.entries()) {
    const to = Math.min(block.to, count)
    if (block.from > count || to < next) continue
    keep(block.from - 1)
    if (mode === 'shown') add('fold', block.from, to, index)
    if (mode !== 'shown' || open.has(block.from)) add('cut', block.from, to, index)
    next = to + 1
  }
  keep(count)
  return segments
}

export const rowCount = (segments: readonly Segment[]): number => {
  const last = segments.at(-1)
  return last ? last.row + last.rows : 0
}

/** The index of the segment that has a row. */
export function segmentAt(segments: readonly Segment[], row: number): number {
  let [low, high] = [0, segments.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((segments[middle]?.row ?? 0) <= row) low = middle
    else high = middle - 1
  }
  return low
}

/** The row that shows a line, or stands for it. */
export function rowOfLine(segments: readonly Segment[], line: number): number {
  let [low, high] = [0, segments.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    const segment = segments[middle]
    // A fold and the lines below it cover the same lines: the lines win.
    if (segment && segment.to >= line && !(segment.kind === 'fold' && segments[middle + 1]?.from === segment.from)) high = middle
    else low = middle + 1
  }
  const segment = segments[low]
  if (!segment) return 0
  return segment.row + (segment.rows === 1 ? 0 : Math.max(0, Math.min(line, segment.to) - segment.from))
}

export interface Row {
  segment: Segment
  /** The line of the row; the first one for folds and gaps. */
  line: number
  index: number
}

/** The rows from `from`, included, to `to`, excluded. */
export function rowsBetween(segments: readonly Segment[], from: number, to: number): Row[] {
  const rows: Row[] = []
  for (let at = segmentAt(segments, from); at < segments.length; at += 1) {
    const segment = segments[at]
    if (!segment || segment.row >= to) break
    const last = Math.min(to, segment.row + segment.rows)
    for (let index = Math.max(from, segment.row); index < last; index += 1) rows.push({ segment, line: segment.from + index - segment.row, index })
  }
  return rows
}

/** Whether a line is in one of the ranges, which are in order. */
export function isWithin(ranges: readonly (readonly [number, number])[], line: number): boolean {
  let [low, high] = [0, ranges.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const [from, to] = ranges[middle] ?? [0, 0]
    if (line < from) high = middle - 1
    else if (line > to) low = middle + 1
    else return true
  }
  return false
}

/** Ranges in order, those that touch or overlap as one. */
export function mergeRanges(ranges: readonly (readonly [number, number])[]): [number, number][] {
  const merged: [number, number][] = []
  for (const [from, to] of [...ranges].sort((one, other) => one[0] - other[0])) {
    const last = merged.at(-1)
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else merged.push([from, to])
  }
  return merged
}

const words: Record<PageCutCause, string> = {
  repetitions: 'repeats',
  tests: 'tests',
  header: 'file header',
  comments: 'comments',
  unrelated: 'off goal',
  less_relevant: 'less relevant',
  already_shown: 'shown before',
}

/** Why a block was cut: `off goal: parse_config`. */
export const reasonOf = (cause: PageCutCause, place: string | null = null): string => (place ? `${words[cause]}: ${place}` : words[cause])

export const causeMeaning: Record<PageCutCause, string> = {
  repetitions: 'Log lines that differ from earlier ones only in their numbers',
  tests: 'Tests, which the goal does not ask for',
  header: 'Licence or description at the top of a file',
  comments: 'Comments',
  unrelated: 'No term of the goal, neither in the lines nor in what they belong to',
  less_relevant: 'Some terms of the goal, but fewer than the lines that stay',
  already_shown: 'The session was shown these lines before, word for word',
}

/** `12` or `12–40` */
export const lineSpan = (from: number, to: number): string => (from === to ? String(from) : `${from}–${to}`)
