// Answers that fail, that come late, and that are of another page than the one that is open.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Browser } from './browser.js'
import { ClaudeLog } from './logs.js'
import { World } from './world.js'

const ONE = 'd1d1d1d1-0000-4000-8000-000000000001'
const OTHER = 'd2d2d2d2-0000-4000-8000-000000000002'
const LINES = 6_500
const LONG = `${'wide '.repeat(2_000)}end of the long line`
const lineOf = (number) => (number === 6_000 ? LONG : `2026-11-16T10:00:00 worker ${number} finished its part`)

const world = new World()
let browser, page, prune
before(async () => {
  for (const [id, title] of [[ONE, 'The first session'], [OTHER, 'The second session']]) {
    const log = new ClaudeLog(world, id, { ago: 3600, cwd: '/srv/shop' }).title(title).prompt('Read the parts')
    for (let call = 0; call < 5; call += 1) log.call('Read', { file_path: `/srv/shop/${call}.rs` }, `fn part_${call}() {}`, { context: 20_000 + call * 1_000 })
    log.say('Read.', { context: 30_000, output: 100 }).write()
  }
  // The first page is of a session, which must be in the index.
  world.run('trace', 'sessions')
  await world.serve()
  writeFileSync(join(world.work, 'long.log'), Array.from({ length: LINES }, (_, index) => lineOf(index + 1)).join('\n'))
  prune = /prn_[A-Za-z0-9_]+/.exec(world.run('prune', 'long.log', '--goal', 'what did worker 3000 do'))[0]
  browser = await Browser.open(world)
  page = browser.page
})
after(async () => {
  await browser?.close()
  await world.close()
})

const failing = { status: 500, contentType: 'application/json', body: '{"error":{"code":"failed","message":"the disk is slow today"}}' }
/** Lets requests fail until the function that is returned is called. */
async function fail(url) {
  const handler = (route) => route.fulfill(failing)
  await page.route(url, handler)
  return () => page.unroute(url, handler)
}
const alert = (title) => page.getByRole('alert').filter({ hasText: title })
const retry = (title) => alert(title).getByRole('button', { name: 'Try again' }).click()
/** Goes to another page without loading the document anew, as a link does. */
const visit = (path) =>
  page.evaluate((path) => {
    const link = Object.assign(document.createElement('a'), { href: path })
    document.body.append(link)
    link.click()
    link.remove()
  }, path)

test('a session that fails is not drawn with what another had', async () => {
  await browser.goto(`/sessions/${ONE}`)
  await page.getByRole('heading', { name: 'The first session' }).waitFor()
  const mend = await fail(`**/api/page/sessions/${OTHER}`)
  await visit(`/sessions/${OTHER}`)
  await alert('Session could not be loaded').waitFor()
  assert.equal(await page.getByText('The first session').count(), 0)
  await mend()
  await retry('Session could not be loaded')
  await page.getByRole('heading', { name: 'The second session' }).waitFor()
})

test('an event that fails is not drawn with what another had', async () => {
  await browser.goto(`/sessions/${ONE}/events/2`)
  await page.getByRole('complementary').getByText('Kind').waitFor()
  const mend = await fail(`**/api/page/sessions/${ONE}/events/5`)
  await visit(`/sessions/${ONE}/events/5`)
  await alert('Event could not be loaded').waitFor()
  assert.equal(await page.getByRole('complementary').getByText('Kind').count(), 0)
  await mend()
  await retry('Event could not be loaded')
  await page.getByRole('complementary').getByText('Kind').waitFor()
})

test('an outline that fails says so, and is loaded again', async () => {
  const mend = await fail(`**/api/page/sessions/${ONE}/outline`)
  await browser.goto(`/sessions/${ONE}?show=calls`)
  await alert('The outline of the session could not be loaded').waitFor()
  await mend()
  await retry('The outline of the session could not be loaded')
  await page.waitForFunction(() => document.querySelector('[role="grid"][aria-label="Events"]')?.ariaRowCount === '5')
  assert.equal(await page.getByRole('alert').count(), 0)
})

test('a part of an original that fails leaves the rest, and is loaded again', async () => {
  const mend = await fail(/\/lines\?from=[2-9]\d{3}/)
  await browser.goto(`/prunes/${prune}`)
  const text = page.getByRole('region', { name: 'Text before the prune' })
  await text.getByText('worker 1 finished').waitFor()
  await text.evaluate((element) => element.scrollTo(0, 3_000 * 20))
  await alert('A part of the original could not be loaded').waitFor()
  await text.waitFor()
  await mend()
  await retry('A part of the original could not be loaded')
  await text.getByText(/worker 30\d\d finished/).first().waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
})

test('the whole original is tried, what it lacks is said, and a failure to load it has its own retry', async () => {
  const mend = await fail(/\/lines\?/)
  await browser.goto(`/try?prune=${prune}`)
  await alert('The text of the prune could not be loaded').waitFor()
  await mend()
  await retry('The text of the prune could not be loaded')
  const field = page.getByRole('textbox', { name: 'Text' })
  await page.waitForFunction((count) => document.querySelector('textarea').value.split('\n').length === count, LINES)
  await page.getByRole('note').filter({ hasText: 'the ends of 1 long line are left out' }).waitFor()
  assert.equal((await field.inputValue()).split('\n')[LINES - 1], lineOf(LINES))
  // An edited text is not the original any more: coming back brings that.
  await field.fill('something else')
  await page.getByRole('note').filter({ hasText: 'long line' }).waitFor({ state: 'detached' })
  await visit(`/prunes/${prune}`)
  await page.getByRole('link', { name: 'Try other goals' }).click()
  await page.waitForFunction((count) => document.querySelector('textarea')?.value.split('\n').length === count, LINES)
})

test('what is reloaded faster than it is answered arrives', async () => {
  let release
  const held = new Promise((done) => (release = done))
  const asked = []
  await page.route('**/api/page/prunes/summary*', async (route) => {
    asked.push(route.request())
    if (asked.length === 1) await held
    await route.continue().catch(() => {})
  })
  const failed = []
  page.on('requestfailed', (request) => request.url().includes('/api/page/prunes') && failed.push(request.url()))
  await page.goto(`${world.origin}/prunes`)
  for (const goal of ['how is the first reload counted?', 'how is the second reload counted?']) {
    world.run('prune', 'long.log', '--goal', goal)
    await page.getByText(goal).first().waitFor()
  }
  // The list was loaded twice meanwhile; the totals still wait for their first answer.
  assert.deepEqual([asked.length, failed], [1, []])
  const again = page.waitForRequest((request) => request.url().includes('/prunes/summary') && asked.length > 0)
  release()
  await again
  await page.getByText('Tokens cut').first().waitFor()
  assert.equal(asked.length, 2)
})
