// Instances in words: what their statuses and outcomes are called, and how the graph of a review loop is laid out.

import type { Tone } from '../ui/tone.ts'
import type { IconName } from '../ui/icons.ts'
import type { PageInstance, PageReview } from './types.ts'
import { plural } from './format.ts'

export interface Word {
  tone: Tone
  label: string
  icon?: IconName
  /** The work goes on now. */
  active?: boolean
}

type Standing = Pick<PageInstance, 'status' | 'phase' | 'exit_code'>

export function statusWord({ status, phase, exit_code }: Standing): Word {
  switch (status) {
    case 'STARTED':
      return { tone: 'accent', label: phase === 'preparing' ? 'Starting' : 'Working', active: true }
    case 'WAITING_REVIEW':
      return { tone: 'wait', label: 'In review' }
    case 'PR_CREATED':
      return { tone: 'info', label: 'Pull request open', icon: 'branch' }
    case 'PR_MERGED':
      return { tone: 'ok', label: 'Merged' }
    case 'PR_CLOSED':
      return { tone: 'neutral', label: 'Pull request closed', icon: 'close' }
    case 'ABANDONED':
      return { tone: 'neutral', label: 'Abandoned', icon: 'close' }
    case 'TERMINATED':
      return exit_code ? { tone: 'bad', label: `Failed, exit code ${exit_code}` } : { tone: 'neutral', label: 'Ended', icon: 'stop' }
  }
}

/** A status as events have it. */
export const statusName = (status: string | null): string =>
  status === null ? '' : statusWord({ status: status as PageInstance['status'], phase: 'ready', exit_code: null }).label

export const wantsWord: Record<NonNullable<PageReview['wants']>, Word> = {
  needs_work: { tone: 'wait', label: 'Needs work', icon: 'warning' },
  suggestions: { tone: 'info', label: 'Suggestions' },
  clarification: { tone: 'info', label: 'Question' },
}

export function outcomeWord({ outcome, wants }: Pick<PageReview, 'outcome' | 'wants'>): Word {
  switch (outcome) {
    case null:
      return { tone: 'accent', label: 'Reviewing', active: true }
    case 'feedback':
      return wants ? wantsWord[wants] : { tone: 'info', label: 'Feedback' }
    case 'approved':
      return { tone: 'ok', label: 'Approved' }
    case 'ended':
      return { tone: 'neutral', label: 'No feedback' }
    case 'timed_out':
      return { tone: 'bad', label: 'Timed out' }
  }
}

/** An address that may become a link: one of the web. It comes from a store, and could be `javascript:`. */
export function webAddress(text: string | null | undefined): string | null {
  if (!text) return null
  try {
    const url = new URL(text)
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null
  } catch {
    return null
  }
}

/** The words of a command line: spaces part them, quotes and backslashes hold them together. Null while a quote is open. */
export function splitWords(line: string): string[] | null {
  const words: string[] = []
  let word = ''
  let isWord = false
  let quote = ''
  for (let at = 0; at < line.length; at += 1) {
    const letter = line.charAt(at)
    if (quote === "'") {
      if (letter === "'") quote = ''
      else word += letter
    } else if (letter === '\\') {
      const next = line.charAt(at + 1)
      word += quote === '"' && next !== '"' && next !== '\\' ? letter + next : next
      isWord = true
      at += 1
    } else if (quote === '"') {
      if (letter === '"') quote = ''
      else word += letter
    } else if (letter === '"' || letter === "'") {
      quote = letter
      isWord = true
    } else if (/\s/.test(letter)) {
      if (isWord) words.push(word)
      word = ''
      isWord = false
    } else {
      word += letter
      isWord = true
    }
  }
  if (isWord) words.push(word)
  return quote === '' ? words : null
}

export interface GraphNode {
  kind: 'agent' | 'review' | 'pull_request'
  x: number
  y: number
  /** What is written at it, and below that. */
  title: string
  word: Word
  /** The review's agent. */
  reviewer?: string
}

export interface Graph {
  width: number
  height: number
  nodes: GraphNode[]
  /** The agent's line from its start to its end. */
  line: { from: number; to: number; y: number; isOpen: boolean }
  /** From the line to each review, and back once it has ended. */
  arcs: { path: string; isOpen: boolean }[]
}

const LANE = 20
const REVIEWS = 68
const LABELS = 42
const EDGE = 34

/** The agent is a line; each review is an arc below it, in order; the pull request is at its end. */
export function layout(agent: Pick<PageInstance, 'status' | 'phase' | 'exit_code' | 'pr_number' | 'is_live'>, reviews: readonly PageReview[], available: number): Graph {
  const hasRequest = agent.pr_number !== null
  const columns = reviews.length + (hasRequest || reviews.length === 0 ? 1 : 0)
  const step = Math.max(68, Math.min(128, (available - 2 * EDGE) / Math.max(1, columns)))
  const at = (column: number): number => EDGE + column * step
  const nodes: GraphNode[] = [{ kind: 'agent', x: at(0), y: LANE, title: 'Start', word: { tone: 'neutral', label: '' } }]
  const arcs: Graph['arcs'] = []
  reviews.forEach((review, index) => {
    const x = at(index + 1) - (reviews.length > 0 ? step / 2 : 0)
    const [from, to] = [x - step / 3, x + step / 3]
    const down = `M${from} ${LANE}C${from} ${REVIEWS} ${from} ${REVIEWS} ${x} ${REVIEWS}`
    const isOpen = review.outcome === null
    arcs.push({ path: isOpen ? down : `${down}C${to} ${REVIEWS} ${to} ${REVIEWS} ${to} ${LANE}`, isOpen })
    nodes.push({ kind: 'review', x, y: REVIEWS, title: `Review ${review.iteration}`, word: outcomeWord(review), reviewer: review.reviewer })
  })
  const end = at(columns)
  if (agent.pr_number !== null) {
    nodes.push({ kind: 'pull_request', x: end, y: LANE, title: `#${agent.pr_number}`, word: statusWord(agent) })
  }
  return {
    width: end + EDGE,
    height: reviews.length > 0 ? REVIEWS + LABELS : LANE + (hasRequest ? LABELS : 8),
    nodes,
    line: { from: at(0), to: end, y: LANE, isOpen: agent.is_live && !hasRequest },
    arcs,
  }
}

/** The graph as a sentence. */
export function loopText(agent: Pick<PageInstance, 'id' | 'status' | 'phase' | 'exit_code' | 'pr_number'>, reviews: readonly PageReview[]): string {
  const each = reviews.map((review) => `review ${review.iteration}: ${outcomeWord(review).label.toLowerCase()}`)
  const request = agent.pr_number === null ? [] : [`pull request ${agent.pr_number}`]
  const head = `${agent.id}: ${statusWord(agent).label.toLowerCase()}, ${plural(reviews.length, 'review')}`
  return [head, ...each, ...request].join('; ')
}

/** What remains of an agent that is ended one way or the other. */
export const stopTitle = 'Ends the agent. Its worktree and its branch stay.'
export const abandonTitle = 'Ends the agent and removes its worktree, after showing what is lost and what is kept.'

export const shortCommit = (commit: string | null | undefined): string => (commit ?? '').slice(0, 10)

/** The last part of a path. */
export const baseName = (path: string): string => path.replace(/\/+$/, '').split('/').pop() || path
