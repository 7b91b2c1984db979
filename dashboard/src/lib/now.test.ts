import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addCalls, addGap, groupSessions, replaceSessions, stateAt, type CallRow } from './now.ts'
import type { LiveCall, NowPhase, NowSession } from './types.ts'

const session = (id: string, phases: NowPhase[], more: Partial<NowSession> = {}): NowSession => ({
  id,
  short_id: id,
  client: 'codex',
  client_name: 'Codex',
  project: null,
  path: null,
  title: null,
  doing: { activity: 'thinking', tool: null, text: null, event: null, open_calls: 0 },
  phases,
  context: null,
  model: null,
  tokens: 0,
  usd: null,
  unpriced: [],
  subagents: 0,
  calls: 0,
  failed_calls: 0,
  started: null,
  last_activity: 0,
  ...more,
})

const call = (event: number, more: Partial<LiveCall> = {}): LiveCall => ({
  session: 's',
  client: 'codex',
  client_name: 'Codex',
  project: null,
  is_subagent: false,
  event,
  at: event * 1000,
  of: null,
  is_result: false,
  failed: false,
  tool: 'shell',
  argument: null,
  ...more,
})

test('a session goes through its phases while nothing is written', () => {
  const row = session('a', [
    { from: 100, state: 'working' },
    { from: 200, state: 'maybe_waiting' },
    { from: 300, state: 'idle' },
  ])
  const at = (now: number): [string, number] => [stateAt(row, now).state, stateAt(row, now).since]
  assert.deepEqual([50, 100, 250, 999].map(at), [
    ['working', 100],
    ['working', 100],
    ['maybe_waiting', 200],
    ['idle', 300],
  ])
})

test('who waits for certain comes first, and work keeps its order', () => {
  const rows = [
    session('maybe', [{ from: 9, state: 'maybe_waiting' }]),
    session('waits', [{ from: 1, state: 'waiting' }]),
    session('older', [{ from: 5, state: 'working' }], { started: 1, last_activity: 50 }),
    session('newer', [{ from: 5, state: 'working' }], { started: 2, last_activity: 10 }),
    session('idle', [{ from: 5, state: 'idle' }]),
  ]
  const groups = groupSessions(rows, 100)
  const ids = (group: 'needs' | 'working' | 'recent'): string[] => groups[group].map((row) => row.session.id)
  assert.deepEqual([ids('needs'), ids('working'), ids('recent')], [['waits', 'maybe'], ['newer', 'older'], ['idle']])
})

test('a changed row takes the place of its former self', () => {
  const rows = [session('a', []), session('b', [])]
  const changed = replaceSessions(rows, [session('b', [], { tokens: 7 }), session('c', [])])
  assert.deepEqual(
    changed.map((row) => [row.id, row.tokens]),
    [
      ['a', 0],
      ['b', 7],
      ['c', 0],
    ],
  )
})

test('a result ends its call, whenever it arrives', () => {
  const shown = (rows: CallRow[]): unknown[] => rows.map((row) => [row.key, row.outcome, row.took])
  const first = addCalls([], [call(1), call(2), call(3, { is_result: true, of: 1 })], 10)
  assert.equal(first.added, 2)
  assert.deepEqual(shown(first.rows), [
    ['s/2', 'open', null],
    ['s/1', 'done', 2000],
  ])
  const next = addCalls(first.rows, [call(4, { is_result: true, of: 2, failed: true }), call(5, { is_result: true }), call(6, { is_result: true, failed: true })], 10)
  assert.equal(next.added, 1)
  assert.deepEqual(shown(next.rows), [
    ['s/6', 'failed', null],
    ['s/2', 'failed', 2000],
    ['s/1', 'done', 2000],
  ])
  assert.equal(first.rows[0]?.outcome, 'open', 'the former list stays as it was')
})

test('the list of calls is limited, and a gap is marked once', () => {
  const { rows, added } = addCalls([], Array.from({ length: 50 }, (_, index) => call(index)), 20)
  assert.deepEqual([rows.length, added, rows[0]?.key], [20, 20, 's/49'])
  const marked = addGap(addGap(rows, 20), 20)
  assert.deepEqual([marked.length, marked[0]?.outcome, marked[1]?.outcome], [20, 'gap', 'open'])
  assert.deepEqual(addGap([], 20), [])
})
