import assert from 'node:assert/strict'
import { test } from 'node:test'
import { step, type Shortcut } from './shortcuts.ts'

const shortcut = (keys: string, label = keys): Shortcut => ({ keys, label, run: () => {} })
const all = [shortcut('/'), shortcut('g n'), shortcut('g s'), shortcut('j', 'first'), shortcut('j', 'second')]

test('a sequence waits for its second key', () => {
  assert.deepEqual(step(all, '', 'g'), { kind: 'wait', pending: 'g' })
  assert.deepEqual(step(all, 'g', 's'), { kind: 'run', shortcut: all[2] })
})

test('a key that does not continue a sequence counts alone', () => {
  assert.deepEqual(step(all, 'g', '/'), { kind: 'run', shortcut: all[0] })
  assert.deepEqual(step(all, 'g', 'x'), { kind: 'none' })
  assert.deepEqual(step(all, 'g', 'g'), { kind: 'wait', pending: 'g' })
})

test('the later binding wins', () => {
  assert.deepEqual(step(all, '', 'j'), { kind: 'run', shortcut: all[4] })
})
