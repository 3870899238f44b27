// Tabs of Firefox and of WebKit share one login; this script opens, closes and reloads them at random: npm run soak:engines -- [seconds] [tabs]
// [seconds that a token lives]. soak:tabs does more to Chromium. The exit code is 0 only if nothing was lost.
import { setTimeout as pause } from 'node:timers/promises'
import { engines } from '../test/browser/support/engines.mjs'
import { builtSite } from './tabs/built-site.mjs'

const [seconds = 40, count = 4, lifetime = 6] = process.argv.slice(2).map(Number)
const START = `start({ web: {}, byLogin: true, exchangeTimeoutMs: 4_000 })`
const oneOf = (list) => list[Math.floor(Math.random() * list.length)]
let isKept = true

for (const launch of Object.values(engines())) {
  const { site, remove } = await builtSite()
  site.lifetimeMs = lifetime * 1_000
  const engine = await launch()
  const tally = { opened: 0, reloaded: 0, closed: 0, served: 0, logins: 0, failed: {} }
  let tabs = []
  const begin = async (tab) => {
    while (!(await tab.evaluate(`typeof start === 'function'`)));
    await tab.evaluate(START)
  }
  const open = async () => {
    const tab = await engine.open(`${site.origin}/esbuild`)
    await begin(tab)
    tabs.push(tab)
    tally.opened += 1
  }
  const ask = async (tab) => {
    const outcome = await tab.evaluate(`app.send({ url: '/wallet' })`)
    if (outcome === 200) tally.served += 1
    else tally.failed[outcome] = (tally.failed[outcome] ?? 0) + 1
    if (outcome !== 'ERR_LOGIN_REQUIRED') return
    tally.logins += 1
    await tab.evaluate('app.logIn()')
  }
  for (let n = 0; n < count; n += 1) await open()
  const endsAt = performance.now() + seconds * 1_000
  while (performance.now() < endsAt) {
    const tab = oneOf(tabs)
    const chance = Math.random()
    if (chance < 0.15) {
      // In the middle of a refresh, if it is this tab's turn.
      await tab.evaluate('void app.tokens.getAccessToken().catch(() => undefined)')
      await tab.reload()
      await begin(tab)
      tally.reloaded += 1
    } else if (chance < 0.22) {
      tabs = tabs.filter((one) => one !== tab)
      await tab.close()
      tally.closed += 1
      await open()
    } else await ask(tab)
    await pause(Math.random() * 150)
  }
  const refreshes = site.calls.filter(({ refreshToken }) => refreshToken !== undefined).length
  console.log(`${engine.name} (${engine.version}), ${seconds} s, tokens of ${lifetime} s:`, JSON.stringify(tally))
  console.log(
    `  ${refreshes} refreshes; ${site.reused} refresh tokens presented again; ${tally.logins} logins by a person`,
  )
  isKept &&= site.reused === 0 && tally.logins === 1
  await engine.close()
  await site.close()
  await remove()
}
process.exit(isKept ? 0 : 1)
