// Sessions: the list, one session, search and comparison. What the pages show is compared with the logs and with the command line.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Browser } from './browser.js'
import { ClaudeLog } from './logs.js'
import { World } from './world.js'

const LARGE = 'a1a1a1a1-0000-4000-8000-000000000001'
const FAMILY = 'b2b2b2b2-0000-4000-8000-000000000002'
const EMPTY = 'c3c3c3c3-0000-4000-8000-000000000003'
const REAL = '6e190b0e-1444-4d7a-a82b-3469ccf8c19e'
/** A result with everything that a page could get wrong: long, folded, other scripts, no line break at its end. */
const RESULT = `${Array.from({ length: 3_000 }, (_, line) => `line ${line}: ${'é漢🙂 budget '.repeat(line % 4)}${'\t'}end`).join('\n')}\n\n  needle-in-the-result  \n<b>last</b>`

const whole = new Intl.NumberFormat('en-GB')
const world = new World()
let browser
let page

before(async () => {
  world.addSessions()
  const large = new ClaudeLog(world, LARGE, { ago: 7200, cwd: '/srv/shop' }).title('Make the checkout survive a slow currency service')
  let context = 21_000
  for (let turn = 0; turn < 12; turn += 1) {
    large.prompt(`Part ${turn} of the checkout`)
    for (let call = 0; call < 8; call += 1) {
      context += 1_500
      // The fourth turn goes in circles: the same call with the same failure.
      if (turn === 3) large.call('Bash', { command: 'cargo test -p checkout' }, 'Exit code 101: 1 failed', { failed: true, context })
      else large.call('Read', { file_path: `/srv/shop/part_${turn}_${call}.rs` }, turn === 6 && call === 2 ? RESULT : `fn part_${turn}_${call}() {}`, { context })
    }
    if (turn === 7) {
      large.compact(context, 22_000, 'The budget is shared.')
      context = 22_000
    }
    large.say(`Part ${turn} is done.`, { context, output: 500 })
  }
  large.write()
  const family = new ClaudeLog(world, FAMILY, { ago: 3600, cwd: '/srv/ledger', model: 'claude-opus-5-5' }).title('Find the grammars').prompt('Find them')
    .begin('Task', { description: 'Look', prompt: 'Look', subagent_type: 'Explore' }, { context: 40_000 }).end('found').write()
  family.subagent('a9000001', { agentType: 'Explore', description: 'Look', model: 'unheard-of-model' }).prompt('Look').call('Grep', { pattern: 'needle-of-the-subagent' }, 'src/a.rs', { context: 33_000 }).say('Found.').write()
  // Claude Code leaves such a log when one opens and closes it.
  new ClaudeLog(world, EMPTY, { ago: 1800 }).add({ type: 'system', subtype: 'informational', content: 'Welcome', level: 'info', isMeta: false }).write()
  await world.serve()
  browser = await Browser.open(world)
  page = browser.page
  await browser.goto('/sessions')
  await page.getByRole('status').filter({ hasText: /^\d+ sessions$/ }).waitFor()
})
after(async () => {
  await browser?.close()
  await world.close()
})

