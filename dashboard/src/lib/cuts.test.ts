import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWithin, mergeRanges, reasonOf, rowCount, rowOfLine, rowsBetween, segmentsOf, type CutBlock, type CutMode } from './cuts.ts'

const blocks: CutBlock[] = [
  { from: 3, to: 5, label: 'tests' },
  { from: 6, to: 7, label: 'shown before' },
  { from: 10, to: 12, label: 'repeats' },
]

const drawn = (mode: CutMode, open: number[] = []): string => {
  const segments = segmentsOf(12, blocks, mode, new Set(open))
  return rowsBetween(segments, 0, rowCount(segments))
    .map(({ segment, line }) => (segment.kind === 'fold' ? `[${segment.from}-${segment.to}]` : segment.kind === 'gap' ? `(${segment.from}-${segment.to})` : segment.kind === 'cut' ? `-${line}` : String(line)))
    .join(' ')
}

test('each mode has its rows', () => {
  assert.equal(drawn('all'), '1 2 -3 -4 -5 -6 -7 8 9 -10 -11 -12')
  assert.equal(drawn('cut'), '(1-2) -3 -4 -5 -6 -7 (8-9) -10 -11 -12')
  assert.equal(drawn('shown'), '1 2 [3-5] [6-7] 8 9 [10-12]')
  assert.equal(drawn('shown', [6]), '1 2 [3-5] [6-7] -6 -7 8 9 [10-12]')
})

test('blocks beyond the text are left out', () => {
  const segments = segmentsOf(4, blocks, 'all')
  assert.equal(rowCount(segments), 4)
  assert.deepEqual(segmentsOf(0, [], 'all'), [])
})

test('a line is found in every mode', () => {
  const row = (mode: CutMode, line: number, open: number[] = []): number => rowOfLine(segmentsOf(12, blocks, mode, new Set(open)), line)
  for (let line = 1; line <= 12; line += 1) assert.equal(row('all', line), line - 1)
  assert.deepEqual([1, 3, 4, 6, 8, 12].map((line) => row('shown', line)), [0, 2, 2, 3, 4, 6])
  assert.deepEqual([6, 7, 8].map((line) => row('shown', line, [6])), [4, 5, 6])
  assert.deepEqual([1, 2, 3, 8, 10].map((line) => row('cut', line)), [0, 0, 1, 6, 7])
})

test('ranges are merged and searched', () => {
  const merged = mergeRanges([[6, 8], [1, 2], [3, 4], [20, 20]])
  assert.deepEqual(merged, [[1, 4], [6, 8], [20, 20]])
  assert.deepEqual([1, 4, 5, 8, 20, 21].map((line) => isWithin(merged, line)), [true, true, false, true, true, false])
})

test('a reason has its place', () => {
  assert.equal(reasonOf('unrelated', 'parse'), 'off goal: parse')
  assert.equal(reasonOf('repetitions'), 'repeats')
})
