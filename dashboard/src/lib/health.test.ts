import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCommand, sortFindings } from './health.ts'

test('problems come first, in the order in which they were found', () => {
  const finding = (subject: string, verdict: 'fine' | 'note' | 'problem') => ({ subject, verdict, message: '', fix: null })
  const sorted = sortFindings([finding('a', 'fine'), finding('b', 'problem'), finding('c', 'note'), finding('d', 'problem')])
  assert.deepEqual(sorted.map(({ subject }) => subject), ['b', 'd', 'c', 'a'])
})

test('commands are told from advice', () => {
  const table: [string, boolean][] = [
    ['tamis setup claude --only hooks', true],
    ["ln -s '/opt/tamis' ~/.local/bin/tamis", true],
    ['tamis setup claude --undo, then tamis setup claude', false],
    ['start `codex`, enter `/hooks` and trust them', false],
    ['update tamis', false],
  ]
  for (const [fix, expected] of table) assert.equal(isCommand(fix), expected, fix)
})
