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
    // A terminal would wait for the end of these. Nobody knows where it is, so nothing of the text may go.
    ['ls \u001b] ; rm -rf ~', 'ls ␛] ; rm -rf ~'],
    ['ls \u001bP ; rm -rf ~', 'ls ␛P ; rm -rf ~'],
    ['ls \u001bX ; rm -rf ~', 'ls ␛X ; rm -rf ~'],
    ['ls \u001b^ ; rm -rf ~', 'ls ␛^ ; rm -rf ~'],
    ['ls \u001b_ ; rm -rf ~', 'ls ␛_ ; rm -rf ~'],
    ['ls \u001b[12', 'ls ␛[12'],
    ['\u001b]0;open\u001b[31m red', '␛]0;open red'],
    ['\u001b7saved\u001bc reset', '␛7saved␛c reset'],
    ['\u001bDdown', 'down'],
    ['a\u202eb\u202c', 'a⟨U+202E⟩b⟨U+202C⟩'],
    ['a\u200bb\ufeff', 'a⟨U+200B⟩b⟨U+FEFF⟩'],
    ['\u0080a\u009b31m\u009f', '⟨U+0080⟩a⟨U+009B⟩31m⟨U+009F⟩'],
    ['soft\u00adhyphen mongolian\u180e', 'soft⟨U+00AD⟩hyphen mongolian⟨U+180E⟩'],
    ['line\u2028paragraph\u2029', 'line⟨U+2028⟩paragraph⟨U+2029⟩'],
    ['swap\u206a note\ufff9', 'swap⟨U+206A⟩ note⟨U+FFF9⟩'],
    ['tags\u{e0001}\u{e0041}\u{e007f}', 'tags⟨U+E0001⟩⟨U+E0041⟩⟨U+E007F⟩'],
    // Parts of what they join: an emoji, and a word of Persian.
    ['👩\u200d💻 می\u200cخواهم', '👩\u200d💻 می\u200cخواهم'],
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
