import { createTokenManager, memoryStore, TokenError } from '../../evergreen.mjs'
import { dice } from '../../../scripts/lib/dice.mjs'
import { virtualClock } from '../virtual-clock.mjs'
import { awayForAWhile } from './service.mjs'

const MAX_WAIT_MS = 30_000
const MINUTE_MS = 60_000
/** After this time every process has its first token, and no token is due. */
const WARM_MS = 1_000
/** No process should need as long to recover. If one does, this counts as its recovery time. */
const GIVE_UP_MS = 180_000
/** Time between two calls of one process after the outage: short, so that a recovery does not wait for a call. */
const GAP_AFTERWARDS_MS = 500

/** @returns One random outage; the same one for the same seed. */
export function drawn(seed) {
  const draw = dice(seed)
  const durationMs = draw.happens(0.5) ? draw.between(0, 20_000) : draw.logBetween(20_000, 300_000)
  const startAt = WARM_MS + draw.between(0, 45_000)
  return {
    draw,
    kind: draw.oneOf(['refused', 'reset', '503', 'mixed', 'no answer', 'no answer', 'slow']),
    durationMs,
    startAt,
    endAt: startAt + durationMs,
    pairs: draw.happens(0.5),
    processes: draw.happens(0.5) ? 1 : draw.whole(2, 4),
    latencyMs: draw.between(1, 100),
    /** Time between two API calls of all processes together. */
    gapMs: durationMs < 20_000 ? draw.between(100, 500) : draw.between(1_000, 3_000),
  }
}

/** @returns The effects on API calls and on the token service, until the outage has no effect any more. */
export async function live({ draw, processes, gapMs, startAt, endAt, ...outage }) {
  const clock = virtualClock()
  const { source, calls } = awayForAWhile({ ...outage, clock, draw, startAt, endAt })
  const store = memoryStore()
  const felt = { failed: 0, delayed: 0, mute: 0, alarms: 0, recoveryMs: 0 }
  const fleet = Array.from({ length: processes }, () => {
    const tokens = createTokenManager({ source, store, clock, random: draw.random })
    tokens.on('suspicious', ({ evidence }) => (felt.alarms += evidence === 'unexplained' ? 1 : 0))
    return tokens
  })
  const first = fleet.map((tokens) => tokens.getAccessToken())
  await clock.runTo(startAt)
  await Promise.all(first)
  calls.length = 0

  const wait = async (tokens) => {
    const askedAt = clock.monotonicNow()
    try {
      await tokens.getAccessToken()
    } catch (error) {
      felt.failed += 1
      if (!(error instanceof TokenError && Number.isFinite(error.retryAt))) felt.mute += 1
    }
    if (clock.monotonicNow() > askedAt) felt.delayed += 1
    felt.recoveryMs = Math.max(felt.recoveryMs, clock.monotonicNow() - endAt)
  }
  const waits = []
  // If all tokens are fresh, the next renewals meet a service that works again.
  const isOver = () => fleet.every((tokens) => tokens.status().phase === 'fresh')
  const gapAt = (at) => (at < endAt ? gapMs : Math.min(gapMs, GAP_AFTERWARDS_MS / processes)) * draw.between(0.5, 1.5)
  for (let at = startAt, turn = 0; at < endAt || !isOver(); at += gapAt(at), turn += 1) {
    if (at > endAt + GIVE_UP_MS) break
    await clock.runTo(at)
    const tokens = fleet[turn % processes]
    if (tokens.peekAccessToken() === undefined) waits.push(wait(tokens))
  }
  await clock.runTo(clock.monotonicNow() + MAX_WAIT_MS)
  await Promise.all(waits)
  return { ...felt, ...perMinute(calls.filter((at) => at < endAt)) }
}

/** @returns Token calls in the minute that begins with the first one, and the most in any later minute. */
function perMinute(calls) {
  const minutes = []
  for (const at of calls) {
    const minute = Math.floor((at - calls[0]) / MINUTE_MS)
    minutes[minute] = (minutes[minute] ?? 0) + 1
  }
  return { firstMinute: minutes[0] ?? 0, laterMinute: Math.max(0, ...minutes.slice(1).map((calls) => calls ?? 0)) }
}
