// Figures of the page, printed and not judged: they depend on the machine.
//   first paint and interactive, on loopback
//   frames while 100,000 sessions and a session of 50,000 events are scrolled
//   frames while 1,000 calls a second arrive, for 10 seconds

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Browser, isSettled } from './browser.js'
import { World } from './world.js'

const SESSIONS = Number(process.env.SESSIONS ?? 100_000)
const EVENTS = Number(process.env.EVENTS ?? 50_000)
const PER_SECOND = 1_000
const SECONDS = 10

const world = new World()
world.addSessions()
console.log(`writing ${SESSIONS} sessions`)
addMany(world, SESSIONS)
const long = world.startLiveSession('feedface-0000-4000-8000-00000000000a')
for (let written = 0; written < EVENTS; written += 3_000) long.add(...Array.from({ length: 1_000 }, (_, call) => `echo ${written + call}`))

try {
  await world.serve()
  const browser = await Browser.open(world)
  const { page } = browser
  console.time('index')
  await page.goto(`${world.origin}/sessions`)
  await page.waitForFunction(isSettled, undefined, { timeout: 600_000 })
  console.timeEnd('index')

  for (const path of ['/', '/sessions', `/sessions/${long.id}`, '/prunes', '/agents', '/settings']) {
    const figures = []
    // The first visit, for which the server has nothing in memory yet, and five more.
    for (let visit = 0; visit <= 5; visit += 1) {
      await page.goto(`${world.origin}${path}`, { waitUntil: 'commit' })
      figures.push(await page.evaluate(async (isSettled) => {
        const isReady = new Function(`return (${isSettled})()`)
        while (!isReady()) await new Promise(requestAnimationFrame)
        const ready = performance.now()
        // The entry comes some time after the paint.
        const paint = await new Promise((painted) => {
          new PerformanceObserver((list) => {
            const entry = list.getEntriesByName('first-contentful-paint')[0]
            if (entry) painted(entry.startTime)
          }).observe({ type: 'paint', buffered: true })
        })
        return { paint, ready }
      }, String(isSettled)))
    }
    const [first, ...later] = figures
    console.log(path, 'first paint', median(later.map(({ paint }) => paint)), 'ms, interactive', median(later.map(({ ready }) => ready)), 'ms, on the first visit', Math.round(first.ready), 'ms')
  }

  for (const path of ['/sessions', `/sessions/${long.id}`]) {
    await browser.goto(path)
    const list = page.locator('[aria-rowcount]').first()
    await list.waitFor()
    const box = await list.boundingBox()
    await page.mouse.move(box.x + box.width / 2, box.y + Math.min(box.height, 400) / 2)
    await watchFrames(page)
    for (let step = 0; step < 200; step += 1) await page.mouse.wheel(0, 400)
    console.log(path, 'scrolled by the wheel:', await frames(page))
    await watchFrames(page)
    for (const key of ['End', 'Home', 'PageDown', 'PageDown', 'End']) await page.keyboard.press(key)
    await page.waitForTimeout(500)
    console.log(path, 'jumps:', await frames(page))
  }

  await browser.close()
} finally {
  await world.close()
}

// Logs are looked at less often the more there are, so that it never takes more than a twentieth of a core: this is about the page.
const busy = new World()
busy.addSessions()
const live = busy.startLiveSession('feedface-0000-4000-8000-00000000000b')
try {
  await busy.serve()
  const browser = await Browser.open(busy)
  const { page } = browser
  await browser.goto('/')
  await page.getByText('Live', { exact: true }).first().waitFor()
  await watchFrames(page)
  const begun = Date.now()
  let sent = 0
  while (Date.now() - begun < SECONDS * 1_000) {
    const due = Math.floor(((Date.now() - begun) / 1_000) * (PER_SECOND / 2)) - sent
    if (due > 0) live.add(...Array.from({ length: due }, (_, call) => `echo live-${sent + call}`))
    sent += Math.max(due, 0)
    await new Promise((later) => setTimeout(later, 20))
  }
  await page.getByText(`echo live-${sent - 1}`).first().waitFor({ timeout: 60_000 })
  console.log(`${2 * sent} events in ${SECONDS} s:`, await frames(page), 'last shown after', Date.now() - begun - SECONDS * 1_000, 'ms')
  await browser.close()
} finally {
  await busy.close()
}

function addMany(world, number) {
  const record = (id, at, more) => JSON.stringify({ sessionId: id, cwd: `/srv/project-${at % 40}`, version: '2.0.0', isSidechain: false, uuid: `${id}-${at}`, timestamp: new Date(Date.UTC(2026, 0, 1) + at * 250_000).toISOString(), ...more })
  for (let session = 0; session < number; session += 1) {
    const folder = join(world.logs, `many-${Math.floor(session / 1_000)}`)
    if (session % 1_000 === 0) mkdirSync(folder)
    const id = `${(0x10000000 + session).toString(16)}-0000-4000-8000-0000000000ff`
    const usage = { input_tokens: 100 + (session % 900), cache_read_input_tokens: session, cache_creation_input_tokens: 10, output_tokens: 20 }
    const lines = [
      record(id, session, { type: 'user', message: { role: 'user', content: `Task ${session}: mend part ${session % 977}` } }),
      record(id, session, { type: 'assistant', requestId: `req_${session}`, message: { id: `msg_${session}`, role: 'assistant', model: 'claude-sonnet-4-5', usage, content: [{ type: 'text', text: 'Done.' }] } }),
    ]
    writeFileSync(join(folder, `${id}.jsonl`), `${lines.join('\n')}\n`)
  }
}

async function watchFrames(page) {
  await page.evaluate(() => {
    const watch = { times: [], last: performance.now() }
    globalThis.watch = watch
    const step = (now) => {
      if (globalThis.watch !== watch) return
      watch.times.push(now - watch.last)
      watch.last = now
      requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  })
}

async function frames(page) {
  const times = await page.evaluate(() => {
    const { times } = globalThis.watch
    globalThis.watch = null
    return times
  })
  const sorted = times.slice(1).sort((one, other) => one - other)
  const at = (share) => Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10
  return `${sorted.length} frames, ${at(0.5)} ms at half, ${at(0.95)} at 95 %, ${at(0.99)} at 99 %, ${at(1)} at most`
}

function median(values) {
  return Math.round([...values].sort((one, other) => one - other)[Math.floor(values.length / 2)])
}
