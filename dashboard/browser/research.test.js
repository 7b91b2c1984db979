// Research: a question, the roles at work, the report with its lines, memos.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Browser } from './browser.js'
import { World } from './world.js'

const QUESTION = 'where are adjacent cuts joined'
const world = new World()
let browser, page
before(async () => {
  world.addPrunes()
  await world.serve()
  browser = await Browser.open(world)
  page = browser.page
})
after(async () => {
  await browser?.close()
  await world.close()
})

test('a question is answered with the references that the command line prints', async () => {
  await browser.goto('/research')
  await page.keyboard.press('i')
  await page.keyboard.type(QUESTION)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: QUESTION }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('q'), QUESTION)
  const steps = await page.getByRole('list', { name: 'Roles' }).getByRole('listitem').allInnerTexts()
  assert.ok(steps.length >= 2 && steps.every((step) => /done/.test(step)), steps.join(' | '))
  const report = JSON.parse(world.run('research', QUESTION, '--json'))
  const wanted = (report.synthesis ?? report.locator).references
  const article = page.getByRole('article')
  const shown = await article.locator('.references').first().getByRole('button').evaluateAll((buttons) => buttons.map((button) => button.title))
  assert.deepEqual(shown, wanted.map((reference) => (typeof reference === 'string' ? reference : reference.reference ?? `${reference.path}:${reference.lines}`)))
})

test('a reference shows its lines', async () => {
  await browser.goto(`/research?q=${encodeURIComponent(QUESTION)}`)
  const chip = page.getByRole('article').locator('.references').first().getByRole('button').first()
  await chip.click()
  const [, path, from, to] = /^(.*):(\d+)(?:-(\d+))?$/.exec(await chip.getAttribute('title'))
  const lines = page.getByRole('region', { name: `Lines of ${path}:` })
  await lines.waitFor()
  const named = await lines.locator('.line.hit').evaluateAll((rows) => rows.map((row) => [Number(row.querySelector('[data-number]').dataset.number), row.querySelector('.text').textContent]))
  const file = readFileSync(join(world.work, path), 'utf8').split('\n')
  const expected = file.slice(Number(from) - 1, Number(to ?? from)).map((line, index) => [Number(from) + index, line])
  assert.deepEqual(named, expected.slice(0, named.length))
  assert.ok(named.length > 0)
})

test('a report becomes a memo, which has an address of its own and notices changes', async () => {
  await browser.goto('/research')
  await page.getByLabel('Also write a memo').check()
  await page.getByRole('searchbox', { name: 'Question' }).fill(QUESTION)
  await page.getByRole('button', { name: 'Ask' }).click()
  await page.getByRole('link', { name: 'memo written' }).click()
  await page.getByText(/^Memo, written/).waitFor()
  const address = page.url()
  assert.match(address, /handoff=/)
  await page.reload()
  await page.getByRole('heading', { name: QUESTION }).waitFor()
  assert.equal(await page.getByText(/changed since/).count(), 0)
  await page.getByRole('complementary').getByText(QUESTION).waitFor()
})

test('a question without an answer says so, and the page complains of nothing', async () => {
  await browser.goto(`/research?q=${encodeURIComponent('where is the flux capacitor zzyzx calibrated')}`)
  await page.getByRole('article').waitFor()
  await page.getByText(/zzyzx/).nth(1).waitFor()
  assert.deepEqual(browser.complaints, [])
})
