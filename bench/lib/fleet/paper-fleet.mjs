import { createTokenManager, memoryStore, TokenError } from '../../evergreen.mjs'
import { dice } from '../../../scripts/lib/dice.mjs'
import { virtualClock } from '../virtual-clock.mjs'

const LIFETIME_MS = 60_000
export const SECONDS = 600
/** The service responds with 503 from the first of these seconds until the second one. */
export const OUTAGE = [240, 360]
const LATENCY_MS = [50, 150]

/**
 * Simulates ten minutes of processes that all start in the same instant and always keep a token.
 *
 * @returns Token calls at the service, and steps at the shared store, second by second.
 */
export async function live({ processes, isShared, hasJitter }) {
  const clock = virtualClock()
  const draw = dice(1)
  const count = () => Array.from({ length: SECONDS }, () => 0)
  const [calls, steps] = [count(), count()]
  const seconds = () => clock.monotonicNow() / 1_000
  const tally = (counts) => (counts[Math.floor(seconds())] += 1)
  const source = {
    id: 'one account',
    async obtain() {
      const isAway = seconds() >= OUTAGE[0] && seconds() < OUTAGE[1]
      tally(calls)
      await new Promise((resolve) => clock.setTimer(resolve, draw.between(...LATENCY_MS)))
      if (!isAway) return { accessToken: 'token', accessLifetimeMs: LIFETIME_MS }
      const outcome = 'unknown-5xx'
      throw new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'answered 503', { status: 503, outcome })
    },
  }
  const shared = isShared && counted(memoryStore(), () => tally(steps))
  // If all draw the same, there is no jitter, neither of renewals nor of pauses.
  const random = hasJitter ? draw.random : () => 0.5
  const fleet = Array.from({ length: processes }, () =>
    createTokenManager({ source, clock, random, renewal: { keepWarm: 'always' }, ...(shared && { store: shared }) }),
  )
  const first = fleet.map((tokens) => tokens.getAccessToken())
  await clock.runTo(SECONDS * 1_000 - 1)
  await Promise.all(first)
  return { calls, steps }
}

/** @returns The same store, which reports each step of a record. With Redis each step is one command. */
function counted(store, onStep) {
  const step =
    (method) =>
    (...given) => {
      onStep()
      return method(...given)
    }
  return {
    kind: store.kind,
    open(...given) {
      const record = store.open(...given)
      const names = ['claim', 'accept', 'release', 'clear']
      return Object.fromEntries(names.map((name) => [name, step(record[name].bind(record))]))
    },
  }
}
