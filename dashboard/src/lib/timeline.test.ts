import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countByFilter, eventsWith, lettersOf, nextWith, placeOf, prettyJson, stripOf, turnAt } from './timeline.ts'

const kinds = 'urctoftxmuCTXp'

test('filters choose events by their letters, those of side conversations too', () => {
  assert.equal(lettersOf([]), '')
  assert.deepEqual(eventsWith(kinds, lettersOf(['failed'])), [7, 12])
  assert.deepEqual(eventsWith(kinds, lettersOf(['calls', 'prompts'])), [0, 2, 5, 9, 10])
  assert.equal(countByFilter(kinds)['failed'], 2)
  assert.equal(countByFilter(kinds)['tokens'], 3)
})

test('the next failure and the place of an event', () => {
  assert.equal(nextWith(kinds, 'fF', 0, 1), 5)
  assert.equal(nextWith(kinds, 'fF', 5, 1), null)
  assert.equal(nextWith(kinds, 'uU', 9, -1), 0)
  assert.equal(placeOf([5, 7, 12], 7), 1)
  assert.equal(placeOf([5, 7, 12], 8), 2)
  assert.equal(placeOf([], 8), 0)
})

test('the turn of an event', () => {
  const turns = [
    { first_event: 2, events: 3 },
    { first_event: 5, events: 10 },
  ]
  assert.deepEqual([0, 2, 4, 5, 99].map((event) => turnAt(turns, event)), [-1, 0, 0, 1, 1])
})

test('a strip has a line for each call, and few lines for many', () => {
  const strip = stripOf(kinds, 0, 9)
  assert.equal(strip.calls.match(/M/g)?.length, 1)
  assert.equal(strip.failures.match(/M/g)?.length, 1)
  assert.equal(stripOf('c'.repeat(50_000), 0, 50_000).calls.match(/M/g)?.length, 120)
})

test('JSON gets line breaks, anything else stays', () => {
  assert.equal(prettyJson('{"a":[1]}'), '{\n  "a": [\n    1\n  ]\n}')
  assert.equal(prettyJson('{torn'), '{torn')
  assert.equal(prettyJson('12 files'), '12 files')
})
