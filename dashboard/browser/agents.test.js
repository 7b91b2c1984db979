// Agents: a real review loop, followed live, and what can be done with it from the page.

import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Browser } from './browser.js'
import { World } from './world.js'

const world = new World()
let browser, page, coding, reviewers
before(async () => {
  await world.serve()
  ;({ coding, reviewers } = await world.addReviewLoop())
  browser = await Browser.open(world)
  page = browser.page
})
after(async () => {
  await browser?.close()
  await world.close()
})

const show = (id) => JSON.parse(world.run('agents', 'show', id, '--json'))

test('the agents and their reviews are drawn, with what each iteration came to', async () => {
  await browser.goto('/agents')
  const family = page.getByRole('group', { name: /review/ }).first()
  for (const label of ['Review 1 Needs work', 'Review 2 Reviewing']) await family.getByRole('link', { name: label }).waitFor()
  // A link in a drawing goes through the page's own navigation too: what the window holds stays.
  await page.evaluate(() => (globalThis.__isSameDocument = true))
  await family.getByRole('link', { name: 'Review 1 Needs work' }).click()
  await page.waitForFunction((reviewer) => location.pathname === `/agents/${reviewer}`, reviewers[0])
  await page.getByText('reviews', { exact: false }).first().waitFor()
  assert.equal(await page.evaluate(() => globalThis.__isSameDocument), true)
  await browser.goto(`/agents/${coding}`)
  await page.getByRole('tab', { name: /^Reviews/ }).click()
  const reviews = page.getByRole('list', { name: 'Reviews, latest first' })
  await reviews.getByRole('heading', { name: 'Review 2' }).waitFor()
  await reviews.getByText('Handle None').first().waitFor()
  await reviews.getByText('parse(None) still fails').first().waitFor()
})

test('what changed after a review is shown as a diff, at an address of its own', async () => {
  await browser.goto(`/agents/${coding}?tab=reviews&after=1`)
  await page.getByText('if text is None:').first().waitFor()
  await page.getByRole('button', { name: 'Changes after this review', expanded: true }).waitFor()
  await browser.goto(`/agents/${coding}?tab=changes`)
  await page.getByText('return int(text.strip())').first().waitFor()
})

test('feedback reaches an open page', async () => {
  await browser.goto(`/agents/${coding}?tab=reviews`)
  const second = page.getByRole('list', { name: 'Reviews, latest first' }).getByRole('listitem').first()
  await second.getByRole('heading', { name: 'Review 2' }).waitFor()
  await world.call(reviewers[1], 'send_feedback', { feedback: 'good now, but name the exception', feedback_type: 'suggestions' })
  await page.getByText('good now, but name the exception').first().waitFor()
})

test('limits of reviews are changed for real', async () => {
  await browser.goto(`/agents/${coding}`)
  const focused = (name) => page.waitForFunction((name) => (document.activeElement?.labels?.[0] ?? document.activeElement)?.textContent?.trim() === name, name)
  // The buttons replace each other, and the keyboard stays with what came instead.
  await page.getByRole('button', { name: 'Change limits' }).press('Enter')
  await focused('Reviews per agent')
  await page.getByRole('button', { name: 'Cancel' }).press('Enter')
  await focused('Change limits')
  await page.keyboard.press('Enter')
  const field = page.getByLabel('Reviews per agent')
  await field.fill('0')
  await page.getByText('A whole number, 1 or more').waitFor()
  await field.fill('4')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Review limits saved').waitFor()
  await focused('Change limits')
  assert.match(world.run('agents', 'config'), /max_iterations\D+4\b/)
})

test('an agent is started, followed, and abandoned with what would be lost', { timeout: 180_000 }, async () => {
  await browser.goto('/agents?start=1')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Start' }).click()
  await dialog.getByText('Give a task, an issue, or both.').waitFor()
  await dialog.getByLabel('Repository folder').fill(world.work)
  await dialog.getByLabel('Task').fill('Write a changelog')
  await dialog.getByLabel('Agent', { exact: true }).selectOption('command')
  await dialog.getByLabel('Command').fill('sh -c "echo hello from the agent; sleep 600"')
  await dialog.getByLabel('Command').press('Enter')
  await page.waitForFunction(() => /^\/agents\/./.test(location.pathname))
  const id = decodeURIComponent(new URL(page.url()).pathname.split('/')[2])
  world.agents.push(id)
  await page.getByText('Write a changelog').first().waitFor()
  await page.getByText('tamis agents attach', { exact: false }).first().waitFor()
  await page.getByRole('tab', { name: 'Output' }).click()
  await page.getByText('hello from the agent').first().waitFor()

  const { worktree } = show(id)
  writeFileSync(join(worktree, 'CHANGELOG.md'), '# Changes\n')
  await page.getByRole('button', { name: 'Abandon' }).click()
  await dialog.getByText('1 file with uncommitted changes').waitFor()
  await dialog.getByText('CHANGELOG.md').first().waitFor()
  const confirm = dialog.getByRole('button', { name: 'Abandon' })
  assert.equal(await confirm.isDisabled(), true)
  await dialog.getByLabel(/^Type/).fill(id)
  await confirm.click()
  await page.getByText(`Abandoned ${id}`).waitFor()
  assert.equal(show(id).status, 'ABANDONED')
  assert.equal(existsSync(join(worktree, 'CHANGELOG.md')), true, 'what is in no commit stays')
})

test('an agent is stopped', async () => {
  const other = world.agents[1]
  await browser.goto(`/agents/${other}`)
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await page.getByText(`Stopped ${other}`).waitFor()
  assert.equal(show(other).status, 'TERMINATED')
  assert.deepEqual(browser.complaints, [])
})
