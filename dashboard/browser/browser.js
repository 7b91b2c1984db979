// Debian's Chromium, driven by Playwright.

import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mkdtempSync, rmSync } from 'node:fs'
import { chromium } from 'playwright-core'

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// While the page is developed: a folder that `npx vite build --outDir FOLDER` filled. The browser then takes the page's script and
// style from there, and everything else from the server, so that the program need not be built for each change of the page.
const pageFiles = process.env.PAGE_FILES

export const SIZES = { wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } }
export const THEMES = ['light', 'dark']

/** Whether the page is drawn and loads nothing more. Runs in the browser. */
export const isSettled = () =>
  document.querySelector('main .page') !== null &&
  // The page of examples has some that never stop loading.
  (location.pathname === '/components' || document.querySelector('main .skeleton, main [aria-busy="true"], main ol[aria-label="Roles"] .running') === null)

/** A browser that is signed in to `world`, and what its pages complained of. */
export class Browser {
  complaints = []
  requests = []

  static async open(world, { size = 'wide', theme = 'light', signIn = true, ...more } = {}) {
    const browser = new Browser()
    browser.world = world
    browser.profile = mkdtempSync(join(tmpdir(), 'tamis-chromium-'))
    browser.context = await chromium.launchPersistentContext(browser.profile, {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      headless: true,
      args: ARGUMENTS,
      viewport: SIZES[size],
      colorScheme: theme,
      isMobile: size === 'phone',
      hasTouch: size === 'phone',
      locale: 'en-GB',
      timezoneId: 'Europe/Paris',
      ...more,
    })
    if (pageFiles) await browser.context.route(/\/page\.(js|css)$/, (route) => route.fulfill({ path: join(pageFiles, new URL(route.request().url()).pathname) }))
    browser.page = browser.context.pages()[0] ?? (await browser.context.newPage())
    browser.page.setDefaultTimeout(30_000)
    browser.page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) browser.complaints.push(`${message.type()}: ${message.text()}`)
    })
    browser.page.on('pageerror', (error) => browser.complaints.push(`exception: ${error.stack}`))
    browser.page.on('request', (request) => browser.requests.push(request.url()))
    if (signIn) {
      await browser.page.goto(world.link())
      await browser.page.getByRole('navigation').first().waitFor()
    }
    return browser
  }

  async goto(path) {
    await this.page.goto(`${this.world.origin}${path}`)
    await this.settled()
  }

  /** The page is drawn, and nothing is loading any more. */
  async settled() {
    await this.page.waitForFunction(isSettled)
    await this.page.evaluate(() => document.fonts.ready)
  }

  /** What axe-core finds. The script is evaluated, so the page's own policy does not stop it. */
  async violations() {
    await this.page.evaluate(axe)
    const { violations } = await this.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(' | ')}`)
  }

  /** How much of the page moved without being asked to: the layout shift score of Web Vitals. */
  async layoutShift() {
    return this.page.evaluate(
      () =>
        new Promise((done) => {
          let score = 0
          const add = (entries) => {
            for (const entry of entries) if (!entry.hadRecentInput) score += entry.value
          }
          const observer = new PerformanceObserver((list) => add(list.getEntries()))
          observer.observe({ type: 'layout-shift', buffered: true })
          requestAnimationFrame(() => requestAnimationFrame(() => (add(observer.takeRecords()), done(score))))
        }),
    )
  }

  async close() {
    await this.context.close()
    rmSync(this.profile, { recursive: true, force: true })
  }
}
