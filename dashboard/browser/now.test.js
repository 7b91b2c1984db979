// The page Now: who needs a person, what each session does and costs, and how to begin. Its figures are those of the command line.

import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Browser } from './browser.js'
import { ClaudeLog } from './logs.js'
import { World } from './world.js'

const ASKS = 'aaaaaaaa-0000-4000-8000-000000000001'
const ANSWERED = 'bbbbbbbb-0000-4000-8000-000000000002'
const EDITS = 'cccccccc-0000-4000-8000-000000000003'
const DELEGATES = 'dddddddd-0000-4000-8000-000000000004'
const RUNS = 'eeeeeeee-0000-4000-8000-000000000005'
const CUT = '99999999-0000-4000-8000-000000000009'
const PAST = 'ffffffff-0000-4000-8000-000000000006'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat('en-GB')
const short = (tokens) => (Math.abs(tokens) < 1000 ? whole.format(tokens) : compact.format(tokens).replace('K', 'k'))

const world = new World()
let browser
let page
let runs

before(async () => {
  world.addSessions()
  rmSync(world.hostileLog)
  new ClaudeLog(world, ASKS).title('Migrate the ledger').prompt('Migrate').now(240)
    .begin('AskUserQuestion', { questions: [{ question: 'Lock the table now?' }] }, { context: 164_000 }).write()
  new ClaudeLog(world, ANSWERED).prompt('Why is it slow?').call('Bash', { command: 'make' }, 'Exit code 2', { failed: true }).now(95)
    .say('The index is missing.').write()
  new ClaudeLog(world, EDITS, { cwd: '/srv/payments' }).prompt('Rename Customer').now(130).begin('Edit', { file_path: '/srv/payments/customer.rs', old_string: 'a', new_string: 'b' }).write()
  const delegates = new ClaudeLog(world, DELEGATES, { model: 'claude-opus-5-5' }).title('Write property tests').prompt('Write tests')
    .call('Bash', { command: 'ls' }, 'src', { context: 30_000 }).begin('Task', { description: 'Find grammars', prompt: 'Find all', subagent_type: 'Explore' }, { context: 46_000, output: 700 }).write()
  for (const [agent, model] of [['a0000001', 'claude-haiku-4-5'], ['a0000002', 'unheard-of-model']]) {
    delegates.subagent(agent, { agentType: 'Explore', description: 'Find grammars', model }).prompt('Find all')
      .call('Grep', { pattern: 'grammar' }, 'Exit code 2', { failed: true, context: 61_000 }).now(5).begin('Read', { file_path: '/srv/shop/a.rs' }, { context: 62_345 }).write()
  }
  runs = new ClaudeLog(world, RUNS).prompt('Run the tests').now(30).begin('Bash', { command: 'cargo test --workspace' }).write()
  new ClaudeLog(world, PAST, { ago: 3 * 3600 }).prompt('Profile cold start').say('It reads the whole index.').write()
  // A result of which tamis cut a part, in a log, so that it counts; prunes that no log has do not.
  world.addPrunes()
  const pruned = world.run('prune', 'build.log', '--goal', 'why did worker 200 fail?')
  assert.match(pruned, /prn_/)
  const cut = new ClaudeLog(world, CUT, { ago: 0, step: 0.001 }).prompt('Why did it fail?').call('Bash', { command: 'tamis prune build.log' }, pruned)
  for (let request = 0; request < 4; request += 1) cut.call('Bash', { command: `step ${request}` }, 'ok')
  cut.write()
  // Reads the logs, so that the first figures of the server are of all of them.
  world.run('trace', 'index')
  await world.serve()
  browser = await Browser.open(world)
  page = browser.page
  await browser.goto('/')
  await page.locator('[data-live="live"]').waitFor()
})
after(async () => {
  await browser?.close()
  await world.close()
})

/** The names of the sessions in a group, in its order. */
const group = (name) => page.getByRole('region', { name, exact: true }).locator('[data-session-row]').evaluateAll((links) => links.map((link) => link.getAttribute('aria-label')))
const row = (id) => page.locator('li', { has: page.locator(`a[href="/sessions/${id}"]`) })
const json = (...args) => JSON.parse(world.run(...args, '--json'))

