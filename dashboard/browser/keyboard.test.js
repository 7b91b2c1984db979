// The page without a mouse.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Browser } from './browser.js'
import { World } from './world.js'

const world = new World()
let browser
before(async () => {
  world.addSessions()
  await world.serve()
  browser = await Browser.open(world)
})
after(async () => {
  await browser.close()
  await world.close()
})

const path = () => new URL(browser.page.url()).pathname

test('two letters go to each page', async () => {
  await browser.goto('/')
  for (const [keys, wanted] of [['gs', '/sessions'], ['gp', '/prunes'], ['ga', '/agents'], ['gr', '/research'], ['g,', '/settings'], ['gn', '/']]) {
    for (const key of keys) await browser.page.keyboard.press(key)
    await browser.page.waitForFunction((wanted) => location.pathname === wanted, wanted)
  }
})

test('a slash goes to the search, and letters in a field are letters', async () => {
  await browser.goto('/')
  await browser.page.keyboard.press('/')
  await browser.page.keyboard.type('gs?')
  const typed = await browser.page.evaluate(() => document.activeElement?.value)
  assert.equal(typed, 'gs?')
  assert.equal(path(), '/')
  await browser.page.keyboard.press('Enter')
  await browser.page.waitForFunction(() => location.pathname === '/search')
  assert.equal(new URL(browser.page.url()).searchParams.get('q'), 'gs?')
})

test('the palette finds pages, and question mark shows the keys', async () => {
  await browser.goto('/')
  await browser.page.keyboard.press('Control+k')
  await browser.page.keyboard.type('settings')
  await browser.page.keyboard.press('Enter')
  await browser.page.waitForFunction(() => location.pathname === '/settings')
  await browser.page.keyboard.press('?')
  await browser.page.getByRole('dialog').waitFor()
  await browser.page.keyboard.press('Escape')
  await browser.page.getByRole('dialog').waitFor({ state: 'hidden' })
})

test('the palette opens on every page, with each command once', async () => {
  for (const path of ['/', '/sessions', '/search', '/prunes', '/try', '/agents', '/research', '/settings', '/components']) {
    browser.complaints.length = 0
    await browser.goto(path)
    await browser.page.keyboard.press('Control+k')
    const options = browser.page.getByRole('dialog').getByRole('option')
    await options.filter({ hasText: 'Theme: dark' }).waitFor()
    const titles = (await options.allInnerTexts()).map((text) => text.trim()).filter((text) => /^(Disconnect|Sign out)/.test(text))
    assert.equal(titles.length, 1, path)
    assert.deepEqual(browser.complaints, [], path)
    await browser.page.keyboard.press('Escape')
    await browser.page.getByRole('dialog').waitFor({ state: 'hidden' })
  }
})

test('j and k move in the list of sessions, Enter opens, and going back returns', async () => {
  await browser.goto('/sessions')
  await browser.page.getByRole('row').nth(3).waitFor()
  for (const key of ['j', 'j', 'k', 'Enter']) await browser.page.keyboard.press(key)
  await browser.page.waitForFunction(() => /^\/sessions\/./.test(location.pathname))
  await browser.page.goBack()
  await browser.page.waitForFunction(() => location.pathname === '/sessions')
})

test('after a click the arrows go on from that row, and the space bar selects to compare', async () => {
  await browser.goto('/sessions')
  const grid = browser.page.getByRole('grid', { name: 'Sessions' })
  const row = (index) => grid.locator(`[aria-rowindex="${index}"]`)
  await row(3).getByRole('checkbox').click()
  await row(3).locator('[type=checkbox]:checked').waitFor()
  await browser.page.keyboard.press('ArrowDown')
  assert.equal(await row(4).getAttribute('aria-selected'), 'true')
  await browser.page.keyboard.press(' ')
  await row(4).locator('[type=checkbox]:checked').waitFor()
  await browser.page.getByText('Two sessions selected').waitFor()
})

test('a click on an event leaves the arrows in the list', async () => {
  await browser.goto('/sessions/6e190b0e-1444-4d7a-a82b-3469ccf8c19e')
  const row = (index) => browser.page.getByRole('grid', { name: 'Events' }).locator(`[aria-rowindex="${index}"]`)
  await row(2).locator('.text').click()
  await browser.page.getByRole('complementary', { name: 'Event 1' }).waitFor()
  await browser.page.keyboard.press('ArrowDown')
  await browser.page.getByRole('complementary', { name: 'Event 2' }).waitFor()
})

test('keys with other modifiers are left to the browser', async () => {
  await browser.goto('/')
  for (const keys of ['Control+Shift+K', 'Meta+k', 'Control+k']) await browser.page.keyboard.press(keys)
  // The first two would have opened and closed it.
  await browser.page.getByRole('dialog', { name: 'Command palette' }).waitFor()
  await browser.page.keyboard.press('Escape')
})

test('the first tab stop skips to the content', async () => {
  await browser.goto('/sessions')
  // As after a click on the empty frame.
  await browser.page.evaluate(() => document.activeElement?.blur())
  await browser.page.keyboard.press('Shift+Tab')
  await browser.page.evaluate(() => document.querySelector('.skip').focus())
  assert.equal(await browser.page.evaluate(() => document.activeElement?.textContent), 'Skip to content')
  await browser.page.keyboard.press('Enter')
  assert.equal(await browser.page.evaluate(() => document.activeElement?.id), 'main')
})
