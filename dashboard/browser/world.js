// A real server with real data in a temporary folder: logs that agents wrote, prunes, recoveries, and a review loop in git and tmux.

import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const repository = new URL('../../', import.meta.url).pathname
const program = resolve(process.env.TAMIS_BIN ?? join(repository, 'target/debug/tamis'))

/** Text that would do harm if a page took it for markup, a terminal for a command, or a reader for another direction. */
export const HOSTILE = '<script>window.__harm=1</script><img src=x onerror="window.__harm=2"> \u001b]8;;http://evil.example\u0007link\u001b]8;;\u0007\u001b[31mred \u202egnp.exe'

export class World {
  folder = mkdtempSync(join(tmpdir(), 'tamis-page-'))
  logs = join(this.folder, 'logs')
  work = join(this.folder, 'work')
  server = null
  port = 0
  /** More variables of the environment. */
  variables = {}

  constructor() {
    for (const folder of ['home', 'data', 'logs', 'work']) mkdirSync(join(this.folder, folder))
  }

  get origin() {
    return `http://127.0.0.1:${this.port}`
  }

  get environment() {
    return {
      PATH: process.env.PATH,
      HOME: join(this.folder, 'home'),
      TAMIS_DATA_DIR: join(this.folder, 'data'),
      TAMIS_TRACE_LOGS: this.logs,
      TAMIS_MODEL_USE: 'never',
      TAMIS_ROOTS: this.work,
      TMUX_TMPDIR: this.folder,
      MCP_SERVER_PORT: String(this.port),
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.org', GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.org',
      ...this.variables,
    }
  }