test('sessions are under what they need, those that surely wait first', async () => {
  await page.getByRole('region', { name: 'Recent' }).locator('[data-session-row]').first().waitFor()
  assert.deepEqual(await group('Needs you'), ['Your turn: Why is it slow?, Claude Code', 'Asks you: Migrate the ledger, Claude Code', 'May need you: Rename Customer, Claude Code. No result yet: it still runs, or waits for a permission'])
  assert.deepEqual((await group('Working')).sort(), ['Thinking: Why did it fail?, Claude Code', 'Working: Run the tests, Claude Code', 'Working: Write property tests, Claude Code'])
  assert.deepEqual(await group('Recent'), ['Idle: Profile cold start, Claude Code'])
  assert.match(await page.title(), /^\(3\) Now/)
  const glance = page.getByRole('group', { name: 'At a glance' })
  assert.match(await glance.innerText(), /Needs you\s+3\s+Working\s+3/)
  assert.match(await row(ASKS).innerText(), /Lock the table now\?/)
  assert.match(await row(ANSWERED).innerText(), /The index is missing\./)
  assert.match(await row(EDITS).innerText(), /payments.*Edit.*customer\.rs/s)
  assert.match(await row(DELEGATES).innerText(), /Task.*Find/s)
})

test('a row has the context, failures, tokens and money of the whole family, as the command line has them', async () => {
  const listed = json('trace', 'sessions', '--limit', '1000').sessions.find(({ id }) => id === DELEGATES)
  const family = json('trace', 'show', DELEGATES)
  assert.equal(family.family.length, 2)
  assert.ok(listed.total_tokens > listed.own_tokens)
  const logs = [DELEGATES, ...family.family.map(({ id }) => id)]
  const usage = json('trace', 'usage', '--by', 'session').rows.filter(({ name }) => logs.includes(name))
  assert.equal(usage.reduce((sum, { tokens }) => sum + tokens.total, 0), listed.total_tokens)
  const usd = usage.reduce((sum, { cost }) => sum + cost.usd, 0)
  assert.deepEqual(usage.flatMap(({ cost }) => Object.keys(cost.unpriced_tokens)), ['unheard-of-model'])

  const found = row(DELEGATES)
  await found.getByTitle(`${whole.format(listed.total_tokens)} tokens`, { exact: true }).waitFor()
  assert.match(await found.innerText(), /2 subagents/)
  const money = found.getByTitle('No price is known for unheard-of-model')
  assert.equal(await money.innerText(), `≥\u00a0$${usd.toFixed(2)}`)
  await found.getByTitle('2 of 6 calls failed').waitFor()
  const meter = found.getByRole('meter', { name: 'Context' })
  assert.deepEqual(await Promise.all(['aria-valuenow', 'aria-valuemax'].map((name) => meter.getAttribute(name))), ['46000', '1000000'])
  assert.match(await row(ASKS).getByRole('meter').getAttribute('aria-valuetext'), /^164k of 200k tokens, 82%, high$/)
})

test('what was spent and saved is what the command line says', async () => {
  const since = await page.evaluate(() => new Date(new Date().setHours(0, 0, 0, 0)).toISOString())
  const [spent, gain, total] = [json('trace', 'usage', '--since', since).total, json('gain', '--since', since).total, json('gain')]
  assert.ok(gain.results_cut > 0)

  const stat = (label) => page.getByRole('group', { name: 'At a glance' }).locator('.stat', { hasText: label })
  const tokens = `${short(spent.tokens.total)} tokens`
  // They are measured beside the requests; the page asks again by itself.
  await stat('Spent today').getByText(/tokens/).waitFor()
  assert.ok((await stat('Spent today').innerText()).includes(tokens), await stat('Spent today').innerText())
  assert.match(await stat('Spent today').innerText(), new RegExp(`\\$${spent.cost.usd.toFixed(2)}`))
  for (const [label, sums] of [['Net savings today', gain], ['Net savings, 30 days', total.total]]) {
    const sign = sums.net_tokens > 0 ? '+' : ''
    const text = await stat(label).innerText()
    assert.ok(text.includes(`${sign}${short(sums.net_tokens)} tokens, ${sums.results_cut} result`), `${label}: ${text}`)
  }
  assert.match(await stat('Net savings, 30 days').innerText(), new RegExp(`${total.unlinked.prunes} prunes? not counted: not found in any session log`))
})

test('calls appear as they happen, and a session that is done moves to those that need a person', async () => {
  await browser.goto('/')
  await page.locator('[data-live="live"]').waitFor()
  const calls = page.getByRole('region', { name: 'Live calls' })
  runs.now(20).end('test result: FAILED', true).begin('Bash', { command: 'cargo test -p checkout' }).end('ok').write()
  const failed = calls.getByRole('row').filter({ hasText: 'cargo test --workspace' })
  await failed.getByText('failed', { exact: true }).waitFor()
  await calls.getByRole('row').filter({ hasText: 'cargo test -p checkout' }).getByText('Done').waitFor()
  await row(RUNS).getByText('Thinking').waitFor()
  await row(RUNS).getByTitle('1 of 2 calls failed').waitFor()
  runs.now(10).say('All tests pass.').write()
  await page.getByRole('region', { name: 'Needs you' }).locator(`a[href="/sessions/${RUNS}"]`).waitFor()
  await row(RUNS).getByText('All tests pass.').waitFor()

  await calls.getByRole('row').filter({ hasText: 'cargo test -p checkout' }).click()
  await page.waitForURL(`**/sessions/${RUNS}/events/*`)
  await page.getByRole('complementary').getByText('cargo test -p checkout').waitFor()
})

