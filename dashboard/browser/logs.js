// Logs in the format of Claude Code, for what the stored logs of real sessions do not have: sessions of today, subagents that run,
// loops, compactions, prices that are not known.

import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const SECOND = 1000

export class ClaudeLog {
  #number = 0
  #lines = []
  #last = null

  /** `ago`: seconds since its first record. Each record is `step` seconds after the one before it. */
  constructor(world, id, { cwd = '/srv/shop', model = 'claude-sonnet-4-5', ago = 600, step = 1, file = join('claude', `${id}.jsonl`), more = {} } = {}) {
    Object.assign(this, { world, id, cwd, model, step, more, path: join(world.logs, file), at: Date.now() - ago * SECOND })
  }

  /** Writes what was added since the last time, in one go. */
  write() {
    mkdirSync(dirname(this.path), { recursive: true })
    appendFileSync(this.path, this.#lines.map((line) => `${line}\n`).join(''))
    this.#lines = []
    return this
  }

  /** The next record is this many seconds ago. */
  now(ago = 0) {
    this.at = Date.now() - ago * SECOND
    return this
  }

  add(record) {
    const uuid = `${this.id}-${this.more.agentId ?? ''}${this.#number}`
    this.#lines.push(
      JSON.stringify({
        parentUuid: this.#last,
        sessionId: this.id, cwd: this.cwd, version: '2.1.325', gitBranch: 'main', isSidechain: false, userType: 'external',
        uuid, timestamp: new Date(this.at).toISOString(), ...this.more, ...record,
      }),
    )
    this.#number += 1
    this.#last = uuid
    this.at += this.step * SECOND
    return this
  }

  title(text) {
    return this.add({ type: 'ai-title', aiTitle: text })
  }

  prompt(text) {
    return this.add({ type: 'user', message: { role: 'user', content: text } })
  }

  /** A request and its answer. `context`: tokens that the model read. */
  answer(content, { context = 20_000, output = 100, model = this.model } = {}) {
    const key = `${this.id}_${this.more.agentId ?? ''}${this.#number}`
    const usage = { input_tokens: 12, cache_read_input_tokens: context - 1_012, cache_creation_input_tokens: 1_000, output_tokens: output }
    return this.add({ type: 'assistant', requestId: `req_${key}`, message: { id: `msg_${key}`, type: 'message', role: 'assistant', model, content: [content].flat(), usage } })
  }

  say(text, more) {
    return this.answer({ type: 'text', text }, more)
  }

  /** A call without a result. */
  begin(name, input, more) {
    this.open = `toolu_${this.id}_${this.more.agentId ?? ''}${this.#number}`
    return this.answer({ type: 'tool_use', id: this.open, name, input }, more)
  }

  /** The result of the last call. */
  end(text, failed = false) {
    return this.add({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: this.open, content: text, is_error: failed }] } })
  }

  call(name, input, text, { failed = false, ...more } = {}) {
    return this.begin(name, input, more).end(text, failed)
  }

  compact(before, after, summary) {
    this.add({ type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted', isMeta: false, level: 'info', compactMetadata: { trigger: 'auto', preTokens: before, postTokens: after } })
    return this.add({ type: 'user', isCompactSummary: true, isVisibleInTranscriptOnly: true, message: { role: 'user', content: `This session is being continued from a previous conversation that ran out of context. ${summary}` } })
  }

  /** A subagent's log, which starts where this one is. */
  subagent(agentId, { agentType = 'general-purpose', description = '', ...more } = {}) {
    const folder = join('claude', this.id, 'subagents')
    mkdirSync(join(this.world.logs, folder), { recursive: true })
    writeFileSync(join(this.world.logs, folder, `agent-${agentId}.meta.json`), JSON.stringify({ agentType, description, toolUseId: this.open }))
    const log = new ClaudeLog(this.world, this.id, { cwd: this.cwd, model: this.model, step: this.step, file: join(folder, `agent-${agentId}.jsonl`), more: { isSidechain: true, agentId }, ...more })
    log.at = this.at
    return log
  }
}
