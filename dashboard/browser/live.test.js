// What happens reaches the page by itself, also what happened while the server was gone.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Browser } from './browser.js'
import { World } from './world.js'

const world = new World()
let session
before(async () => {
  world.addSessions()
  session = world.startLiveSession()
  await world.serve()
})
after(() => world.close())

/** The commands in the list of live calls. */
const shown = (page) => page.getByRole('region', { name: 'Live calls' })

test('calls appear as they happen, and after a restart those that were missed', { timeout: 180_000 }, async (context) => {
  const browser = await Browser.open(world)
  context.after(() => browser.close())
  const { page } = browser
  await browser.goto('/')
  await page.getByText('Live', { exact: true }).first().waitFor()
  session.add('echo while-connected')
  await shown(page).getByText('echo while-connected').first().waitFor()

  await world.end()
  session.add('echo while-gone-1', 'echo while-gone-2')
  await page.getByText(/Reconnecting|Offline/).first().waitFor()
  await world.serve()
  for (const command of ['echo while-gone-1', 'echo while-gone-2']) {
    await shown(page).getByText(command).first().waitFor()
  }
  session.add('echo after-restart')
  await shown(page).getByText('echo after-restart').first().waitFor()
  for (const command of ['while-connected', 'while-gone-1', 'while-gone-2', 'after-restart']) {
    assert.equal(await shown(page).getByText(`echo ${command}`).count(), 1, command)
  }
})

test('the page follows an agent without a reload', { timeout: 180_000 }, async (context) => {
  const browser = await Browser.open(world)
  context.after(() => browser.close())
  const { page } = browser
  await browser.goto('/agents')
  const { coding, reviewers } = await world.addReviewLoop()
  await page.getByText(coding, { exact: true }).first().waitFor()
  for (const reviewer of reviewers) await page.locator(`a[href="/agents/${reviewer}"]`).first().waitFor()
})

test('a page of an older server stays with the offer to load the new one', async (context) => {
  const browser = await Browser.open(world, { signIn: false })
  context.after(() => browser.close())
  const { page } = browser
  let connections = 0
  await page.routeWebSocket(/\/api\/page\/live$/, (socket) => {
    connections += 1
    socket.send(JSON.stringify({ type: 'hello', server: connections === 1 ? '1.0.0' : '2.0.0', events_last: 0 }))
    if (connections === 1) setTimeout(() => socket.close(), 50)
  })
  await page.clock.install()
  await page.goto(world.link())
  await page.getByText('tamis 2.0.0 is running now').waitFor()
  // Other messages go by themselves.
  await page.clock.fastForward(60_000)
  await page.evaluate(() => (globalThis.__old = true))
  await page.getByRole('log', { name: 'Messages' }).getByRole('button', { name: 'Reload' }).click()
  await page.waitForFunction(() => globalThis.__old === undefined)
})
