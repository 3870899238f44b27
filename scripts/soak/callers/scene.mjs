// Hundreds of callers of one process send real HTTP while everything fails at random: [--seconds 60].
import { globalAgent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { dice } from '../../lib/dice.mjs'
import { Account } from './account.mjs'
import { Caller } from './caller.mjs'
import { Crowd } from './crowd.mjs'
import { misfortune } from './faults.mjs'
import { countsOf, promisesOf } from './report.mjs'
import { startServices } from './services.mjs'
import { Tally } from './tally.mjs'

const CALLERS = 300
/** What is left open by then is a leak, ms. */
const LEFT_MS = 10_000

/** Options of each service, and of the manager of its account. */
const ACCOUNTS = [
  ['A', { accessLifetimeMs: 2_000 }, {}],
  ['A', { accessLifetimeMs: 3_000, latencyMs: 40, throttle: { calls: 6, windowMs: 5_000 } }, { vault: true }],
  ['A', { accessLifetimeMs: 5_000, latencyMs: 400 }, {}],
  ['B', { accessLifetimeMs: 2_000 }, { vault: true }],
  ['B', { accessLifetimeMs: 3_000, latencyMs: 40, throttle: { calls: 6, windowMs: 5_000 } }, {}],
  ['B', { accessLifetimeMs: 5_000, latencyMs: 400, refreshLifetimeMs: 8_000 }, { onSuspicious: 'stop' }],
]

export const options = { seconds: 60 }
export const least = { seconds: 1 }

export async function* run({ seconds, seed }) {
  console.log(`${CALLERS} axios instances with bearer tokens attached send requests to ${ACCOUNTS.length} simulated services for ${seconds} s, three of each
variant (A: client id and secret; B: login, password and single-use refresh tokens), whose access tokens live 2 to 5 s. All the while
token calls and requests fail, hang and break off, tokens are revoked and stolen, callers give up, managers are reset.\n`)
  const tally = new Tally()
  watchProcess(tally)
  const { services, close } = await startServices(ACCOUNTS.map(([, options]) => options))
  const accounts = ACCOUNTS.map(
    ([variant, , options], n) =>
      new Account(`${variant}${(n % 3) + 1}`, variant, services[n], tally, dice(seed, n), options),
  )
  const callers = Array.from({ length: CALLERS }, (_, n) => {
    const [first, second] = [accounts[n % 6], accounts[(n + 1 + (n % 5)) % 6]]
    return new Caller([first, second], n % 3 === 0 ? 'fetch' : 'http', tally, dice(seed, 100 + n))
  })
  const samples = await lifeOf(callers, accounts, tally, { seconds, seed })
  await Promise.all(accounts.map(({ tokens }) => tokens.close()))
  const served = await close()
  globalAgent.destroy()
  served.forEach((counts, n) => {
    for (const [what, times] of Object.entries(counts)) tally.add(accounts[n].variant, 'served', what, times)
  })
  console.log(countsOf(tally))
  yield promisesOf({ tally, samples, left: await leftOpen() })
}

function watchProcess(tally) {
  for (const event of ['unhandledRejection', 'uncaughtException'])
    process.on(event, (error) => tally.breach('crash', String(error?.stack ?? error)))
  process.on('warning', (warning) => tally.breach('warning', String(warning)))
}

/** @returns The heap at each rest. */
async function lifeOf(callers, accounts, tally, { seconds, seed }) {
  const endAt = performance.now() + seconds * 1_000
  const restEveryMs = Math.max(2_500, (seconds * 1_000) / 12)
  const end = new AbortController()
  const crowd = new Crowd(callers, tally, seed)
  const failing = misfortune(accounts, callers, tally, dice(seed, 50), end.signal)
  while (performance.now() < endAt) {
    await pause(Math.min(restEveryMs, endAt - performance.now()))
    await crowd.rest()
  }
  end.abort()
  await Promise.all([crowd.end(), failing])
  return crowd.samples
}

/** With nothing open Node says `beforeExit`. The timer holds no process: it fires only if something else does. */
function leftOpen() {
  return new Promise((resolve) => {
    process.once('beforeExit', () => resolve([]))
    setTimeout(() => resolve(process.getActiveResourcesInfo()), LEFT_MS).unref()
  })
}
