import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emphasized, fuzzy, rank } from './fuzzy.ts'

test('characters must occur in order', () => {
  assert.equal(fuzzy('xz', 'sessions'), null)
  assert.equal(fuzzy('ns', 'sn'), null)
  assert.deepEqual(fuzzy('', 'anything'), { score: 0, at: [] })
})

test('starts of words are preferred where the rest still matches', () => {
  assert.deepEqual(fuzzy('td', 'Theme: dark')?.at, [0, 7])
  assert.deepEqual(fuzzy('gs', 'go to sessions')?.at, [0, 6])
  assert.deepEqual(fuzzy('ab', 'ab a')?.at, [0, 1])
})

test('positions count characters as the reader does, not halves of them', () => {
  const cases: [query: string, text: string, parts: string[]][] = [
    ['fix', '🙂 Fix it', ['🙂 ', 'Fix', ' it']],
    ['fi', '🙂🙂 find it', ['🙂🙂 ', 'fi', 'nd it']],
    ['fit', '🙂 Fix 🙂 it', ['🙂 ', 'F', 'ix 🙂 ', 'it']],
    ['🙂', 'a 🙂 b', ['a ', '🙂', ' b']],
    // The lower case of İ is two characters.
    ['fix', 'İİ Fix', ['İİ ', 'Fix']],
    ['', 'all', ['all']],
  ]
  for (const [query, text, parts] of cases) assert.deepEqual(emphasized(text, fuzzy(query, text)?.at ?? []), parts)
})

test('the best match comes first', () => {
  const items = ['Sessions', 'Research', 'Search past sessions', 'Settings']
  const order = (query: string): string[] => rank(query, items, (item) => item).map(({ item }) => item)
  assert.deepEqual(order('sess'), ['Sessions', 'Search past sessions'])
  assert.equal(order('search')[0], 'Search past sessions')
  assert.equal(order('set')[0], 'Settings')
  assert.deepEqual(order(''), items)
})
