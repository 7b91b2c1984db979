// The pictures of the README, from a day of work that is written here: `node browser/pictures.js` puts them into docs/images.
// The prunes in it are made by the real hook, and every figure is computed from the logs and the ledger.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Browser } from './browser.js'
import { ClaudeLog } from './logs.js'
import { World } from './world.js'

const repository = new URL('../../', import.meta.url).pathname
const folder = join(repository, 'docs/images')
const program = process.env.TAMIS_BIN ?? join(repository, 'target/debug/tamis')
const payments = readFileSync(join(repository, 'docs/examples/payments.log'), 'utf8')
const build = [
  ...Array.from({ length: 180 }, (_, crate) => `   Compiling part${crate} v0.${crate % 9}.${crate % 7}`),
  'error[E0308]: mismatched types', '  --> src/cart.rs:118:22', '    |', '118 |     total.checked_add(discount)', '    |           ----------- ^^^^^^^^ expected `u64`, found `Option<u64>`',
  'error: could not compile `shop` (lib) due to 1 previous error', '',
].join('\n')

const world = new World()

/** A call of the shell whose output passes through the hook, as in a connected Claude Code. The ledger has the time of now, so the log has too. */
function hooked(log, command, output, more) {
  log.step = 0.01
  log.now().begin('Bash', { command }, more).write()
  const payload = {
    session_id: log.id, transcript_path: log.path, cwd: log.cwd, hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: log.open,
    tool_input: { command }, tool_response: { stdout: output, stderr: '', interrupted: false, isImage: false, noOutputExpected: false },
  }
  const reply = execFileSync(program, ['hook', 'claude'], { input: JSON.stringify(payload), env: world.environment, encoding: 'utf8' })
  return log.end(reply === '' ? output : JSON.parse(reply).hookSpecificOutput.updatedToolOutput.stdout)
}

const session = (number, options) => new ClaudeLog(world, `${number}a7c41e0-5d2f-4c1b-9e3a-7f60b2d8c${number}4e`, options)

const checkout = session(1, { cwd: '/home/ada/shop', model: 'claude-opus-4-5', ago: 5400, step: 45 })
checkout.title('Order 8812 was charged twice: find out why and fix it').prompt('Order 8812 was charged twice. Find out why from the logs, then fix it.')
for (let turn = 0, context = 24_000; turn < 14; turn += 1, context += 7_800) {
  const size = { context, output: 420 }
  if (turn > 5 && turn % 4 === 2) hooked(checkout, 'cat /var/log/shop/payments.log', payments, size)
  else if (turn > 5 && turn % 4 === 0) hooked(checkout, 'cargo build 2>&1', build, size)
  else if (turn === 7) checkout.call('Bash', { command: 'cargo test retries' }, 'test retries_are_idempotent ... FAILED', { failed: true, ...size })
  else checkout.call('Edit', { file_path: `/home/ada/shop/src/${['cart', 'payment', 'retry'][turn % 3]}.rs`, old_string: 'let total = sum;', new_string: 'let total = sum.min(limit);' }, 'The file was updated.', size)
  if (turn === 9) checkout.prompt('Keep the idempotency key in the retry, please.')
}
checkout.now().begin('AskUserQuestion', { questions: [{ question: 'Refund the second charge automatically, or only report it?', header: 'Refund', options: [] }] }, { context: 131_000 }).write()

const search = session(2, { cwd: '/home/ada/search', ago: 2400, step: 20 })
search.title('Rank exact matches before partial ones').prompt('Exact matches must come before partial ones in the result list.')
for (let turn = 0; turn < 9; turn += 1) search.call('Read', { file_path: `/home/ada/search/src/rank${turn}.ts` }, 'export function rank() {}', { context: 30_000 + turn * 9_000 })
search.now(6).begin('Bash', { command: 'npm test -- ranking' }, { context: 118_000 }).write()

const docs = session(3, { cwd: '/home/ada/handbook', model: 'claude-haiku-4-5', ago: 1500, step: 12 })
docs.title('Update the deployment guide').prompt('Update the deployment guide for the new region.').call('Read', { file_path: 'deploy.md' }, '# Deploy').say('The guide names both regions now.', { context: 21_000 }).write()

const flaky = session(4, { cwd: '/home/ada/shop', ago: 20_000, step: 30 })
flaky.title('Flaky test of the cart').prompt('cart_totals fails now and then. Why?')
hooked(flaky, 'cargo test cart 2>&1', build, { context: 40_000 })
flaky.say('The test reads the clock twice; it takes one reading now.', { context: 61_000 }).write()

/** A log that a real agent wrote, as if its last record were this many seconds old. */
function recent(path, name, ago) {
  const text = readFileSync(join(repository, 'crates/logs/tests/logs', path), 'utf8')
  const times = text.match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g).map((time) => Date.parse(time))
  const by = Date.now() - ago * 1000 - Math.max(...times)
  mkdirSync(dirname(join(world.logs, name)), { recursive: true })
  writeFileSync(join(world.logs, name), text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => new Date(Date.parse(time) + by).toISOString()))
}
recent('codex/legacy.jsonl', 'codex/rollout.jsonl', 3900)
recent('gemini/home/.gemini/tmp/project/chats/session-2026-11-15T08-48-88d0ad95.jsonl', 'gemini/session.jsonl', 7300)

try {
  mkdirSync(folder, { recursive: true })
  await world.serve()
  for (const [picture, theme, path] of [['now-light', 'light', '/'], ['session-dark', 'dark', `/sessions/${checkout.id}`]]) {
    const browser = await Browser.open(world, { theme, viewport: { width: 1440, height: 900 } })
    await browser.goto(path)
    await browser.page.getByText('Live', { exact: true }).first().waitFor()
    if (picture === 'now-light') {
      // Figures are measured beside the requests.
      await browser.page.getByText(/^−?US?\$|tokens$/).first().waitFor()
      await browser.page.getByText('Refund', { exact: false }).first().waitFor()
    } else {
      await browser.page.getByText('cargo test retries').first().click()
      await browser.settled()
    }
    // Those that follow scrolling never end.
    await browser.page.waitForFunction(() => document.getAnimations().every((animation) => animation.playState !== 'running' || animation.timeline !== document.timeline || animation.effect.getTiming().iterations === Infinity))
    await browser.page.screenshot({ path: join(folder, `${picture}.png`) })
    await browser.close()
  }
} finally {
  await world.close()
}
