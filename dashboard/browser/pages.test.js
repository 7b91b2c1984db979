// Every page, in both themes and sizes, with real data: no violation of accessibility, no complaint in the console, nothing wider than the
// screen, nothing that moves after it was drawn, no request to another host, and nothing hostile that took effect. Screenshots go to $SCREENSHOTS.

import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Browser, SIZES, THEMES } from './browser.js'
import { HOSTILE, World } from './world.js'

const screenshots = process.env.SCREENSHOTS
const world = new World()
let paths

before(async () => {
  world.addSessions()
  world.startLiveSession().add('cargo test', 'cargo clippy')
  await world.serve()
  const [prune, , hostilePrune] = world.addPrunes()
  const { coding, reviewers } = await world.addReviewLoop()
  const session = '6e190b0e-1444-4d7a-a82b-3469ccf8c19e'
  paths = {
    now: '/',
    sessions: '/sessions',
    session: `/sessions/${session}`,
    event: `/sessions/${session}/events/3`,
    hostile: `/sessions/${world.hostile}`,
    compare: `/compare/${session}/${world.hostile}`,
    search: '/search?q=script',
    prunes: '/prunes',
    prune: `/prunes/${prune}`,
    hostilePrune: `/prunes/${hostilePrune}`,
    hostilePruneShown: `/prunes/${hostilePrune}?view=shown`,
    try: '/try',
    tryPrune: `/try?prune=${prune}`,
    agents: '/agents',
    agentsBoard: '/agents?view=board',
    agent: `/agents/${coding}`,
    agentReviews: `/agents/${coding}?tab=reviews&after=1`,
    agentChanges: `/agents/${coding}?tab=changes`,
    agentFacts: `/agents/${coding}?tab=facts`,
    reviewer: `/agents/${reviewers[0]}`,
    hostileAgent: `/agents/${world.agents[1]}`,
    hostileAgentOutput: `/agents/${world.agents[1]}?tab=output`,
    research: '/research',
    report: '/research?q=where+are+adjacent+cuts+joined',
    hostileReport: `/research?q=${encodeURIComponent(`where is worker ${HOSTILE}`)}`,
    settings: '/settings',
    components: '/components',
  }
})
after(() => world.close())

/** Pages whose palette offers titles and tasks from logs. */
const WITH_PALETTE = ['now', 'agents']

/** Whether hostile text ran, became an element, or is there as it is: control characters and those that turn the direction are shown as signs. */
async function harm(page) {
  return page.evaluate(() => {
    const problems = []
    if (globalThis.__harm !== undefined) problems.push('hostile text ran')
    const marked = document.querySelectorAll(':is(main, dialog) :is(script, img, a[href^="javascript:"], iframe)').length
    if (marked > 0) problems.push('hostile text became an element')
    const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u2028-\u202e\u2060-\u206f]/.exec(document.documentElement.innerHTML + document.title)?.[0].codePointAt(0)
    if (raw !== undefined) problems.push(`U+${raw.toString(16)} as itself`)
    return problems
  })
}

for (const size of Object.keys(SIZES)) {
  for (const theme of THEMES) {
    test(`every page, ${size} and ${theme}`, { timeout: 600_000 }, async (context) => {
      const browser = await Browser.open(world, { size, theme })
      context.after(() => browser.close())
      const { page } = browser
      const problems = []
      for (const [name, path] of Object.entries(paths)) {
        browser.complaints.length = 0
        await browser.goto(path)
        problems.push(...(await browser.violations()).map((violation) => `${path}: ${violation}`))
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        if (wider > 0) problems.push(`${path}: ${wider} pixels wider than the screen`)
        problems.push(...(await harm(page)).map((problem) => `${path}: ${problem}`))
        const shift = await browser.layoutShift()
        // What Web Vitals call good.
        if (shift > 0.1) problems.push(`${path}: what was drawn moved by ${shift.toFixed(3)}`)
        if (WITH_PALETTE.includes(name)) {
          await page.keyboard.press('Control+k')
          await page.getByRole('option').filter({ hasText: '<script>' }).first().waitFor()
          const found = [...(await harm(page)), ...(await browser.violations())]
          problems.push(...found.map((problem) => `${path}, palette: ${problem}`))
          await page.keyboard.press('Escape')
        }
        problems.push(...browser.complaints.map((complaint) => `${path}: ${complaint}`))
        if (screenshots) {
          mkdirSync(screenshots, { recursive: true })
          await page.screenshot({ path: join(screenshots, `${name}-${size}-${theme}.png`) })
        }
      }
      const elsewhere = browser.requests.filter((url) => !url.startsWith(world.origin))
      assert.deepEqual([...problems, ...elsewhere], [])
    })
  }
}
