// Real tabs of each engine that the machine has share one login, under faults: [--engine chromium,firefox] [--rounds 30] [--seconds 40] [--tabs 5]
// [--lifetime 5] [--grace 30] [--write]. `--grace`: for so many seconds the service accepts a used refresh token. `--write`: writes the table of
// docs/evidence/protocol.md.
import { engines } from '../../../test/browser/support/engines.mjs'
import { dice } from '../../lib/dice.mjs'
import { writeRows } from '../../lib/pages.mjs'
import { bundle } from './bundle.mjs'
import { Round } from './round.mjs'
import { lacksOf, promisesOf, rowOf, sumOf } from './summary.mjs'

const LIFE = {
  ...{ opened: 4, closed: 2, crashed: 2, reloaded: 4, away: 3, frozen: 2, offline: 1, failing: 1 },
  ...{ changed: 2, redirected: 2, worked: 2 },
}
const STORAGE = { stepped: 1, deleted: 0.5, full: 0.5 }

export const options = {
  ...{ rounds: 30, seconds: 40, tabs: 5, lifetime: 5, grace: 30 },
  ...{ engine: String, write: Boolean },
}
export const least = { rounds: 1, seconds: 1, tabs: 1, lifetime: 1 }

export async function* run({ engine, write, ...settings }) {
  const scripts = await bundle()
  const found = engines()
  const names = engine?.split(',') ?? Object.keys(found)
  const unknown = names.filter((name) => !found[name])
  if (unknown.length > 0)
    throw new RangeError(`--engine takes ${Object.keys(found).join()} on this machine, got ${unknown.join()}`)
  const rows = []
  let isKept = true
  for (const name of names) {
    const { sum, row } = await hardLife(found[name], scripts, settings)
    const promises = promisesOf(sum)
    isKept &&= promises.every(([isTrue]) => isTrue)
    rows.push(row)
    yield promises
  }
  if (write && isKept) await writeRows('docs/evidence/protocol.md', 'soak of tabs', rows)
}

async function hardLife(start, scripts, settings) {
  const results = []
  let engine
  for (let n = 1; n <= settings.rounds; n += 1) {
    engine = await start()
    if (n === 1) console.log(`\n${engine.name} ${engine.version}. It cannot: ${lacksOf(engine)}.`)
    const result = await oneRound(engine, { ...settings, scripts }, n)
    await engine.close().catch(() => undefined)
    results.push(result)
    tell(n, result)
  }
  const sum = sumOf(results)
  console.log(JSON.stringify(sum))
  return { sum, row: rowOf(engine, results.length, settings, sum) }
}

function tell(n, { deeds, refreshes, again, logins, trouble, seen, asOther }) {
  const reasons = logins.map(({ reason }) => reason ?? 'NO REASON').join()
  console.log(
    `  ${n}: ${JSON.stringify(deeds)}, ${refreshes} refreshes, ${again.length} again, logins: ${reasons} ${trouble}`,
  )
  for (const login of logins) if (!login.reason) console.log('    LOST', JSON.stringify([login, seen]))
  for (const request of asOther) console.log('    OTHER', JSON.stringify([request, seen.diary]))
  for (const { call, lost, earlier } of again)
    if (!lost) console.log('    TWICE', JSON.stringify([...earlier, call, seen.diary]))
}

/** Every second round leaves the storage and the clock alone: a login that is lost there is the fault of the package. */
function oneRound(engine, { scripts, seed, tabs, lifetime, grace, seconds }, n) {
  const graceMs = grace * 1_000
  const reuseGraceMs = Math.max(0, graceMs - 5_000)
  return new Round({ engine, dice: dice(seed, n), most: tabs }).run({
    scripts,
    options: { byLogin: { reuseGraceMs }, exchangeTimeoutMs: 4_000 },
    lifetimeMs: lifetime * 1_000,
    graceMs,
    seconds,
    deeds: n % 2 === 0 ? LIFE : { ...LIFE, ...STORAGE },
  })
}
