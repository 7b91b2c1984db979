import assert from 'node:assert/strict'
import { test } from 'node:test'
import { href, matchPath, pageOf, to } from './routes.ts'

test('each path has its page, and parameters are decoded', () => {
  const cases: [path: string, name: string, params: Record<string, string>][] = [
    ['/', 'now', {}],
    ['/sessions', 'sessions', {}],
    ['/sessions/', 'sessions', {}],
    ['/sessions/abc', 'session', { id: 'abc' }],
    ['/sessions/a%2Fb%20c', 'session', { id: 'a/b c' }],
    ['/sessions/abc/events/12', 'event', { id: 'abc', event: '12' }],
    ['/compare/a/b', 'compare', { a: 'a', b: 'b' }],
    ['/search', 'search', {}],
    ['/prunes', 'prunes', {}],
    ['/prunes/prn_1', 'prune', { id: 'prn_1' }],
    ['/try', 'try', {}],
    ['/agents', 'agents', {}],
    ['/agents/coder-1', 'agent', { id: 'coder-1' }],
    ['/research', 'research', {}],
    ['/settings', 'settings', {}],
    ['/components', 'components', {}],
    ['/nothing', 'missing', {}],
    ['/sessions/a/b', 'missing', {}],
    ['/sessions/%E0%A4%A', 'missing', {}],
  ]
  for (const [path, name, params] of cases) {
    const match = matchPath(path)
    assert.deepEqual([match.name, match.params], [name, params], path)
  }
})

test('every address that is built leads back to its page', () => {
  const id = 'a/b?c#d %'
  assert.deepEqual(matchPath(to.session(id)).params, { id })
  assert.deepEqual(matchPath(to.event(id, 7)).params, { id, event: '7' })
  assert.deepEqual(matchPath(to.compare(id, 'x')).params, { a: id, b: 'x' })
  assert.deepEqual(matchPath(to.prune(id)).params, { id })
  assert.deepEqual(matchPath(to.agent(id)).params, { id })
})

test('empty values leave no parameter', () => {
  assert.equal(href('/sessions', { q: '', project: null, client: undefined, failed: false }), '/sessions')
  assert.equal(href('/sessions', { q: 'a b&c', failed: true, from: 0 }), '/sessions?q=a+b%26c&failed=1&from=0')
})

test('an event is on the page of its session', () => {
  const page = (path: string): string => pageOf(matchPath(path))
  assert.equal(page('/sessions/a'), page('/sessions/a/events/3'))
  assert.equal(page('/sessions/a/events/4'), page('/sessions/a/events/3'))
  assert.notEqual(page('/sessions/a'), page('/sessions/b'))
  assert.notEqual(page('/sessions'), page('/prunes'))
})
