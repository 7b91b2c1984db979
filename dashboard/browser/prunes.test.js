// Prunes: what was cut, why, what was recovered, and trying the engine. Compared with what the program itself printed.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Browser } from './browser.js'
import { World } from './world.js'

const world = new World()
let browser, page, id, output
before(async () => {
  await world.serve()
  ;[id] = world.addPrunes()
  output = world.run('prune', 'payments.log', '--goal', 'why did order 8812 fail')
  browser = await Browser.open(world)
  page = browser.page
})
after(async () => {
  await browser?.close()
  await world.close()
})

/** The line numbers of some rows, scrolled through from top to bottom. */
async function numbers(selector) {
  const region = page.getByRole('region', { name: 'Text before the prune' })
  await region.evaluate((element) => element.scrollTo(0, 0))
  const found = new Set()
  for (;;) {
    // Two frames: the view draws what it shows after the scrolling.
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
    await page.waitForFunction(() => document.querySelector('.view .waiting') === null)
    for (const number of await region.locator(selector).evaluateAll((rows) => rows.map((row) => Number(row.querySelector('[data-number]').dataset.number)))) found.add(number)
    const isEnd = await region.evaluate((element) => {
      const before = element.scrollTop
      element.scrollBy(0, element.clientHeight)
      return element.scrollTop === before
    })
    if (isEnd) return [...found].sort((one, other) => one - other)
  }
}

/** The lines that the markers of the program's output name. */
function markedLines(text) {
  const lines = []
  for (const [, from, to] of text.matchAll(/^\[tamis (?:cut )?(\d+)(?:-(\d+))?/gm)) {
    for (let line = Number(from); line <= Number(to ?? from); line += 1) lines.push(line)
  }
  return lines
}

test('the list has each prune with its goal, and filters that are in the address', async () => {
  await browser.goto('/prunes')
  const rows = page.getByRole('row').filter({ hasText: '→' })
  await rows.filter({ hasText: 'why did order 8812 fail' }).first().waitFor()
  await rows.filter({ hasText: 'how do I connect Codex?' }).first().waitFor()
  await page.getByLabel('Outcome').selectOption({ label: 'Recovered later' })
  await page.waitForFunction(() => new URLSearchParams(location.search).get('outcome') === 'recovered')
  await page.getByText('how do I connect Codex?').waitFor({ state: 'detached' })
  await rows.filter({ hasText: 'why did order 8812 fail' }).first().waitFor()
  await page.reload()
  await browser.settled()
  assert.equal(await page.getByLabel('Outcome').inputValue(), 'recovered')
  assert.equal(await page.getByText('how do I connect Codex?').count(), 0)
})

test('totals are those of the ledger', async () => {
  await browser.goto('/prunes')
  const totals = await page.evaluate(() => fetch('/api/page/prunes/summary').then((answer) => answer.json()))
  const { savings } = JSON.parse(world.run('data', 'show', '--json'))
  for (const name of Object.keys(savings)) assert.equal(totals[name], savings[name], name)
  await page.getByText(`${totals.cut_calls} calls cut something`).waitFor()
})

test('the cut lines are shaded, and those that were recovered are told apart', async () => {
  await browser.goto(`/prunes/${id}`)
  await page.getByText('why did order 8812 fail').first().waitFor()
  const marked = markedLines(output)
  assert.ok(marked.length > 20, output)
  assert.deepEqual(await numbers('.line.cut'), marked)
  assert.deepEqual(await numbers('.line.recovered'), marked.filter((line) => line >= 6 && line <= 20))
})

test('the view as shown to the model has folds instead of what was cut, and a fold opens', async () => {
  await browser.goto(`/prunes/${id}?view=shown`)
  const fold = page.locator('.line.fold button').first()
  await fold.waitFor()
  assert.equal(await page.locator('.line.cut').count(), 0)
  await fold.click()
  await page.locator('.line.cut').first().waitFor()
  assert.equal(await fold.getAttribute('aria-expanded'), 'true')
})

test('a prune of another process appears without a reload', async () => {
  await browser.goto('/prunes')
  await page.getByText('Live', { exact: true }).first().waitFor()
  world.run('prune', 'src/select.rs', '--goal', 'what happens to blocks that are smaller than their marker?')
  await page.getByText('what happens to blocks that are smaller than their marker?').first().waitFor()
})

test('the slider redraws at once, and a higher threshold never cuts less', async () => {
  await browser.goto('/try')
  const before = JSON.parse(world.run('data', 'show', '--json'))
  await page.getByRole('button', { name: 'Use an example' }).click()
  const slider = page.getByRole('slider', { name: 'Threshold' })
  await slider.waitFor()
  const requests = browser.requests.length
  /** Lines that are left, by the figure above the text. */
  const cut = async () => {
    const [, before, after] = /([\d,]+) → ([\d,]+)/.exec(await page.locator('dl', { hasText: 'Lines' }).innerText())
    return Number(before.replace(',', '')) - Number(after.replace(',', ''))
  }
  await slider.focus()
  await page.keyboard.press('Home')
  assert.equal(await cut(), 0)
  const most = Number(await slider.getAttribute('max'))
  let last = 0
  for (let step = 1; step <= most; step += 1) {
    await page.keyboard.press('ArrowRight')
    const now = await cut()
    assert.ok(now >= last, `step ${step}: ${now} lines after ${last}`)
    last = now
  }
  assert.ok(last > 0)
  assert.deepEqual(browser.requests.slice(requests), [], 'the answer had all thresholds')
  assert.match(page.url(), /threshold=/)
  assert.deepEqual(JSON.parse(world.run('data', 'show', '--json')), before, 'nothing is stored')
})

test('a text of one\'s own is tried as the program prunes it', async () => {
  await browser.goto('/try?view=shown')
  const text = Array.from({ length: 300 }, (_, line) => (line === 150 ? 'ERROR payment refused: card expired' : `INFO heartbeat ${line}: worker alive`)).join('\n')
  await page.getByRole('textbox', { name: 'Goal' }).fill('why was the payment refused')
  await page.getByRole('textbox', { name: 'Text' }).fill(text)
  // What is cut is folded, so the line that answers is in sight.
  const result = page.getByRole('region', { name: 'Result' })
  await result.getByText('card expired').waitFor()
  assert.ok((await result.locator('.fold').count()) >= 2)
  assert.deepEqual(browser.complaints, [])
})

test('the goal of a trial follows the address back and forward', async () => {
  await browser.goto('/try?goal=first')
  const goal = page.getByRole('textbox', { name: 'Goal' })
  const shows = (wanted) => page.waitForFunction((wanted) => [...document.querySelectorAll('input')].some((field) => field.labels?.[0]?.textContent === 'Goal' && field.value === wanted), wanted)
  await shows('first')
  await goal.fill('first, changed')
  await page.waitForFunction(() => new URLSearchParams(location.search).get('goal') === 'first, changed')
  await page.evaluate(() => {
    const link = document.body.appendChild(document.createElement('a'))
    link.href = '/try?goal=second'
    link.click()
    link.remove()
  })
  await shows('second')
  await page.goBack()
  await shows('first, changed')
  await page.goForward()
  await shows('second')
})
