import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LineReader, parseFailure, toFailure } from './api.ts'

test('both wire forms of an error are read', () => {
  const cases: [body: unknown, code: string, message: string, hint: string | null][] = [
    [{ error: { code: 'link_used', message: 'used', hint: 'run `tamis open`' } }, 'link_used', 'used', 'run `tamis open`'],
    [{ error: { code: 'x', message: 'y' } }, 'x', 'y', null],
    [
      { error: 'INSTANCE_NOT_FOUND', code: 'INSTANCE_NOT_FOUND', message: 'no such instance', suggestions: ['list them', 'start one'] },
      'INSTANCE_NOT_FOUND',
      'no such instance',
      'list them\nstart one',
    ],
    [{ error: 'ONLY_ERROR' }, 'ONLY_ERROR', 'ONLY_ERROR', null],
    [null, 'unknown', 'the server answered 500', null],
    [['a'], 'unknown', 'the server answered 500', null],
  ]
  for (const [body, code, message, hint] of cases) {
    const failure = parseFailure(500, body)
    assert.deepEqual([failure.status, failure.code, failure.message, failure.hint], [500, code, message, hint])
  }
})

test('anything that is thrown can be shown', () => {
  assert.equal(toFailure(new TypeError('oops')).message, 'oops')
  assert.equal(toFailure('text').message, 'text')
})

test('lines are cut wherever the chunks end', () => {
  const reader = new LineReader()
  assert.deepEqual(reader.push('{"a":'), [])
  assert.deepEqual(reader.push('1}\n\n{"b":2}\n{"c"'), ['{"a":1}', '{"b":2}'])
  assert.deepEqual(reader.push(':3}'), [])
  assert.deepEqual(reader.end(), ['{"c":3}'])
  assert.deepEqual(reader.end(), [])
})
