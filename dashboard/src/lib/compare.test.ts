import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differenceOf } from './compare.ts'

test('differences say how much, and which is better', () => {
  assert.deepEqual(differenceOf(100, 250, 'less'), { kind: 'differs', text: '×2.5', better: 'a', tone: 'worse', word: 'worse' })
  assert.deepEqual(differenceOf(100, 60, 'less'), { kind: 'differs', text: '−40%', better: 'b', tone: 'better', word: 'better' })
  assert.equal(differenceOf(3, 1).text, '−2')
  assert.equal(differenceOf(0, 1000).text, '+1,000')
  assert.equal(differenceOf(8_164_455, 0).text, '−8.2M')
  assert.equal(differenceOf(1000, 1001).text, '+<1%')
  assert.equal(differenceOf(5, 5, 'more').kind, 'same')
  assert.equal(differenceOf(null, 5).text, '–')
  assert.equal(differenceOf(70, 90, 'more').better, 'b')
  assert.deepEqual([96, 81].map((score) => differenceOf(80, score, 'more', 'point').text), ['+16 points', '+1 point'])
})