test('j, k and Enter move and open; the time span is part of the address', async () => {
  await browser.goto('/')
  await row(ANSWERED).waitFor()
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('href'))
  await page.keyboard.press('j')
  const first = await focused()
  await page.keyboard.press('j')
  assert.notEqual(await focused(), first)
  await page.keyboard.press('k')
  assert.equal(await focused(), first)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**${first}`)
  await page.goBack()

  await page.getByLabel('Active in').selectOption('1')
  await row(PAST).waitFor({ state: 'detached' })
  assert.equal(new URL(page.url()).search, '?hours=1')
  await page.reload()
  await row(ANSWERED).waitFor()
  assert.equal(await row(PAST).count(), 0)
  await page.getByLabel('Active in').selectOption('168')
  await row('6e190b0e-1444-4d7a-a82b-3469ccf8c19e').or(page.getByRole('button', { name: /^Show all/ })).first().waitFor()
})

test('that all are shown is part of the address', async (context) => {
  const now = /\/api\/page\/now\?/
  await page.route(now, async (route) => {
    const response = await route.fetch()
    const answer = await response.json()
    const oldest = answer.sessions.toSorted((a, b) => a.last_activity - b.last_activity)[0]
    answer.sessions.push(...Array.from({ length: 15 }, (_, copy) => ({ ...oldest, id: `${copy}-${oldest.id}` })))
    await route.fulfill({ response, json: answer })
  })
  context.after(() => page.unroute(now))
  await browser.goto('/?hours=720')
  const recent = page.getByRole('region', { name: 'Recent' }).getByRole('listitem')
  const all = page.getByRole('button', { name: /^Show all/ })
  const count = Number((await all.innerText()).replace(/\D/g, ''))
  assert.equal(await recent.count(), 10)
  await all.click()
  await page.waitForFunction(() => new URLSearchParams(location.search).get('all') === '1')
  assert.equal(await recent.count(), count)
  await browser.goto('/?hours=720&all=1')
  assert.equal(await recent.count(), count)
})

test('with nothing yet, there are the commands that connect each client and what tamis reach says', async (context) => {
  const empty = new World()
  context.after(() => empty.close())
  // Two clients are installed.
  const programs = join(empty.folder, 'bin')
  mkdirSync(programs)
  for (const name of ['claude', 'codex']) writeFileSync(join(programs, name), '#!/bin/sh\n', { mode: 0o755 })
  empty.variables = { PATH: `${programs}:${process.env.PATH}` }
  await empty.serve()
  const fresh = await Browser.open(empty)
  context.after(() => fresh.close())
  await fresh.page.getByText('No session yet').waitFor()
  const clients = fresh.page.getByRole('region', { name: 'Connect your agents' }).getByRole('listitem')
  await clients.first().waitFor()
  const shown = await clients.evaluateAll((items) => items.map((item) => ({ name: item.querySelector('strong').textContent, state: item.querySelector('.status').textContent.trim(), command: item.querySelector('code')?.textContent })))
  assert.deepEqual(
    Object.fromEntries(shown.map(({ name, state, command }) => [name, [state, command]])),
    { 'Claude Code': ['Not connected', 'tamis setup claude'], 'Codex': ['Not connected', 'tamis setup codex'], 'Gemini CLI': ['Not found here', 'tamis setup gemini'], 'OpenCode': ['Not found here', 'tamis setup opencode'] },
  )
  for (const { command } of shown) assert.match(empty.run(...command.split(' ').slice(1), '--dry-run'), /./, command)

  // Sessions of some days ago: nothing runs, but what they say of tamis is known.
  empty.addSessions()
  rmSync(empty.hostileLog)
  const reach = JSON.parse(empty.run('reach', '--json'))
  await empty.end()
  await empty.serve()
  await fresh.goto('/?hours=1')
  await fresh.page.getByText('Nothing is running').waitFor()
  const words = { worth_it: 'Worth it', not_worth_it: 'Not worth it', too_little_to_tell: 'Too little to tell' }
  for (const { client, verdict, sessions, tokens_read } of reach.clients) {
    const name = { claude: 'Claude Code', codex: 'Codex', gemini: 'Gemini CLI', opencode: 'OpenCode' }[client]
    const item = clients.filter({ has: fresh.page.getByText(name, { exact: true }) })
    await item.getByText(words[verdict]).waitFor()
    assert.ok((await item.innerText()).includes(`${sessions} session${sessions === 1 ? '' : 's'} replayed, ${short(tokens_read)} tokens read`), await item.innerText())
  }
})