const json = (...args) => JSON.parse(world.run('trace', ...args, '--json'))
const listed = (...args) => json('sessions', '--limit', '1000', ...args).sessions
const list = () => page.getByRole('grid', { name: 'Sessions' })
/** The ids of the listed sessions, when there are as many as are wanted. */
async function shown(count) {
  await page.getByRole('status').filter({ hasText: new RegExp(`^${count} sessions?$`) }).waitFor()
  if (count === 0) return []
  await page.waitForFunction((count) => document.querySelectorAll('[role="grid"][aria-label="Sessions"] a.cover').length === count, count)
  return (await list().locator('[role="row"]').evaluateAll((rows) => rows.sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map((row) => row.querySelector('a.cover').getAttribute('href')))).map((href) => href.split('/').at(-1))
}
/** What a session and its subagents used and cost, by the command line. */
function usageOf(id, rows = json('usage', '--by', 'session').rows) {
  const family = [id, ...json('show', id).family.filter(({ relation }) => relation === 'subagent').map((child) => child.id)]
  const sum = { requests: 0, tokens: {}, usd: null, isPartial: false }
  for (const { requests, tokens, cost } of rows.filter(({ name }) => family.includes(name))) {
    sum.requests += requests
    for (const [part, count] of Object.entries(tokens)) sum.tokens[part] = (sum.tokens[part] ?? 0) + count
    if (cost.usd !== null) sum.usd = (sum.usd ?? 0) + cost.usd
    sum.isPartial ||= Object.keys(cost.unpriced_tokens).length > 0
  }
  return sum
}
/** As the page shows it. */
function money({ usd, isPartial }) {
  if (usd === null) return '–'
  if (isPartial) return `≥\u00a0$${usd.toFixed(2)}`
  return usd > 0 && usd < 0.005 ? '<$0.01' : `$${usd.toFixed(2)}`
}
const ids = (sessions) => sessions.map(({ id }) => id)
const query = () => Object.fromEntries(new URL(page.url()).searchParams)
const waitForQuery = (wanted) => page.waitForFunction((wanted) => new URLSearchParams(location.search).toString() === wanted, new URLSearchParams(wanted).toString())

test('the list is that of the command line: the same sessions in the same order with the same figures', async () => {
  const wanted = listed()
  assert.ok(wanted.length > 10)
  await browser.goto('/sessions')
  assert.deepEqual(await shown(wanted.length), ids(wanted))
  assert.equal(ids(wanted).includes(EMPTY), false)
  const { rows } = json('usage', '--by', 'session')
  for (const { id, turn_count, total_tokens } of wanted) {
    const row = list().getByRole('row').filter({ has: page.locator(`a[href="/sessions/${id}"]`) })
    assert.equal(await row.locator('.line > span').nth(2).innerText(), whole.format(turn_count), id)
    assert.equal(await row.getByTitle(/ tokens$/).getAttribute('title'), `${whole.format(total_tokens)} tokens`, id)
    assert.equal(await row.locator('.line > span').nth(5).innerText(), money(usageOf(id, rows)), id)
  }
})

test('filters narrow the list as the command line does, and each state has an address', async () => {
  await browser.goto('/sessions')
  await page.getByLabel('Client').selectOption('codex')
  const codex = listed('--provider', 'codex')
  assert.deepEqual(await shown(codex.length), ids(codex))
  assert.deepEqual(query(), { client: 'codex' })
  await page.reload()
  assert.deepEqual(await shown(codex.length), ids(codex))
  assert.equal(await page.getByLabel('Client').inputValue(), 'codex')

  await page.getByLabel('Client').selectOption('')
  const hash = listed().find(({ id }) => id === FAMILY).project_hash
  await page.getByLabel('Project').selectOption({ label: 'ledger (1)' })
  assert.deepEqual(await shown(1), [FAMILY])
  assert.deepEqual(query(), { project: hash.slice(0, 12) })

  await page.getByLabel('Project').selectOption('')
  await page.getByLabel('Time').selectOption('1')
  const recent = listed('--since', '1d')
  assert.ok(recent.length > 0 && recent.length < listed().length)
  assert.deepEqual(await shown(recent.length), ids(recent))

  await page.getByRole('button', { name: 'Failed calls' }).click()
  const failed = ids(recent).filter((id) => Object.values(json('show', id).tools).some((tool) => tool.failed > 0))
  assert.ok(failed.length > 0 && failed.length < recent.length)
  assert.deepEqual(await shown(failed.length), failed)
  assert.deepEqual(query(), { days: '1', failed: '1' })
  await page.reload()
  assert.deepEqual(await shown(failed.length), failed)
  assert.equal(await page.getByRole('button', { name: 'Failed calls' }).getAttribute('aria-pressed'), 'true')

  await page.getByLabel('Order').selectOption('tokens')
  await waitForQuery({ days: '1', failed: '1', sort: 'tokens' })
  const bySize = listed('--since', '1d').filter(({ id }) => failed.includes(id)).sort((a, b) => b.total_tokens - a.total_tokens)
  await page.waitForFunction((first) => document.querySelector('[aria-rowindex="1"] a.cover')?.getAttribute('href').endsWith(first), bySize[0].id)
  assert.deepEqual(await shown(failed.length), ids(bySize))
})

