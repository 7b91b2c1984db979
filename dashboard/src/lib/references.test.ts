import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameOf, partsOf, pathOf } from './references.ts'

test('known files in a sentence are references', () => {
  assert.deepEqual(partsOf('`parse` is in src/a.rs:12-40 and `src/b.rs:3`, not in c.rs:1.', ['src/a.rs:1', 'src/b.rs']), [
    { code: 'parse' },
    { text: ' is in ' },
    { reference: 'src/a.rs:12-40' },
    { text: ' and ' },
    { reference: 'src/b.rs:3' },
    { text: ', not in c.rs:1.' },
  ])
  assert.deepEqual(partsOf('deep/src/a.rs and src/a.rsx', ['src/a.rs']), [{ text: 'deep/src/a.rs and src/a.rsx' }])
  assert.deepEqual(partsOf('', []), [])
  assert.deepEqual(partsOf('an odd ` stays', []), [{ text: 'an odd ` stays' }])
  assert.deepEqual(partsOf('a(b).rs:2', ['a(b).rs']), [{ reference: 'a(b).rs:2' }])
})

test('a reference has a path and a name', () => {
  assert.deepEqual(['a/b.rs', 'a/b.rs:12', 'a/b.rs:12:3', 'a/b.rs:12-40'].map(pathOf), Array(4).fill('a/b.rs'))
  assert.deepEqual(nameOf('a/b/c.rs:12'), { folder: 'a/b/', name: 'c.rs:12' })
  assert.deepEqual(nameOf('c.rs'), { folder: '', name: 'c.rs' })
})
