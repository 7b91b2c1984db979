import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameOf, step, type Shortcut } from './shortcuts.ts'

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

test('other modifiers than the one of the page leave a key to the browser', () => {
  const cases: [pressed: string, elsewhere: string | null, mac: string | null][] = [
    ['k', 'k', 'k'],
    ['shift F', 'F', 'F'],
    ['Escape', 'escape', 'escape'],
    ['ctrl k', 'mod+k', null],
    ['meta k', null, 'mod+k'],
    ['ctrl shift K', null, null],
    ['meta shift K', null, null],
    ['ctrl meta k', null, null],
    ['ctrl alt k', null, null],
    ['alt k', null, null],
  ]
  for (const [pressed, elsewhere, mac] of cases) {
    const parts = pressed.split(' ')
    const has = (name: string): boolean => parts.includes(name)
    const event = { key: parts.at(-1) ?? '', ctrlKey: has('ctrl'), metaKey: has('meta'), altKey: has('alt'), shiftKey: has('shift') }
    assert.deepEqual([nameOf(event, false), nameOf(event, true)], [elsewhere, mac], pressed)
  }
})
