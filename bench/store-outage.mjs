// The store of a large fleet is unavailable for longer than the token is valid: npm run build && node bench/store-outage.mjs [seconds that the token has left]
// It also prints a lower bound: no schedule serves more processes than the service has issued tokens.
import { createTokenManager, TokenError } from '../dist/index.js'
import { sharedStore } from '../dist/store.js'
import { manualClock } from '../dist/testing.js'
import { dice } from '../scripts/lib/dice.mjs'

const SERVES_S = Number(process.argv[2] ?? 350)
const [PROCESSES, PER_MINUTE, AWAY_S, EVERY_S, LIFETIME_S] = [2_000, 70, 700, 5, 3_600]
const STEP_MS = 100
/** Chosen so that the instants of requests do not differ by a whole number of ms. */
const GOLDEN = 0.061803

// A hundred thousand errors: their stacks would take most of the time.
Error.stackTraceLimit = 0
const { random } = dice(1)
const clock = manualClock()
const store = registerOf()
const service = serviceOf()
const fleet = Array.from({ length: PROCESSES }, () => {
  const options = { source: service, store: sharedStore(store), clock, random, renewal: { keepWarm: 'never' } }
  const tokens = createTokenManager(options)
  for (const name of ['anomaly', 'storeUnavailable']) tokens.on(name, () => undefined)
  // When it makes its requests.
  return { tokens, atMs: random() * EVERY_S * 1_000 }
})

/** The store does not respond while it is away. */
function registerOf() {
  const values = new Map()
  const step = async (run) => (store.isAway ? new Promise(() => undefined) : run())
  return {
    kind: 'memory',
    isAway: false,
    read: (key) => step(() => ({ now: clock.wallNow(), value: values.get(key) })),
    replace: (key, expected, value) => step(() => values.get(key) === expected && Boolean(values.set(key, value))),
  }
}

/** A service that accepts a number of requests in any minute, and responds 429 without Retry-After to the others. */
function serviceOf() {
  const accepted = []
  const counts = { calls: 0, accepted: 0 }
  const obtain = async () => {
    const now = clock.monotonicNow()
    while (accepted[0] <= now - 60_000) accepted.shift()
    counts.calls += 1
    if (accepted.length >= PER_MINUTE) throw new TokenError('ERR_THROTTLED', 'responded with 429', { status: 429 })
    accepted.push(now)
    counts.accepted += 1
    return { accessToken: `access-${now}`, accessLifetimeMs: LIFETIME_S * 1_000 }
  }
  return { id: 'fleet', obtain, counts }
}

/** Each process makes a request every few seconds. @returns How many were refused. */
async function requests(seconds) {
  let refused = 0
  for (let atMs = 0; atMs < seconds * 1_000; atMs += STEP_MS) {
    const since = atMs % (EVERY_S * 1_000)
    for (const { tokens, atMs } of fleet)
      if (since <= atMs && atMs < since + STEP_MS) tokens.getAccessToken().catch(() => (refused += 1))
    await clock.advance(STEP_MS + GOLDEN)
  }
  return refused
}

/**
 * The fewest requests that any schedule refuses, if a process renews when its token is due (5 to 6 min before its end): a token for each request that the service
 * accepts from then on.
 */
function bound() {
  const from = Math.max(0, SERVES_S - 360)
  let refused = 0
  for (let at = SERVES_S; at < AWAY_S; at += 1)
    refused += Math.max(0, PROCESSES - PER_MINUTE * (Math.floor((at - from) / 60) + 1)) / EVERY_S
  return refused
}

// From the second lifetime of a token on, each process knows the size of the fleet.
await requests(10)
await clock.advance((LIFETIME_S - 5) * 1_000)
await requests(10)
await clock.advance((LIFETIME_S - SERVES_S - 10) * 1_000)
Object.assign(service.counts, { calls: 0, accepted: 0 })
store.isAway = true
const refused = await requests(AWAY_S)
const all = (PROCESSES * AWAY_S) / EVERY_S
const share = (count) => `${count.toFixed(0)} of ${all} (${((100 * count) / all).toFixed(1)} %)`
console.log(
  `${PROCESSES} processes, a request every ${EVERY_S} s; the store is away for ${AWAY_S} s, and the token is valid for ${SERVES_S} s more`,
)
console.log(`token requests: ${service.counts.calls}, of which the service accepted ${service.counts.accepted}`)
console.log(`refused:        ${share(refused)}`)
console.log(`lower bound:    ${share(bound())}`)