test('the list follows what is typed, and back and forward return to it', async () => {
  await browser.goto('/sessions')
  const field = page.getByRole('searchbox', { name: 'Filter sessions' })
  await field.pressSequentially('checkout cur')
  assert.deepEqual(await shown(1), [LARGE])
  await waitForQuery({ q: 'checkout cur' })
  await list().getByRole('row').first().click()
  await page.waitForURL(`**/sessions/${LARGE}`)
  await page.goBack()
  assert.deepEqual(await shown(1), [LARGE])
  assert.equal(await field.inputValue(), 'checkout cur')
  await page.goForward()
  await page.getByRole('heading', { level: 1, name: 'Make the checkout survive' }).waitFor()
  await page.goBack()
  await field.fill('nothing has this')
  await page.getByText('No session matches').waitFor()
  await page.getByRole('button', { name: 'Clear Filter sessions' }).click()
  await waitForQuery({})
  assert.equal(await field.evaluate((element) => element === document.activeElement), true)
  await field.fill('nothing has this')
  await page.getByText('No session matches').waitFor()
  await page.getByRole('button', { name: 'Clear the filters' }).click()
  assert.equal((await shown(listed().length)).length, listed().length)
  assert.deepEqual([query(), await field.inputValue()], [{}, ''])
})

test('j and k move, Enter opens, x selects two, c compares them', async () => {
  await browser.goto('/sessions')
  const all = await shown(listed().length)
  const active = () => page.evaluate(() => Number(document.querySelector('[role="row"][aria-selected="true"]')?.ariaRowIndex ?? 0))
  for (const [key, at] of [['j', 1], ['j', 2], ['j', 3], ['k', 2]]) {
    await page.keyboard.press(key)
    assert.equal(await active(), at)
  }
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/sessions/${all[1]}`)
  await page.goBack()
  await shown(all.length)
  assert.equal(await active(), 2, 'the place in the list is kept')
  await page.keyboard.press('x')
  await page.getByText('Select one more session to compare').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByText('Two sessions selected').waitFor()
  assert.equal(query().compare, `${all[1]},${all[2]}`)
  await page.keyboard.press('c')
  await page.waitForURL(`**/compare/${all[1]}/${all[2]}`)
})

test('a session has its turns with calls, failures, loops and compactions, and its context drawn', async () => {
  await browser.goto(`/sessions/${LARGE}`)
  const { turns } = json('show', LARGE)
  const grid = page.getByRole('grid', { name: 'Turns' })
  await grid.getByText('12', { exact: true }).or(grid.getByText('1', { exact: true })).first().waitFor()
  assert.equal(await grid.getAttribute('aria-rowcount'), String(turns.length))
  const turn = (number) => grid.locator(`[aria-rowindex="${number + 1}"]`)
  for (const number of [0, 3]) {
    const text = await turn(number).innerText()
    assert.match(text, new RegExp(`${turns[number].tool_calls} calls`))
    assert.match(text, new RegExp(turns[number].user_message))
  }
  assert.equal(turns[3].failed_tools, 8)
  await turn(3).getByText('8 failed').waitFor()
  await turn(3).getByText(/^\d+ loops?$/).waitFor()
  assert.equal(await turn(0).getByText(/failed|loop|compacted/).count(), 0)
  await grid.focus()
  await page.keyboard.press('End')
  await turn(11).waitFor()
  await turn(7).getByText('compacted').waitFor()

  // The chart says in words what it draws.
  const growth = json('usage', '--explain', LARGE).logs[0].reports.map(({ reported }) => reported.total - reported.output)
  const chart = page.getByRole('figure')
  await chart.getByText('compaction').first().waitFor()
  const drawn = await chart.locator('canvas').evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return data.some((value) => value !== 0)
  })
  assert.equal(drawn, true)
  const short = (value) => `${Math.round(value / 100) / 10}k`
  assert.match(await chart.innerText(), new RegExp(`${short(Math.max(...growth)).replace('.', '\\.')}`))

  // A turn leads to its first event.
  await turn(7).click()
  await page.waitForURL(`**/sessions/${LARGE}/events/${turns[7].first_event}`)
  await page.getByRole('complementary', { name: `Event ${turns[7].first_event}` }).getByText('Part 7 of the checkout').waitFor()
})

test('filters of events show only theirs, and f goes from failure to failure', async () => {
  await browser.goto(`/sessions/${LARGE}`)
  const events = page.getByRole('grid', { name: 'Events' })
  await page.getByRole('button', { name: /^Failed/ }).click()
  await page.waitForFunction(() => document.querySelector('[role="grid"][aria-label="Events"]')?.ariaRowCount === '8')
  assert.deepEqual(query(), { show: 'failed' })
  await page.reload()
  await events.getByRole('row').first().waitFor()
  assert.equal(await events.getAttribute('aria-rowcount'), '8')
  await events.getByText('Result failed').first().waitFor()
  assert.equal(await events.getByText('Result failed').count(), 8)
  await page.getByRole('button', { name: /^Failed/ }).click()
  await page.waitForFunction(() => Number(document.querySelector('[role="grid"][aria-label="Events"]')?.ariaRowCount) > 100)
  const visited = []
  for (const key of ['f', 'f', 'F']) {
    const from = page.url()
    await page.keyboard.press(key)
    await page.waitForURL((url) => url.href !== from)
    visited.push(Number(page.url().split('/').at(-1)))
  }
  for (const number of visited) assert.equal(json('event', LARGE, String(number)).payload.is_error ?? json('event', LARGE, String(number)).payload.failed, true, String(number))
  assert.ok(visited[0] < visited[1] && visited[2] === visited[0])
})

function isJson(text) {
  try {
    return typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

/** Scrolls through the open event and returns its whole text. */
async function wholeText() {
  const lines = page.getByRole('complementary').locator('[data-block]')
  await lines.first().waitFor()
  for (let index = 0; index < (await lines.count()); index += 1) {
    await lines.nth(index).scrollIntoViewIfNeeded()
    await lines.nth(index).locator('.line').first().waitFor()
  }
  return page.getByRole('complementary').locator('bdi.text').evaluateAll((texts) => texts.map((text) => text.textContent).join('\n'))
}

test('the arrows of an open event go to its neighbours among the shown events', async () => {
  const numberOf = (url) => Number(url.pathname.split('/').at(-1))
  const press = async (name, isThere) => {
    await page.getByRole('complementary').getByRole('button', { name }).click()
    await page.waitForURL((url) => isThere(numberOf(url)))
  }
  await browser.goto(`/sessions/${LARGE}/events/7`)
  await press('Next event', (number) => number === 8)
  await press('Previous event', (number) => number === 7)
  await browser.goto(`/sessions/${LARGE}?show=failed`)
  await page.getByRole('grid', { name: 'Events' }).getByRole('row').first().click()
  await page.waitForURL('**/events/*')
  const first = numberOf(new URL(page.url()))
  await press('Next event', (number) => number > first + 1)
  // From an event that is not shown, to the next one that is.
  await browser.goto(`/sessions/${LARGE}/events/${first - 1}?show=failed`)
  await press('Next event', (number) => number === first)
})

test('the arrows of an open event leave the list in place, and end where it ends', async () => {
  const grid = page.getByRole('grid', { name: 'Events' })
  const arrow = (name) => page.getByRole('complementary').getByRole('button', { name })
  const top = async () => {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
    return grid.evaluate((element) => element.scrollTop)
  }
  await browser.goto(`/sessions/${LARGE}/events/200`)
  await grid.locator('[aria-rowindex="201"][aria-selected="true"]').waitFor()
  const before = await top()
  assert.ok(before > 0)
  for (const number of [201, 202, 203]) {
    await arrow('Next event').click()
    await page.waitForURL(`**/events/${number}`)
    assert.equal(await top(), before, String(number))
  }
  await browser.goto(`/sessions/${LARGE}/events/0`)
  await grid.waitFor()
  assert.deepEqual([await arrow('Previous event').isDisabled(), await arrow('Next event').isDisabled()], [true, false])
  await browser.goto(`/sessions/${LARGE}/events/${Number(await grid.getAttribute('aria-rowcount')) - 1}`)
  await grid.waitFor()
  assert.deepEqual([await arrow('Previous event').isDisabled(), await arrow('Next event').isDisabled()], [false, true])
})

test('an event that the filter leaves out is shown when it is asked for', async () => {
  const panel = (number) => page.getByRole('complementary', { name: `Event ${number}`, exact: true })
  const rows = page.getByRole('grid', { name: 'Events' }).getByRole('row')
  // The list has been drawn, and what follows from that has happened.
  const drawn = async () => {
    await rows.first().getByText('failed').first().waitFor()
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  }
  await browser.goto(`/sessions/${LARGE}/events/7?show=failed`)
  await drawn()
  await panel(7).waitFor()
  assert.equal(new URL(page.url()).pathname, `/sessions/${LARGE}/events/7`)

  await browser.goto(`/sessions/${LARGE}?show=failed`)
  await drawn()
  await rows.first().click()
  await page.waitForURL('**/events/*')
  const failed = Number(new URL(page.url()).pathname.split('/').at(-1))
  const { row } = await page.evaluate((path) => fetch(path).then((answer) => answer.json()), `/api/page/sessions/${LARGE}/events/${failed}`)
  await panel(failed).getByRole('button', { name: 'Its call' }).click()
  await panel(row.partner).getByText('cargo test -p checkout').first().waitFor()
  await drawn()
  assert.equal(new URL(page.url()).pathname, `/sessions/${LARGE}/events/${row.partner}`)

  // Without the filter the same event is the active row.
  await page.getByRole('button', { name: /^Failed/ }).click()
  await page.locator(`[role="grid"][aria-label="Events"] [role="row"][aria-rowindex="${row.partner + 1}"][aria-selected="true"]`).waitFor()
  assert.equal(new URL(page.url()).pathname, `/sessions/${LARGE}/events/${row.partner}`)
})

test('an event shows the whole of what the log has', async () => {
  const { matches } = json('search', 'needle-in-the-result')
  const number = matches[0].event_index
  await browser.goto(`/sessions/${LARGE}/events/${number}`)
  assert.equal(await wholeText(), RESULT)
  const side = page.getByRole('complementary', { name: `Event ${number}` })
  await side.getByText('line 2999').waitFor()
  // The call of the result, and back.
  await side.getByRole('button', { name: 'Its call' }).click()
  await page.waitForURL((url) => !url.pathname.endsWith(`/${number}`))
  const call = Number(page.url().split('/').at(-1))
  assert.deepEqual(JSON.parse(await wholeText()), json('event', LARGE, String(call)).payload.arguments)
  await page.keyboard.press('Escape')
  await page.waitForURL(`**/sessions/${LARGE}`)
  // Events of a session that a real agent wrote: every third is of every kind.
  const { event_count } = json('show', REAL)
  for (let event = 0; event < event_count; event += 3) {
    const { payload } = json('event', REAL, String(event))
    await browser.goto(`/sessions/${REAL}/events/${event}`)
    await page.getByRole('complementary', { name: `Event ${event}` }).getByRole('button', { name: 'Copy' }).waitFor()
    const text = payload.text ?? payload.content
    if (text === '') await page.getByText('This event has no text.').waitFor()
    else if (typeof text === 'string' && !isJson(text) && payload.arguments === undefined) assert.equal((await wholeText()).trim(), text.trim(), `event ${event}`)
    else assert.deepEqual(JSON.parse(await wholeText()), payload.arguments ?? (text ? JSON.parse(text) : payload), `event ${event}`)
  }
})

test('the analysis has the score with its parts and leads to each finding', async () => {
  await browser.goto(`/sessions/${LARGE}?tab=analysis`)
  const analysis = json('analyze', LARGE)
  const table = page.getByRole('table', { name: 'What the score lost' })
  const parts = (await table.getByRole('row').evaluateAll((rows) => rows.slice(1).map((row) => [...row.cells].map((cell) => cell.textContent.trim())))).map(([points, what, , count]) => [points, what, count])
  assert.deepEqual(parts, analysis.deductions.map(({ points, what, count }) => [`−${points}`, what, String(count)]))
  assert.equal(analysis.score, 100 - analysis.deductions.reduce((sum, { points }) => sum + points, 0))
  await page.getByRole('tab', { name: `Analysis ${analysis.score}` }).waitFor()
  await page.getByText(`of 100`).first().waitFor()
  const findings = page.getByRole('region', { name: 'Findings' }).getByRole('link')
  assert.equal(await findings.count(), analysis.insights.length)
  const loop = analysis.insights.find(({ lens }) => lens === 'Loops')
  await findings.filter({ hasText: 'Loops' }).first().click()
  await page.waitForURL(`**/sessions/${LARGE}/events/${loop.event_index}`)
  await page.getByRole('grid', { name: 'Events' }).locator('[aria-selected="true"]').filter({ hasText: 'Exit code 101' }).waitFor()
})

test('models, tools and subagents are those of the command line', async () => {
  await browser.goto(`/sessions/${FAMILY}?tab=usage`)
  const { tools, family } = json('show', FAMILY)
  const rows = async (name) => page.getByRole('table', { name }).getByRole('row').evaluateAll((rows) => rows.slice(1).map((row) => [...row.cells].map((cell) => cell.textContent.trim())))
  assert.deepEqual((await rows('Tools')).map(([name, calls, failed]) => [name, calls, failed]), Object.entries(tools).map(([name, { calls, failed }]) => [name, String(calls), String(failed)]))
  const models = await rows('Tokens and cost by model')
  assert.deepEqual(models.map(([model]) => model), ['claude-opus-5-5', 'unheard-of-model'])
  assert.equal(models[1].at(-1), '–')
  await page.getByRole('table', { name: 'Subagents and forks' }).getByTitle(`${whole.format(family[0].total_tokens)} tokens`).waitFor()
  await page.getByRole('table', { name: 'Subagents and forks' }).getByRole('link').first().click()
  await page.waitForURL(`**/sessions/${family[0].id}`)
  await page.getByRole('link', { name: 'Find the grammars' }).click()
  await page.waitForURL(`**/sessions/${FAMILY}`)
})

test('a hit of the search opens the session at its place', async () => {
  await browser.goto('/search')
  await page.keyboard.type('needle-in-the')
  await page.getByRole('link', { name: /needle-in-the-result/ }).first().waitFor()
  const { matches } = json('search', 'needle-in-the')
  const hits = page.locator('a.hit')
  assert.deepEqual(await hits.evaluateAll((links) => links.map((link) => link.getAttribute('href').split('?')[0])), matches.map(({ session_id, event_index }) => `/sessions/${session_id}/events/${event_index}`))
  assert.deepEqual(await hits.first().locator('mark').allInnerTexts(), ['needle-in-the'])
  await page.keyboard.press('Escape')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  const number = matches[0].event_index
  await page.waitForURL(`**/sessions/${LARGE}/events/${number}?find=needle-in-the`)
  const isInView = (element) => {
    const { top, bottom } = element.getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight && document.elementFromPoint(element.getBoundingClientRect().left + 5, (top + bottom) / 2)?.closest('[role="row"], .line') === element.closest('[role="row"], .line')
  }
  const selected = page.getByRole('grid', { name: 'Events' }).locator('[aria-selected="true"]')
  await selected.filter({ hasText: String(number) }).waitFor()
  assert.equal(await selected.evaluate(isInView), true, 'the event is in view')
  const line = page.getByRole('complementary').locator('.line.hit')
  await line.waitFor()
  assert.match(await line.innerText(), /needle-in-the-result/)
  await page.waitForFunction(() => {
    const { top, bottom } = document.querySelector('aside .line.hit').getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight
  })
  assert.equal(await page.evaluate(() => document.querySelector('main').scrollTop), 0, 'the page around it stays')
  await page.goBack()
  await hits.first().waitFor()
  assert.equal(await page.getByRole('searchbox', { name: 'Search past sessions' }).inputValue(), 'needle-in-the')

  // In a subagent, and by words and expressions.
  for (const [search, text] of [['?q=needle-of-the-subagent', 'needle-of-the-subagent'], ['?mode=words&q=result+needle', 'needle-in-the-result'], ['?mode=regex&q=needle-in-.*sult', 'needle-in-the-result']]) {
    await browser.goto(`/search${search}`)
    await hits.first().click()
    await page.getByRole('complementary').locator('.line.hit').filter({ hasText: text }).first().waitFor()
  }
})

test('coming back from a match finds the list as it was', async () => {
  await browser.goto('/search?q=part_')
  const hits = page.locator('a.hit')
  const more = page.getByRole('button', { name: 'More matches' })
  await more.click()
  await page.waitForFunction(() => document.querySelectorAll('a.hit').length > 50)
  const count = await hits.count()
  const hit = hits.nth(60)
  await hit.scrollIntoViewIfNeeded()
  const top = await page.evaluate(() => document.querySelector('.results').scrollTop)
  assert.ok(top > 0)
  // The event of the scrolling comes with the next frame.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
  await hit.click()
  await page.getByRole('complementary').waitFor()
  await page.goBack()
  await hits.first().waitFor()
  await page.waitForFunction(({ count, top }) => document.querySelectorAll('a.hit').length === count && Math.abs(document.querySelector('.results').scrollTop - top) < 2, { count, top })
})

test('filters of an address that are not among the choices are shown, and choices that cannot be loaded are said', async (context) => {
  await browser.goto('/sessions?client=unheard-of&days=3')
  assert.equal(await page.getByLabel('Client').inputValue(), 'unheard-of')
  assert.equal(await page.getByLabel('Time').inputValue(), '3')

  const filters = '**/api/page/sessions/filters'
  await page.route(filters, (route) => route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'the disk is full' } } }))
  context.after(() => page.unroute(filters))
  for (const path of ['/sessions', '/search?q=part_']) {
    await browser.goto(path)
    await page.getByRole('alert').filter({ hasText: 'Clients and projects could not be loaded' }).waitFor()
  }
  browser.complaints.length = 0
})

test('a list that failed shows that it is loading again', async (context) => {
  const sessions = /\/api\/page\/sessions\?/
  let answer = (route) => route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'the disk is full' } } })
  await page.route(sessions, (route) => answer(route))
  context.after(() => page.unroute(sessions))
  await browser.goto('/sessions')
  const retry = page.getByRole('alert').getByRole('button', { name: 'Try again' })
  await retry.waitFor()
  let release
  const held = new Promise((done) => (release = done))
  answer = async (route) => {
    await held
    await route.continue()
  }
  await retry.click()
  await page.getByText('Sessions: loading').waitFor({ state: 'attached' })
  release()
  await list().waitFor()
  browser.complaints.length = 0
})

test('a comparison has the figures of both sessions', async () => {
  await browser.goto(`/compare/${LARGE}/${FAMILY}`)
  const table = page.getByRole('table', { name: 'Figures of both sessions' })
  const cells = (label) => table.getByRole('row', { name: new RegExp(`^${label}`) }).getByRole('cell')
  const figures = async (label) => (await cells(label).evaluateAll((cells) => cells.map((cell) => (cell.title || cell.textContent).trim()))).slice(0, 2)
  const sides = [LARGE, FAMILY].map((id) => ({ ...json('analyze', id), shown: json('show', id), usage: usageOf(id) }))
  const both = (of) => sides.map((side) => (typeof of(side) === 'number' ? whole.format(of(side)) : of(side)))
  for (const [label, of] of [
    ['Score', ({ score }) => score],
    ['Tokens', ({ usage }) => usage.tokens.total],
    ['Input', ({ usage }) => usage.tokens.input],
    ['Cache read', ({ usage }) => usage.tokens.cache_read],
    ['Cache write', ({ usage }) => usage.tokens.cache_creation],
    ['Output', ({ usage }) => usage.tokens.output],
    ['Turns', ({ shown }) => shown.turn_count],
    ['Requests', ({ usage }) => usage.requests],
    ['Messages', ({ summary }) => summary.event_counts.assistant_messages],
    ['Tool calls', ({ summary }) => summary.event_counts.tool_calls],
    ['Failed calls', ({ summary }) => summary.failed_tool_calls],
    ['Largest context', ({ summary }) => summary.largest_context],
    ['Compactions', ({ summary }) => summary.compactions],
    ['Subagents', ({ shown }) => shown.family.length],
  ]) assert.deepEqual(await figures(label), both(of), label)
  // The subagent's model has no price: the cost is the least that it can be, and cannot be compared.
  assert.deepEqual(await cells('Cost').allInnerTexts(), [...sides.map(({ usage }) => money(usage)), '–'])
  assert.deepEqual(sides.map(({ usage }) => usage.isPartial), [false, true])
  await page.getByRole('link', { name: 'Swap' }).click()
  await page.waitForURL(`**/compare/${FAMILY}/${LARGE}`)
  await page.waitForFunction((title) => document.querySelector('main a.side')?.textContent.includes(title), 'Find the grammars')
})

test('a session that is being written shows what is new, and what is read stays in place', async () => {
  const live = world.startLiveSession()
  live.add(...Array.from({ length: 40 }, (_, number) => `step ${number}`))
  const { event_count } = json('show', live.id)
  await browser.goto(`/sessions/${live.id}`)
  const events = page.getByRole('grid', { name: 'Events' })
  await events.getByText('step 0', { exact: true }).first().waitFor()
  await page.locator('.live.live').waitFor()
  assert.equal(await events.getAttribute('aria-rowcount'), String(event_count))
  const place = () => events.locator('[aria-rowindex="2"]').evaluate((row) => row.getBoundingClientRect().top)
  const top = await place()
  live.add('the last step')
  await page.getByRole('button', { name: '3 new events' }).waitFor()
  await page.waitForFunction((count) => Number(document.querySelector('[role="grid"][aria-label="Events"]').ariaRowCount) === count, event_count + 3)
  assert.equal(await place(), top)
  await page.getByRole('button', { name: '3 new events' }).click()
  await events.getByText('the last step').first().waitFor()
  assert.equal(json('show', live.id).event_count, event_count + 3)
})

test('on a phone an event covers the list, and closing it returns to its place', async (context) => {
  const phone = await Browser.open(world, { size: 'phone' })
  context.after(() => phone.close())
  await phone.goto(`/sessions/${LARGE}/events/200`)
  const side = phone.page.getByRole('complementary', { name: 'Event 200' })
  await side.getByRole('button', { name: 'Copy' }).waitFor()
  const { width, height } = await side.boundingBox()
  assert.deepEqual({ width, height }, phone.page.viewportSize())
  // The list behind it is out of reach: the focus is in what covers it, and back in the list afterwards.
  await phone.page.waitForFunction(() => document.activeElement?.closest('aside[aria-label="Event 200"]') && document.querySelector('[role="grid"][aria-label="Events"]')?.closest('[inert]'))
  await side.getByRole('button', { name: 'Close (Esc)' }).click()
  await side.waitFor({ state: 'detached' })
  await phone.page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Events')
  const row = phone.page.getByRole('grid', { name: 'Events' }).locator('[aria-rowindex="201"]')
  await row.waitFor()
  const { y } = await row.boundingBox()
  assert.ok(y > 100 && y < 800, `at ${y}`)
  await phone.page.getByRole('tab', { name: /^Turns/ }).click()
  await phone.page.getByRole('grid', { name: 'Turns' }).getByText('Part 3 of the checkout').click()
  await phone.page.waitForURL(`**/sessions/${LARGE}/events/*`)
  await phone.page.getByRole('complementary').getByText('Part 3 of the checkout').waitFor()
  assert.deepEqual(phone.complaints, [])
})

test('no state of these pages violates accessibility or complains', async () => {
  assert.deepEqual(browser.complaints, [], 'in the tests before')
  const states = [`/sessions?failed=1&compare=${LARGE}`, '/sessions?q=nothing+has+this', `/sessions/${LARGE}?show=failed`, `/sessions/${LARGE}?tab=analysis`, `/sessions/${FAMILY}?tab=usage`, `/sessions/${LARGE}/events/40?find=fn`, '/search', '/search?q=nothing-has-this', `/compare/${FAMILY}/${LARGE}`]
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme })
    for (const path of states) {
      await browser.goto(path)
      assert.deepEqual(await browser.violations(), [], `${path}, ${scheme}`)
    }
  }
  assert.deepEqual(browser.complaints, [])
})