  run(...args) {
    return execFileSync(program, args, { cwd: this.work, env: this.environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  }

  git(folder, ...args) {
    return execFileSync('git', args, { cwd: folder, env: this.environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  }

  /** Starts the server; after the first time on the same port. */
  async serve() {
    const child = spawn(program, ['serve', '--port', String(this.port)], { cwd: this.work, env: this.environment, stdio: ['ignore', 'ignore', 'pipe'] })
    this.server = child
    const lines = createInterface({ input: child.stderr })
    this.said = []
    await new Promise((started, failed) => {
      lines.on('line', (line) => {
        this.said.push(line)
        const address = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(line)
        if (address) this.port = Number(address[1])
        if (/coordinates the agents/.test(line)) started()
      })
      child.on('exit', (code) => failed(new Error(`the server ended with ${code}: ${this.said.join('\n')}`)))
    })
  }

  /** Ends the server as Ctrl-C does. */
  async end() {
    const child = this.server
    if (!child || child.exitCode !== null) return
    const gone = new Promise((ended) => child.once('exit', ended))
    child.kill('SIGTERM')
    await gone
    this.server = null
  }

  /** A one-time link. */
  link() {
    return this.run('open', '--print').trim()
  }

  async close() {
    for (const id of this.agents ?? []) {
      try {
        this.run('agents', 'stop', id)
      } catch {
        // It has ended.
      }
    }
    await this.end()
    try {
      execFileSync('tmux', ['-L', 'tamis', 'kill-server'], { env: this.environment, stdio: 'ignore' })
    } catch {
      // None was left.
    }
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Logs that real agents wrote, and one with hostile text in every field. */
  addSessions() {
    cpSync(join(repository, 'crates/logs/tests/logs'), this.logs, { recursive: true })
    this.hostile = 'deadbeef-0000-4000-8000-000000000001'
    const at = new Date(Date.now() - 60_000)
    const line = (record, seconds) =>
      JSON.stringify({
        sessionId: this.hostile, cwd: `/tmp/${HOSTILE}`, version: '2.0.0', gitBranch: HOSTILE, isSidechain: false, userType: 'external',
        timestamp: new Date(at.getTime() + seconds * 1000).toISOString(), uuid: `0000-${seconds}`, ...record,
      })
    const usage = { input_tokens: 1200, cache_read_input_tokens: 30_000, cache_creation_input_tokens: 500, output_tokens: 90 }
    const records = [
      line({ type: 'user', message: { role: 'user', content: `Fix it: ${HOSTILE}` } }, 0),
      line({ type: 'assistant', requestId: 'req_1', message: { id: 'msg_1', role: 'assistant', model: `claude-sonnet-4-5`, usage, content: [{ type: 'text', text: HOSTILE }, { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: `echo ${HOSTILE}`, description: HOSTILE } }] } }, 1),
      line({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', is_error: true, content: `failed: ${HOSTILE}` }] } }, 2),
      line({ type: 'assistant', requestId: 'req_2', message: { id: 'msg_2', role: 'assistant', model: `claude-sonnet-4-5`, usage, content: [{ type: 'text', text: `Done. ${HOSTILE}` }] } }, 3),
    ]
    this.hostileLog = join(this.logs, 'claude', `${this.hostile}.jsonl`)
    writeFileSync(this.hostileLog, `${records.join('\n')}\n`)
  }

  /** A session that is being written: each call adds a tool call and its result. */
  startLiveSession(id = 'feedface-0000-4000-8000-000000000002') {
    const path = join(this.logs, 'claude', `${id}.jsonl`)
    let number = 0
    const record = (more) => JSON.stringify({ sessionId: id, cwd: '/srv/live', version: '2.0.0', isSidechain: false, timestamp: new Date().toISOString(), uuid: `${id}-${number++}`, ...more })
    writeFileSync(path, `${record({ type: 'user', message: { role: 'user', content: 'Run the tests until they pass' } })}\n`)
    const call = (name) => {
      const key = `toolu_live_${number}`
      const usage = { input_tokens: 10, cache_read_input_tokens: 50_000 + number * 40, cache_creation_input_tokens: 200, output_tokens: 40 }
      return [
        record({ type: 'assistant', requestId: `req_${key}`, message: { id: `msg_${key}`, role: 'assistant', model: 'claude-sonnet-4-5', usage, content: [{ type: 'tool_use', id: key, name: 'Bash', input: { command: name } }] } }),
        record({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: key, content: `ok ${name}` }] } }),
      ]
    }
    return { id, path, add: (...names) => appendFileSync(path, `${names.flatMap(call).join('\n')}\n`) }
  }

  /** Prunes, one of them recovered from, and one with hostile text as text and goal. */
  addPrunes() {
    const readme = readFileSync(join(repository, 'README.md'), 'utf8')
    writeFileSync(join(this.work, 'guide.md'), readme)
    cpSync(join(repository, 'crates/prune/src'), join(this.work, 'src'), { recursive: true })
    const log = Array.from({ length: 400 }, (_, line) => (line === 200 ? `error: ${HOSTILE}` : `2026-11-16T10:00:${String(line % 60).padStart(2, '0')} worker ${line} ok`)).join('\n')
    writeFileSync(join(this.work, 'build.log'), log)
    cpSync(join(repository, 'docs/examples/payments.log'), join(this.work, 'payments.log'))
    const pruned = [
      this.run('prune', 'payments.log', '--goal', 'why did order 8812 fail'),
      this.run('prune', 'guide.md', '--goal', 'how do I connect Codex?'),
      this.run('prune', 'build.log', '--goal', `why did the build fail? ${HOSTILE}`),
    ]
    const ids = pruned.map((text) => /prn_[A-Za-z0-9_]+/.exec(text)?.[0]).filter(Boolean)
    this.run('recover', ids[0], '6-20')
    return ids
  }

  /** A coding agent, a reviewer, feedback, a second review: in a real repository, with real tmux. */
  async addReviewLoop() {
    this.git(this.work, 'init', '-q', '-b', 'main')
    writeFileSync(join(this.work, 'parser.py'), 'def parse(text):\n    return int(text)\n')
    this.git(this.work, 'add', '-A')
    this.git(this.work, 'commit', '-q', '-m', 'a parser')
    const start = (task) => JSON.parse(this.run('agents', 'start', '--task', task, '--json', '--', 'sh', '-c', 'printf "%s\\n" "$0"; sleep 600', HOSTILE))
    const coding = start('Strip spaces before a number is parsed')
    const other = start(`Document the parser ${HOSTILE}`)
    this.agents = [coding.id, other.id]
    const change = (text, message) => {
      writeFileSync(join(coding.worktree, 'parser.py'), text)
      this.git(coding.worktree, 'add', '-A')
      this.git(coding.worktree, 'commit', '-q', '-m', message)
    }
    change('def parse(text):\n    return int(text.strip())\n', 'strip spaces')
    const first = await this.call(coding.id, 'request_review', { completion_message: `it strips now ${HOSTILE}` })
    await this.call(first.review_instance_id, 'send_feedback', { feedback: `parse(None) still fails ${HOSTILE}`, feedback_type: 'needs_work', actionable_items: ['Handle None', HOSTILE] })
    change('def parse(text):\n    if text is None:\n        return None\n    return int(text.strip())\n', 'handle None')
    const second = await this.call(coding.id, 'request_review', { completion_message: 'None is handled' })
    this.agents.push(first.review_instance_id, second.review_instance_id)
    return { coding: coding.id, reviewers: [first.review_instance_id, second.review_instance_id] }
  }

  /** A tool call of an agent, with its identity. */
  async call(instance, tool, args) {
    const identity = JSON.parse(readFileSync(join(this.folder, 'data/agents/identities', instance), 'utf8'))
    const answer = await fetch(`${this.origin}/rpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${identity.token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: args } }),
    })
    const body = await answer.json()
    if (body.error || body.result?.isError) throw new Error(`${tool}: ${JSON.stringify(body)}`)
    return JSON.parse(body.result.content[0].text)
  }
}

