// Settings and health: the same as the command line says.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Browser } from './browser.js'
import { World } from './world.js'

const world = new World()
let browser, page
before(async () => {
  world.addSessions()
  await world.serve()
  browser = await Browser.open(world)
  page = browser.page
})
after(async () => {
  await browser?.close()
  await world.close()
})

test('each setting has its value and its source', async () => {
  world.run('config', 'set', 'redact.output', 'true')
  await browser.goto('/settings')
  const row = (name) => page.getByRole('row').filter({ has: page.locator('code', { hasText: new RegExp(`^${name.replace('.', '\\.')}$`) }) })
  await row('research.roots').getByText(world.work).first().waitFor()
  await row('research.roots').getByText('TAMIS_ROOTS').first().waitFor()
  const all = await page.locator('tbody tr').count()
  await page.getByRole('searchbox', { name: 'Filter settings' }).fill('redact')
  await page.waitForFunction((all) => document.querySelectorAll('tbody tr').length < all, all)
  await page.waitForFunction(() => new URLSearchParams(location.search).get('filter') === 'redact')
  const names = await page.locator('tbody tr code').allInnerTexts()
  assert.ok(names.includes('redact.output'), names.join())
  await page.reload()
  await row('redact.output').waitFor()
})

test('the doctor finds the same on the page and on the command line', async () => {
  await browser.goto('/settings')
  const findings = page.getByRole('list', { name: 'Findings' })
  await findings.waitFor()
  let printed
  try {
    printed = JSON.parse(world.run('doctor', '--json'))
  } catch (error) {
    printed = JSON.parse(error.stdout)
  }
  const list = printed.findings ?? printed
  const shown = await findings.getByRole('listitem').allInnerTexts()
  assert.equal(shown.length, list.length, JSON.stringify(list, null, 1))
  for (const { subject } of list) assert.ok(shown.some((text) => text.toLowerCase().includes(`${subject.toLowerCase()}:`)), subject)
})

test('a copy that the browser blocks is said, with the key that copies', async () => {
  await browser.goto('/settings')
  await page.evaluate(() => (navigator.clipboard.writeText = () => Promise.reject(new Error('blocked'))))
  await page.getByRole('button', { name: 'Copy tamis config set NAME VALUE' }).click()
  await page.getByText('Press Ctrl-C to copy').waitFor()
  assert.equal(await page.evaluate(() => getSelection()?.toString()), 'tamis config set NAME VALUE')
})

test('signing out leads to the page that says how to get in again', async () => {
  await browser.goto('/settings')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('tamis open').first().waitFor()
  assert.equal(await page.evaluate(() => fetch('/api/page/settings').then((answer) => answer.status)), 401)
})
