// Real tabs of one Chromium share one login; this script opens, closes, crashes and freezes them at random: npm run soak:tabs --
// [--seconds 600] [--tabs 8] [--lifetime 6] [--seed N]. The same seed does the same in the same order, but at other moments. Needs
// chromium (CHROMIUM, or on PATH). The exit code is 0 only if every promise was kept.
import { parseArgs } from 'node:util'
import { chromium } from '../test/browser/support/chromium.mjs'
import findChromium from '../test/support/chromium-setup.mjs'
import { dice } from './lib/dice.mjs'
import { builtSite } from './tabs/built-site.mjs'

/** A tab gives up a token call that takes longer. */
const EXCHANGE_TIMEOUT_MS = 4_000
const settings = read()
const { happens, between, oneOf } = dice(settings.seed, 0)
findChromium()
if (!process.env.TEST_CHROMIUM) process.exit(1)

const { site, remove } = await builtSite()
site.lifetimeMs = settings.lifetime * 1_000
const browser = await chromium.launch({
  executablePath: process.env.TEST_CHROMIUM,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
})
const context = await browser.newContext()
console.log(
  `Tabs soak of axios-evergreen: seed ${settings.seed}; Chromium ${browser.version()}, Node ${process.version}.`,
)

const tally = { requests: 0, failed: [], suspicious: [], opened: 0, closed: 0, crashed: 0, frozen: 0 }
const tabs = new Set()
/** Tabs report at once what they meet, because nobody can ask a crashed tab. Failures of a tab that is closed or closing do not count. */
await context.exposeBinding('report', ({ page }, what, value) => {
  const tab = [...tabs].find((one) => one.page === page)
  if (what === 'request') tally.requests += 1
  else if (what === 'suspicious') tally.suspicious.push(value)
  else if (tab) tally.failed.push(value)
})
const options = { web: {}, exchangeTimeoutMs: EXCHANGE_TIMEOUT_MS }
await context.addInitScript(`addEventListener('load', async () => {
  await start(${JSON.stringify(options)})
  app.tokens.on('suspicious', ({ evidence }) => report('suspicious', evidence))
  for (;;) {
    const outcome = await app.send({ url: '/wallet' })
    await (outcome === 200 ? report('request') : report('failed', outcome + ' ' + JSON.stringify(app.events.slice(-3))))
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
})`)

async function open() {
  const page = await context.newPage()
  tabs.add({ page })
  tally.opened += 1
  await page.goto(`${site.origin}/esbuild`)
}

const DEEDS = {
  async closed(page) {
    await page.close()
  },
  async crashed(page) {
    const crashed = new Promise((resolve) => page.once('crash', resolve))
    const session = await context.newCDPSession(page)
    void session.send('Page.crash').catch(() => undefined)
    await crashed
    await page.close()
  },
  /** Freezes a page by a synchronous request. The page goes on afterwards, and counts all the time. */
  async frozen(page, ms) {
    const still = `(() => { const at = new XMLHttpRequest(); at.open('GET', '/frozen?${ms}', false); at.send() })()`
    await page.evaluate(still)
  },
}

const startedAt = performance.now()
const inMs = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const frozen = new Set()
for (let n = 0; n < settings.tabs; n += 1) await open()
while (performance.now() - startedAt < settings.seconds * 1_000) {
  // Waits for a token call, but not for long, so that more deeds disturb one.
  const calls = site.calls.length
  for (let n = 0; happens(0.9) && site.calls.length === calls && n < 400; n += 1) await inMs(10)
  const tab = oneOf([...tabs].filter((one) => !frozen.has(one)))
  const deed = tab && oneOf(Object.keys(DEEDS))
  if (!tab) await inMs(500)
  else if (deed === 'frozen') {
    tally.frozen += 1
    frozen.add(tab)
    void DEEDS.frozen(tab.page, Math.round(between(500, 15_000)))
      .catch(() => undefined)
      .finally(() => frozen.delete(tab))
  } else {
    tally[deed] += 1
    tabs.delete(tab)
    await DEEDS[deed](tab.page)
    await open()
  }
  await inMs(between(100, 1_500))
}
const seconds = (performance.now() - startedAt) / 1_000
tabs.clear()
await browser.close()
await site.close()
await remove()

const presented = site.calls.flatMap(({ refreshToken }) => refreshToken ?? [])
const { requests, failed, suspicious, opened, closed, crashed } = tally
console.log(
  `${seconds.toFixed(0)} s, ${settings.tabs} tabs, tokens of ${settings.lifetime} s: ${opened} opened, ${closed} closed, ${crashed} crashed, ${tally.frozen} frozen`,
)
console.log(`${requests} requests served, ${failed.length} failed`)
console.log(
  `${site.calls.length} token calls: ${presented.length} refreshes of ${new Set(presented).size} refresh tokens, ${site.calls.length - presented.length} obtains`,
)
for (const one of failed.slice(0, 10)) console.log(`  failed: ${one}`)
const promises = [
  [site.reused === 0, `each refresh token was presented once (${site.reused} were presented again)`],
  [!suspicious.includes('unexplained'), `no suspicion is unexplained (suspicions: ${suspicious.join() || 'none'})`],
  [failed.length === 0 && requests > 0, 'no request failed in a tab that lived'],
  [site.calls.length <= (seconds / settings.lifetime) * 2 + 10, 'the token calls are those of one tab'],
]
for (const [isKept, what] of promises) console.log(`  ${isKept ? 'kept  ' : 'BROKEN'}  ${what}`)
process.exit(promises.every(([isKept]) => isKept) ? 0 : 1)

function read() {
  const defaults = { seconds: 600, tabs: 8, lifetime: 6, seed: Math.floor(Math.random() * 2 ** 31) }
  const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' }]))
  const { values } = parseArgs({ options })
  return Object.fromEntries(
    Object.entries(defaults).map(([name, usual]) => {
      const value = Number(values[name] ?? usual)
      if (!Number.isInteger(value) || value < 1)
        throw new RangeError(`--${name} must be a whole number, got ${values[name]}`)
      return [name, value]
    }),
  )
}
