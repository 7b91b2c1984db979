// The question that is being answered. Reports stay for as long as the tab does, so that going back shows them at once.

import { ApiFailure, isAbort, stream, toFailure } from './api.ts'
import type { PageReport, PageResearchEvent } from './types.ts'

export interface Ask {
  question: string
  roots: string[]
  role: string
  memo: boolean
}

export interface Step {
  id: string
  label: string
  state: 'waiting' | 'running' | 'done' | 'failed'
  note?: string
}

const KEPT = 20
/** Names of the roles and of the steps around them. */
export const roleNames: Record<string, string> = { locator: 'Locator', analyzer: 'Analyzer', patterns: 'Patterns', thoughts: 'Thoughts', answer: 'Answer', memo: 'Memo' }

class Run {
  steps: Step[] = $state.raw([])
  report: PageReport | null = $state.raw(null)
  failure: ApiFailure | null = $state.raw(null)
  isRunning = $state(true)

  constructor(
    role: string,
    /** It also writes a memo. */
    readonly isMemo: boolean,
  ) {
    const first = role === '' || role === 'locator' ? ['locator'] : ['locator', role]
    this.steps = [...first, ...(role === '' ? ['analyzer', 'answer'] : [])].map((id) => ({ id, label: roleNames[id] ?? id, state: 'waiting' }))
  }

  /** Nothing more arrives: what was under way did not end. */
  end(): void {
    this.isRunning = false
    this.steps = this.steps.map((step) => (step.state === 'running' ? { ...step, state: 'failed' } : step))
  }

  set(id: string, state: Step['state'], note?: string): void {
    const step: Step = { id, label: roleNames[id] ?? id, state, ...(note === undefined ? {} : { note }) }
    if (this.steps.some((known) => known.id === id)) this.steps = this.steps.map((known) => (known.id === id ? step : known))
    else {
      // The answer is always last.
      const at = this.steps.findIndex((known) => known.id === 'answer')
      this.steps = at < 0 || id === 'memo' ? [...this.steps, step] : this.steps.toSpliced(at, 0, step)
    }
  }
}

class Research {
  current: Run | null = $state.raw(null)
  #runs = new Map<string, Run>()
  #key = ''
  #abort: AbortController | null = null

  ask(ask: Ask, done: () => void = () => {}): void {
    const key = JSON.stringify([ask.question, ask.roots, ask.role])
    const known = this.#runs.get(key)
    // A memo is written by answering; a report that is there, or on its way without one, does not do.
    const does = known && (!ask.memo || known.isMemo)
    if (known && does && (known.report || (known.isRunning && this.#key === key))) {
      if (this.#key !== key) this.#abort?.abort()
      this.#key = key
      this.current = known
      return
    }
    this.#abort?.abort()
    const abort = (this.#abort = new AbortController())
    const run = new Run(ask.role, ask.memo)
    this.#key = key
    this.current = run
    this.#runs.set(key, run)
    const oldest = this.#runs.keys().next().value
    if (this.#runs.size > KEPT && oldest !== undefined) this.#runs.delete(oldest)
    const body = { question: ask.question, roots: ask.roots, memo: ask.memo, ...(ask.role ? { role: ask.role } : {}) }
    stream<PageResearchEvent>('/api/page/research', body, (event) => take(run, event), abort.signal).then(
      () => {
        run.end()
        if (!run.report && !run.failure) run.failure = new ApiFailure(0, 'interrupted', 'the answer ended early', 'check that `tamis serve` is still running, then try again')
        done()
      },
      (error: unknown) => {
        run.end()
        if (!isAbort(error)) run.failure = toFailure(error)
        if (this.#runs.get(key) === run) this.#runs.delete(key)
      },
    )
  }

  /** Gives the question up. The server stops its roles. */
  stop(): void {
    this.#abort?.abort()
    this.#abort = null
    if (this.current && !this.current.isRunning) this.current = null
    this.#key = ''
  }

  /** Drops the report that is shown, so that the same question is answered anew. */
  forget(): void {
    this.#runs.delete(this.#key)
    this.#key = ''
  }
}

function take(run: Run, event: PageResearchEvent): void {
  switch (event.type) {
    case 'progress':
      if (event.step === 'role_began' && event.role) run.set(event.role, 'running')
      else if (event.step === 'role_ended' && event.role) run.set(event.role, 'done')
      else if (event.step === 'composing') run.set('answer', 'running')
      else if (event.step === 'writing') {
        run.set('answer', 'done')
        run.set('memo', 'running')
      }
      return
    case 'report': {
      const { report } = event
      run.report = report
      for (const outcome of report.roles) {
        run.set(outcome.role, outcome.finding ? 'done' : 'failed', outcome.finding ? `${outcome.finding.references.length}` : undefined)
      }
      // Steps that the question did not need are left out.
      run.steps = run.steps.filter((step) => step.state !== 'waiting').map((step) => (step.state === 'running' ? { ...step, state: 'done' } : step))
      return
    }
    case 'failed':
      run.failure = new ApiFailure(0, 'failed', event.message, event.hint)
  }
}

export const research = new Research()
