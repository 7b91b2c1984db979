import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutAt, groupBySession } from './search.ts'

test('matches of one session stand together', () => {
  const matches = [
    { session: 'a', event: 1 },
    { session: 'a', event: 4 },
    { session: 'b', event: 2 },
  ]
  assert.deepEqual(
    groupBySession(matches).map(({ session, matches }) => [session, matches.length]),
    [
      ['a', 2],
      ['b', 1],
    ],
  )
})

test('a text is cut at its marks, and marks outside of it are left out', () => {
  assert.deepEqual(cutAt('é one two', [[2, 5]]), ['é ', 'one', ' two'])
  assert.deepEqual(cutAt('one', [[2, 9]]), ['one'])
  assert.deepEqual(cutAt('one', []), ['one'])
})
