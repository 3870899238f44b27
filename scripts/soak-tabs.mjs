// Real tabs of Chromium, Firefox and WebKit share one login, and lead a hard life: npm run soak:tabs -- [--engine chromium] [--rounds 30]
// [--seconds 40] [--tabs 5] [--lifetime 5] [--grace 30] [--seed N] [--write]. The same seed does the same in the same order, but at other moments.
// `--grace`: for so many seconds the service accepts a used refresh token. The exit code is 0 only if every promise was kept. `--write`: writes the
// table of docs/protocol.md.
import { parseArgs } from 'node:util'
import { engines } from '../test/browser/support/engines.mjs'
import { dice } from './lib/dice.mjs'
import { writeRows } from './lib/table-rows.mjs'
import { bundle } from './tabs/bundle.mjs'
import { Round } from './tabs/round.mjs'
import { lacksOf, promisesOf, rowOf, sumOf } from './tabs/summary.mjs'

const LIFE = {
  ...{ opened: 4, closed: 2, crashed: 2, reloaded: 4, away: 3, frozen: 2, offline: 1, failing: 1 },
  ...{ changed: 2, redirected: 2, worked: 2 },
}
const STORAGE = { stepped: 1, deleted: 0.5, full: 0.5 }
const settings = read()
const scripts = await bundle()
const found = engines()
const rows = []
let isKept = true
for (const name of settings.engine?.split(',') ?? Object.keys(found)) {
  if (!found[name]) throw new RangeError(`--engine takes ${Object.keys(found)} on this machine, got ${name}`)
  isKept = (await soak(name)) && isKept
}
if (settings.write && isKept) await writeRows('protocol.md', 'npm run soak:tabs', rows)
process.exit(isKept ? 0 : 1)

async function soak(name) {
  const results = []
  let engine
  for (let n = 1; n <= settings.rounds; n += 1) {
    engine = await found[name]()
    if (n === 1) console.log(`${name} ${engine.version}, seed ${settings.seed}. It cannot: ${lacksOf(engine)}.`)
    const result = await oneRound(engine, n)
    await engine.close().catch(() => undefined)
    results.push(result)
    const { deeds, refreshes, again, logins, trouble } = result
    const reasons = logins.map(({ reason }) => reason ?? 'NO REASON').join()
    console.log(
      `  ${n}: ${JSON.stringify(deeds)}, ${refreshes} refreshes, ${again.length} again, logins: ${reasons} ${trouble}`,
    )
    for (const login of logins)
      if (!login.reason) console.log('    LOST', JSON.stringify(login), JSON.stringify(result.seen))
    for (const request of result.asOther) console.log('    OTHER', JSON.stringify([request, result.seen.diary]))
    for (const { call, lost, earlier } of again)
      if (!lost) console.log('    TWICE', JSON.stringify([...earlier, call]), JSON.stringify(result.seen.diary))
  }
  const sum = sumOf(results)
  console.log(JSON.stringify(sum))
  const promises = promisesOf(sum)
  for (const [isTrue, what] of promises) console.log(`  ${isTrue ? 'kept  ' : 'BROKEN'}  ${what}`)
  rows.push(rowOf(engine, results.length, settings, sum))
  return promises.every(([isTrue]) => isTrue)
}

/** In every second round nothing happens to the storage and to the clock: a login that is lost there has no excuse. */
function oneRound(engine, n) {
  const graceMs = settings.grace * 1_000
  const reuseGraceMs = Math.max(0, graceMs - 5_000)
  const byLogin = { reuseGraceMs }
  return new Round({ engine, dice: dice(settings.seed, n), most: settings.tabs }).run({
    scripts,
    options: { byLogin, exchangeTimeoutMs: 4_000 },
    lifetimeMs: settings.lifetime * 1_000,
    graceMs,
    seconds: settings.seconds,
    deeds: n % 2 === 0 ? LIFE : { ...LIFE, ...STORAGE },
  })
}

function read() {
  const defaults = {
    rounds: 30,
    seconds: 40,
    tabs: 5,
    lifetime: 5,
    grace: 30,
    seed: Math.floor(Math.random() * 2 ** 31),
  }
  const options = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' }]))
  const { values } = parseArgs({ options: { ...options, engine: { type: 'string' }, write: { type: 'boolean' } } })
  const numbers = Object.entries(defaults).map(([name, usual]) => {
    const value = Number(values[name] ?? usual)
    if (!Number.isInteger(value) || value < (name === 'grace' ? 0 : 1))
      throw new RangeError(`--${name} must be a whole number, got ${values[name]}`)
    return [name, value]
  })
  return { ...Object.fromEntries(numbers), engine: values.engine, write: values.write }
}
