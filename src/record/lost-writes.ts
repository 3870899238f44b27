import { doubted } from '../core/refresh-fate.ts'
import { isOfLogin, type LeaseTerms } from '../core/lease.ts'
import type { StoredTokenSet, Reading, RecordState } from './record-shape.ts'
import { CLOCK_SLACK_MS, leftOf } from './record-views.ts'

/** Moves a record to the current epoch. The register may have lost writes, so the refresh token may be spent. The access token stays valid. */
export function inEpoch(state: RecordState, { now, epoch, epochAt = now }: Reading): RecordState {
  if (epoch === undefined || epoch === state.epoch) return state
  const { tokens } = state
  return { ...state, epoch, tokens: tokens && state.epoch !== undefined ? lostSince(tokens, epochAt) : tokens }
}

/** Marks a token set whose refresh token may be spent, because the register has lost the write of its successor. @param at When an owner first saw this. */
function lostSince(tokens: StoredTokenSet, at: number): StoredTokenSet {
  return { ...doubted(tokens, 0), lossAt: Math.min(at, tokens.lossAt ?? at) }
}

/**
 * Merges what an owner has seen into an older record. The owner writes the result back.
 *
 * @returns The newer of the two, in the current epoch.
 */
export function withSeen(stored: RecordState, seen: RecordState | undefined, reading: Reading): RecordState {
  const state = inEpoch(stored, reading)
  if (!seen || !isOlder(stored, seen)) return state
  // Another owner may have seen an even newer token set.
  const tokens = seen.tokens && lostSince(seen.tokens, state.tokens?.lossAt ?? reading.now)
  const { fence, overlaps, lease, coolDown, epoch } = state
  return {
    ...seen,
    tokens,
    lease,
    epoch,
    coolDown: coolDown?.code === 'ERR_LOGIN_REQUIRED' ? undefined : coolDown,
    fence: Math.max(fence, seen.fence),
    overlaps: overlaps || seen.overlaps,
  }
}

/**
 * Whether a record is older than another one. Versions and fences alone do not decide: after lost writes they restart at the clock, which may have been set
 * back. So the record must also hold a login that this owner knows. A record without tokens may result from a logout after the loss.
 */
export function isOlder({ version, tokens, clearedFence, loginId }: RecordState, seen: RecordState): boolean {
  const isKnown = loginId === seen.loginId || (loginId !== undefined && seen.ended?.includes(loginId) === true)
  return (
    tokens !== undefined && isKnown && version < seen.version && Math.max(tokens.fence, clearedFence) < orderOf(seen)
  )
}

/** The fence of the last change: that of the token set, or of a `clear`. */
function orderOf({ tokens, clearedFence }: RecordState): number {
  return Math.max(tokens?.fence ?? 0, clearedFence)
}

/**
 * For how much longer no owner presents the refresh token of a login after lost writes, ms. Within this time every owner checks the record, and one that has
 * the successor writes it back.
 */
export function lossWaitMs({ tokens }: RecordState, terms: LeaseTerms, now: number): number {
  const { graceMs, maxStalenessMs = 0 } = terms
  const lossAt = tokens?.lossAt
  const isPresentable = isOfLogin(terms) && tokens?.refreshToken !== undefined && !tokens.retired
  if (!isPresentable || lossAt === undefined || graceMs === Infinity || maxStalenessMs === 0) return 0
  return leftOf({ at: lossAt, ms: maxStalenessMs + CLOCK_SLACK_MS }, now)
}
