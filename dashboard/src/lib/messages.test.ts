import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoff, MessageQueue, prepend, Progress, RecentKeys, toMillis } from './messages.ts'

test('waiting times double from 250 ms to 10 s, of which at least half', () => {
  assert.deepEqual([0, 1, 2, 6, 50].map((attempt) => backoff(attempt, 1)), [250, 500, 1000, 10_000, 10_000])
  assert.deepEqual([0, 6].map((attempt) => backoff(attempt, 0)), [125, 5000])
})

test('the first connection asks for nothing from the past', () => {
  assert.deepEqual(new Progress().follow(), { type: 'follow', events_after: null, calls_since: null })
})

test('what arrives twice is dropped, and a reconnect asks for what came after', () => {
  const progress = new Progress()
  assert.equal(progress.accept({ type: 'hello', server: '1', events_last: 40 }), true)
  assert.deepEqual(progress.follow(), { type: 'follow', events_after: 40, calls_since: null })
  assert.equal(progress.accept({ type: 'event', seq: 41 }), true)
  assert.equal(progress.accept({ type: 'event', seq: 41 }), false)
  assert.equal(progress.accept({ type: 'call', session: 'a', event: 1, at: 2000 }), true)
  assert.equal(progress.accept({ type: 'call', session: 'a', event: 1, at: 2000 }), false)
  assert.equal(progress.accept({ type: 'call', session: 'b', event: 1, at: '1970-01-01T00:00:01.500Z' }), true)
  assert.deepEqual(progress.follow(), { type: 'follow', events_after: 41, calls_since: 2000 })
})

test('a later greeting does not skip what was missed', () => {
  const progress = new Progress()
  progress.accept({ type: 'hello', events_last: 40 })
  progress.accept({ type: 'hello', events_last: 90 })
  assert.equal(progress.follow().events_after, 40)
})

test('every greeting but the first is of a new connection', () => {
  const progress = new Progress()
  assert.equal(progress.isReconnected({ type: 'hello', events_last: 40 }), false)
  assert.equal(progress.isReconnected({ type: 'call' }), false)
  assert.equal(progress.isReconnected({ type: 'hello', events_last: 40 }), true)
})

test('a server without its old events starts anew', () => {
  const progress = new Progress()
  progress.accept({ type: 'hello', events_last: 40 })
  progress.accept({ type: 'event', seq: 41 })
  progress.isReconnected({ type: 'hello', events_last: 3 })
  assert.equal(progress.follow().events_after, 3)
  assert.equal(progress.accept({ type: 'event', seq: 41 }), true)
})

test('messages without a known identity always pass', () => {
  const progress = new Progress()
  assert.equal(progress.accept({ type: 'session', id: 'a' }), true)
  assert.equal(progress.accept({ type: 'session', id: 'a' }), true)
  assert.equal(progress.accept({ type: 'gap' }), true)
})

test('old keys are forgotten', () => {
  const keys = new RecentKeys(2)
  assert.deepEqual(['a', 'b', 'a', 'c', 'a'].map((key) => keys.add(key)), [true, true, false, true, true])
})

test('the queue groups by type and keeps the order', () => {
  const queue = new MessageQueue()
  for (const seq of [1, 2]) queue.push({ type: 'event', seq })
  queue.push({ type: 'gap' })
  queue.push({ type: 'event', seq: 3 })
  assert.deepEqual([...queue.take()], [
    ['event', [1, 2, 3].map((seq) => ({ type: 'event', seq }))],
    ['gap', [{ type: 'gap' }]],
  ])
  assert.equal(queue.isEmpty, true)
})

test('a queue that overflows becomes a gap', () => {
  const queue = new MessageQueue(100)
  for (let seq = 0; seq < 150; seq += 1) queue.push({ type: 'event', seq })
  const taken = queue.take()
  assert.equal(taken.get('gap')?.length, 1)
  assert.equal((taken.get('event') ?? []).at(-1)?.['seq'], 149)
  assert.ok((taken.get('event') ?? []).length < 100)
})

test('lists that grow are capped, newest first', () => {
  assert.deepEqual(prepend([3, 2, 1], [4, 5], 4), [5, 4, 3, 2])
  assert.deepEqual(prepend([], [1, 2, 3], 2), [3, 2])
})

test('times are numbers or text', () => {
  assert.deepEqual([5, '1970-01-01T00:00:01Z', 'x', null].map(toMillis), [5, 1000, null, null])
})
