// How a browser gets in, and who does not.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { Browser } from './browser.js'
import { World } from './world.js'

const world = new World()
before(async () => {
  world.addSessions()
  await world.serve()
})
after(() => world.close())

test('a link signs in once, and leaves no code behind', async (context) => {
  const link = world.link()
  const code = link.split('#code=')[1]
  const first = await Browser.open(world, { signIn: false })
  context.after(() => first.close())
  await first.page.goto(link)
  await first.page.getByRole('navigation').first().waitFor()
  assert.equal(first.page.url().includes(code), false)
  const cookies = await first.context.cookies()
  assert.deepEqual(cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite })), [{ httpOnly: true, sameSite: 'Strict' }])
  assert.equal(await first.page.evaluate(() => document.cookie), '')
  assert.equal(first.requests.some((url) => url.includes(code)), false)
  await first.page.reload()
  await first.page.getByRole('navigation').first().waitFor()

  const second = await Browser.open(world, { signIn: false })
  context.after(() => second.close())
  await second.page.goto(link)
  await second.page.getByText('already used').waitFor()
  assert.equal((await second.context.cookies()).length, 0)
  assert.equal(await second.page.evaluate(() => fetch('/api/page/status').then((answer) => answer.status)), 401)
})

test('pages of other origins of this machine can neither read nor act nor listen', async (context) => {
  const browser = await Browser.open(world)
  context.after(() => browser.close())
  const other = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>other</title>'))
  await new Promise((listening) => other.listen(0, '127.0.0.1', listening))
  context.after(() => other.close())
  const { port } = other.address()
  for (const host of ['127.0.0.1', 'localhost']) {
    await browser.page.goto(`http://${host}:${port}/`)
    const tried = await browser.page.evaluate(async (origin) => {
      const outcome = async (act) => {
        try {
          return await act()
        } catch (error) {
          return error.name
        }
      }
      const socket = () =>
        new Promise((done) => {
          const socket = new WebSocket(`${origin.replace('http', 'ws')}/api/page/live`)
          socket.onopen = () => done('open')
          socket.onerror = () => done('refused')
        })
      return {
        read: await outcome(() => fetch(`${origin}/api/page/status`, { credentials: 'include' }).then((answer) => answer.text())),
        blind: await outcome(() => fetch(`${origin}/api/page/leave`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' }).then((answer) => answer.type)),
        script: await outcome(() => new Promise((done) => {
          const script = document.createElement('script')
          script.src = `${origin}/api/page/status`
          script.onload = () => done('loaded')
          script.onerror = () => done('refused')
          document.head.append(script)
        })),
        frame: await outcome(() => new Promise((done) => {
          const frame = document.createElement('iframe')
          frame.src = origin
          frame.onload = () => done(frame.contentDocument === null ? 'blocked' : 'readable')
          document.body.append(frame)
        })),
        socket: await socket(),
      }
    }, world.origin)
    const frames = () => browser.page.frames().filter((frame) => frame !== browser.page.mainFrame()).map((frame) => frame.url())
    // The address of a frame may become known only after its load event. Each turn asks the browser, so none is a mere pause.
    for (let turn = 0; turn < 200 && frames().includes(''); turn += 1) await browser.page.evaluate(() => new Promise(requestAnimationFrame))
    const framed = frames()
    assert.deepEqual(framed.filter((url) => !url.startsWith('chrome-error:')), [], 'shown in no frame')
    assert.deepEqual(tried, { read: 'TypeError', blind: 'opaque', script: 'refused', frame: 'blocked', socket: 'refused' }, host)
  }
  // The blind request to sign out had no effect.
  await browser.goto('/')
  assert.equal(await browser.page.evaluate(() => fetch('/api/page/status').then((answer) => answer.status)), 200)
})

test('a rebound name is refused', async (context) => {
  const browser = await Browser.open(world, { args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP rebound.example 127.0.0.1'] })
  context.after(() => browser.close())
  const answer = await browser.page.goto(`http://rebound.example:${world.port}/`)
  assert.equal(answer.status(), 403)
  const read = await browser.page.evaluate(() => fetch('/api/page/status').then((answer) => answer.status))
  assert.equal(read, 403)
})

test('signing out ends it', async (context) => {
  const browser = await Browser.open(world)
  context.after(() => browser.close())
  const status = () => browser.page.evaluate(() => fetch('/api/page/status').then((answer) => answer.status))
  assert.equal(await status(), 200)
  await browser.page.evaluate(() => fetch('/api/page/leave', { method: 'POST' }))
  assert.equal(await status(), 401)
})
