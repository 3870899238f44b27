import { doubted } from '../core/refresh-fate.ts'
import type { LeaseTerms } from '../core/token-store.ts'
import type { Pair, Reading, RecordState } from './record-shape.ts'
import { CLOCK_SLACK_MS, leftOf } from './record-views.ts'

/** In a new epoch the register may have lost writes: the refresh token may be spent. The access token still serves. */
export function inEpoch(state: RecordState, { now, epoch, epochAt = now }: Reading): RecordState {
  if (epoch === undefined || epoch === state.epoch) return state
  const { pair } = state
  return { ...state, epoch, pair: pair && state.epoch !== undefined ? lostSince(pair, epochAt) : pair }
}

/** The refresh token of a pair may be spent, although its owner was told: the register has lost that write. @param at When an owner first saw this. */
export function lostSince(pair: Pair, at: number): Pair {
  return { ...doubted(pair, 0), lossAt: Math.min(at, pair.lossAt ?? at) }
}

/**
 * Whoever reads a record that is older than what it has seen writes back what it has seen.
 *
 * @returns The record of now, in its epoch.
 */
export function withSeen(stored: RecordState, seen: RecordState | undefined, reading: Reading): RecordState {
  const state = inEpoch(stored, reading)
  if (!seen || !isOlder(stored, seen)) return state
  // Another owner may have seen a newer pair still.
  const pair = seen.pair && lostSince(seen.pair, state.pair?.lossAt ?? reading.now)
  const { fence, overlaps, claim: lease, rest, epoch } = state
  return {
    ...seen,
    pair,
    claim: lease,
    epoch,
    rest: rest?.code === 'ERR_LOGIN_REQUIRED' ? undefined : rest,
    fence: Math.max(fence, seen.fence),
    overlaps: overlaps || seen.overlaps,
  }
}

/**
 * Whether a record comes from before another one. Versions and fences alone do not say so: after a loss they begin again at the clock, which may have been set
 * back. So it is a login that this owner knows. A record without a pair may be that of a logout after a loss.
 */
export function isOlder({ version, pair, clearedFence, loginId }: RecordState, seen: RecordState): boolean {
  const isKnown = loginId === seen.loginId || (loginId !== undefined && seen.ended?.includes(loginId) === true)
  return pair !== undefined && isKnown && version < seen.version && Math.max(pair.fence, clearedFence) < orderOf(seen)
}

/** The fence of what the record tells last: that of its pair, or of a `clear`. */
function orderOf({ pair, clearedFence }: RecordState): number {
  return Math.max(pair?.fence ?? 0, clearedFence)
}

/**
 * For how long nobody presents the refresh token of a login, ms: as long as the owners need to look into the record. One of them may have its successor, and
 * writes that back.
 */
export function lossWaitMs(
  { pair }: RecordState,
  { needsLogin, graceMs, maxStalenessMs = 0 }: LeaseTerms,
  now: number,
): number {
  const lossAt = pair?.lossAt
  const isPresentable = needsLogin === true && pair?.refreshToken !== undefined && !pair.retired
  if (!isPresentable || lossAt === undefined || graceMs === Infinity || maxStalenessMs === 0) return 0
  return leftOf({ at: lossAt, ms: maxStalenessMs + CLOCK_SLACK_MS }, now)
}
