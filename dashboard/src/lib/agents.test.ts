import assert from 'node:assert/strict'
import { test } from 'node:test'
import { layout, loopText, outcomeWord, splitWords, statusWord, webAddress } from './agents.ts'
import type { PageReview } from './types.ts'

const review = (iteration: number, outcome: PageReview['outcome'], wants: PageReview['wants'] = null): PageReview => ({
  coding: 'work-1-a1',
  reviewer: `review-1-a1-${iteration}`,
  iteration,
  commit: 'c'.repeat(40),
  outcome,
  wants,
  items: 0,
  created: 0,
  ended: null,
})
const agent = { id: 'work-1-a1', status: 'PR_CREATED', phase: 'ready', exit_code: null, pr_number: 7, is_live: true } as const

test('only addresses of the web become links', () => {
  assert.equal(webAddress('https://github.com/a/b/pull/1'), 'https://github.com/a/b/pull/1')
  for (const hostile of ['javascript:alert(1)', 'data:text/html,x', '//evil', 'JAVASCRIPT:alert(1)', ' \tjavascript:x', 'file:///etc/passwd', '', null]) {
    assert.equal(webAddress(hostile), null, String(hostile))
  }
})

test('a command line is split as a shell would', () => {
  const table: [string, string[] | null][] = [
    ['', []],
    ['  sh  -c  x ', ['sh', '-c', 'x']],
    [`sh -c "echo 'a b'; exit 1"`, ['sh', '-c', `echo 'a b'; exit 1`]],
    [`a '' "" b`, ['a', '', '', 'b']],
    ['a\\ b "c\\"d" \'e\\f\' "g\\h"', ['a b', 'c"d', 'e\\f', 'g\\h']],
    ['a "open', null],
  ]
  for (const [line, words] of table) assert.deepEqual(splitWords(line), words, line)
})

test('a loop in words', () => {
  const reviews = [review(1, 'feedback', 'needs_work'), review(2, 'approved')]
  assert.equal(loopText(agent, reviews), 'work-1-a1: pull request open, 2 reviews; review 1: needs work; review 2: approved; pull request 7')
  assert.equal(outcomeWord(review(3, null)).active, true)
  assert.equal(statusWord({ status: 'TERMINATED', phase: 'kept', exit_code: 3 }).label, 'Failed, exit code 3')
})

test('the graph has its nodes in order, and fits where it can', () => {
  for (const available of [320, 900]) {
    const graph = layout(agent, [review(1, 'feedback', 'needs_work'), review(2, null)], available)
    assert.deepEqual(graph.nodes.map((node) => node.title), ['Start', 'Review 1', 'Review 2', '#7'])
    const places = graph.nodes.map((node) => node.x)
    assert.deepEqual(places, [...places].sort((a, b) => a - b))
    assert.ok(graph.width <= available, `${graph.width}`)
    assert.deepEqual(graph.arcs.map((arc) => arc.isOpen), [false, true])
  }
  assert.equal(layout({ ...agent, pr_number: null }, [], 320).nodes.length, 1)
})
