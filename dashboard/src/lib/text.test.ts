import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCode } from './code.ts'
import { blocksOf } from './lines.ts'
import { sparkPath, thin } from './spark.ts'
import { linesWith, plain, splitAt, toLines } from './text.ts'

test('characters that deceive the eye become visible or go', () => {
  const cases: [given: string, shown: string][] = [
    ['plain é 漢 🙂\ttab\nline', 'plain é 漢 🙂\ttab\nline'],
    ['\u001b[31;1mred\u001b[0m', 'red'],
    ['\u001b]8;;https://example.com\u0007link\u001b]8;;\u0007', 'link'],
    ['\u001b]0;title\u001b\\after', 'after'],
    ['\u001bP1$r\u001b\\after', 'after'],
    ['\u001b[2Jcleared', 'cleared'],
    ['a\u202eb\u202c', 'a⟨U+202E⟩b⟨U+202C⟩'],
    ['a\u200bb\ufeff', 'a⟨U+200B⟩b⟨U+FEFF⟩'],
    ['bell\u0007 nul\u0000 del\u007f cr\rx', 'bell␇ nul␀ del␡ cr␍x'],
    ['crlf\r\nnext', 'crlf\nnext'],
    ['<script>alert(1)</script>', '<script>alert(1)</script>'],
  ]
  for (const [given, shown] of cases) assert.equal(plain(given), shown)
})

test('a last line break adds no line', () => {
  assert.deepEqual(toLines('a\nb\n'), ['a', 'b'])
  assert.deepEqual(toLines('a\r\n\nb'), ['a', '', 'b'])
  assert.deepEqual(toLines(''), [''])
})

test('blocks cover all lines', () => {
  assert.deepEqual(blocksOf(450, 200), [{ from: 0, size: 200 }, { from: 200, size: 200 }, { from: 400, size: 50 }])
  assert.deepEqual(blocksOf(0), [])
})

test('the code is found in whatever is pasted', () => {
  assert.equal(readCode('http://127.0.0.1:3001/#code=aB-3_x'), 'aB-3_x')
  assert.equal(readCode('  #code=abc '), 'abc')
  assert.equal(readCode('abc123'), 'abc123')
  assert.equal(readCode(''), null)
  assert.equal(readCode('two words'), null)
  assert.equal(readCode('http://127.0.0.1:3001/'), null)
})

test('sparklines fit their box', () => {
  assert.equal(sparkPath([], 10, 10), '')
  assert.equal(sparkPath([0, 5, 10], 12, 12, 1), 'M1 11L6 6L11 1')
  assert.equal(sparkPath([4], 12, 12, 1), 'M1 1H11')
  assert.equal(sparkPath([0, 0], 12, 12, 1), 'M1 11L11 11')
})

test('thinning keeps the peaks', () => {
  assert.deepEqual(thin([1, 9, 2, 3], 2), [9, 3])
  assert.deepEqual(thin([1, 2], 5), [1, 2])
})

test('occurrences are found as they are written, not as a pattern', () => {
  assert.deepEqual(splitAt('a.b A.B axb', 'a.b'), ['', 'a.b', ' ', 'A.B', ' axb'])
  assert.deepEqual(splitAt('(x)', '('), ['', '(', 'x)'])
  assert.deepEqual(splitAt('text', ' '), ['text'])
})

test('a query marks the lines that have it, or else those that have its words', () => {
  const lines = ['Retry budget', 'the budget', 'nothing', 'a retry']
  assert.deepEqual(linesWith(lines, ' retry BUDGET '), [1])
  assert.deepEqual(linesWith(lines, 'budget  retry'), [1, 2, 4])
  assert.deepEqual(linesWith(lines, 'absent'), [])
  assert.deepEqual(linesWith(lines, '  '), [])
})
