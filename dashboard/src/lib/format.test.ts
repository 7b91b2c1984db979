import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatAtLeast, formatBytes, formatCount, formatDuration, formatMoney, formatRelative, formatShare, formatTokens, plural } from './format.ts'

function holds<T>(format: (value: T) => string, cases: [value: T, text: string][]): void {
  for (const [value, text] of cases) assert.equal(format(value), text, String(value))
}

test('large figures are short', () => {
  holds(formatTokens, [[0, '0'], [999, '999'], [1000, '1k'], [12_340, '12.3k'], [1_240_000, '1.2M'], [2e9, '2B'], [-5000, '-5k'], [null, '–']])
  holds(formatCount, [[1_234_567, '1,234,567'], [undefined, '–']])
})

test('money below a cent is not nothing', () => {
  holds(formatMoney, [[0, '$0.00'], [0.0004, '<$0.01'], [0.005, '$0.01'], [12.4, '$12.40'], [1234.5, '$1,235'], [-3, '-$3.00'], [null, '–']])
  holds(formatAtLeast, [[0.0004, '≥\u00a0$0.00'], [12.4, '≥\u00a0$12.40'], [null, '–']])
})

test('bytes have binary units', () => {
  holds(formatBytes, [[0, '0 B'], [1023, '1,023 B'], [1536, '1.5 KiB'], [20 * 1024 * 1024, '20 MiB'], [null, '–']])
})

test('shares round to neither nothing nor all', () => {
  holds(formatShare, [[0, '0%'], [0.001, '<1%'], [0.5, '50%'], [0.999, '99%'], [1, '100%'], [Number.NaN, '–'], [null, '–']])
})

test('durations have two units at most', () => {
  holds(formatDuration, [
    [0, '0 ms'],
    [850, '850 ms'],
    [12_340, '12.3 s'],
    [59_990, '1 min'],
    [252_000, '4 min 12 s'],
    [3_599_800, '1 h'],
    [7_500_000, '2 h 5 min'],
    [274_000_000, '3 d 4 h'],
    [null, '–'],
  ])
})

test('times are relative for a week', () => {
  const now = Date.UTC(2026, 10, 16, 12)
  const before = (millis: number): string => formatRelative(now - millis, now)
  assert.equal(before(0), 'now')
  assert.equal(before(12_000), '12 s ago')
  assert.equal(before(-12_000), 'in 12 s')
  assert.equal(before(5 * 60_000), '5 min ago')
  assert.equal(before(3 * 3_600_000), '3 h ago')
  assert.equal(before(6 * 86_400_000), '6 d ago')
  assert.match(before(20 * 86_400_000), /27/)
  assert.match(before(400 * 86_400_000), /2025/)
  assert.equal(formatRelative('not a date', now), '–')
})

test('one and many', () => {
  assert.equal(plural(1, 'session'), '1 session')
  assert.equal(plural(1200, 'session'), '1,200 sessions')
  assert.equal(plural(2, 'match', 'matches'), '2 matches')
})
