import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clampOffset, extent, MAX_HEIGHT, pagesOf, reveal, toOffset, toScrollTop, visibleRange } from './virtual.ts'

const small = { count: 100_000, rowHeight: 36, viewport: 720 }
const huge = { count: 5_000_000, rowHeight: 36, viewport: 720 }

test('lists below the limit are not scaled', () => {
  assert.deepEqual(extent(small), { total: 3_600_000, height: 3_600_000, scale: 1 })
})

test('longer lists reach both ends', () => {
  const size = extent(huge)
  assert.equal(size.height, MAX_HEIGHT)
  assert.equal(toOffset(0, size), 0)
  const bottom = toOffset(size.height - huge.viewport, size)
  assert.ok(Math.abs(bottom - (size.total - huge.viewport)) < 1e-3)
  assert.equal(visibleRange(bottom, huge, 0).to, huge.count)
})

test('every row of a scaled list can be reached', () => {
  const size = extent(huge)
  for (const index of [0, 1, 999, 2_500_000, 4_999_999]) {
    const offset = reveal(index, 0, huge, 'start')
    const { from, to } = visibleRange(offset, huge, 0)
    assert.ok(from <= index && index < to, String(index))
    assert.ok(toScrollTop(offset, size) <= size.height - huge.viewport + 1e-6)
  }
})

test('the visible rows include the ones that are partly visible', () => {
  assert.deepEqual(visibleRange(0, small, 0), { from: 0, to: 20 })
  assert.deepEqual(visibleRange(18, small, 0), { from: 0, to: 21 })
  assert.deepEqual(visibleRange(3600, small, 5), { from: 95, to: 125 })
  assert.deepEqual(visibleRange(0, { ...small, count: 3 }, 8), { from: 0, to: 3 })
  assert.deepEqual(visibleRange(0, { ...small, count: 0 }, 8), { from: 0, to: 0 })
})

test('a visible row moves nothing, others move as little as possible', () => {
  assert.equal(reveal(5, 0, small), 0)
  assert.equal(reveal(20, 0, small), 36)
  assert.equal(reveal(1, 360, small), 36)
  assert.equal(reveal(99_999, 0, small), 3_600_000 - 720)
  assert.equal(reveal(50, 0, small, 'center'), 50 * 36 - 342)
})

test('offsets stay within the list', () => {
  assert.equal(clampOffset(-5, small), 0)
  assert.equal(clampOffset(1e9, small), 3_600_000 - 720)
  assert.equal(clampOffset(50, { ...small, count: 3 }), 0)
})

test('a range knows its pages', () => {
  assert.deepEqual(pagesOf(0, 100, 100), [0])
  assert.deepEqual(pagesOf(95, 205, 100), [0, 1, 2])
  assert.deepEqual(pagesOf(100, 200, 100), [1])
  assert.deepEqual(pagesOf(5, 5, 100), [])
})
