import type { KnownLogin, NewTokens, StoredTokens } from '../core/token-store.ts'
import type { Change, Reading, RecordState } from './record-shape.ts'
import { adopt, clear } from './record-state.ts'
import { tokensIn } from './record-views.ts'

/** A login or a logout whose step had no answer: how long ago it was, and what its owner had seen before it. */
export interface PastAct {
  readonly sinceMs: number
  readonly seenVersion: number
}

/** A login whose step had no answer. */
export interface PastLogin extends PastAct {
  /** What its last try has written, or would have written. Undefined: no try could read the record. */
  readonly clearedFence: number | undefined
  /** The epoch of the register at the first try to store these tokens. */
  readonly epoch: string | undefined
}

/**
 * Whether the record tells of a login or a logout that came after `at`, by the clock of the register, ms: both raise `clearedFence` at least to that clock.
 * What the owner had seen before its act came earlier, whatever the clocks say.
 */
function isOvertaken({ version, clearedFence }: RecordState, { seenVersion }: PastAct, at: number): boolean {
  return version > seenVersion && clearedFence > at
}

/**
 * Stores a login again, because the first time had no answer. What other owners have made of the login since stays.
 *
 * @param tokens Those of the login, or newer ones that this owner got without the record.
 * @returns The stored tokens if they are these, else undefined.
 */
export function adoptAgain(
  stored: RecordState | undefined,
  seenVersion: number,
  tokens: NewTokens,
  reading: Reading,
  login: PastLogin,
): Change<StoredTokens | undefined> {
  const { clearedFence: written, epoch = reading.epoch, sinceMs } = login
  const first = { now: reading.now - sinceMs, epoch }
  const { clearedFence = 0, loginId, pair } = stored ?? {}
  if (!stored || !pair || loginId === undefined || loginId !== tokens.loginId) {
    const isLater = written === undefined ? stored && isOvertaken(stored, login, first.now) : clearedFence >= written
    return isLater ? { answer: undefined } : adopt(stored, seenVersion, tokens, reading, first)
  }
  if (pair.accessToken === tokens.accessToken) return { answer: tokensIn(stored, pair, reading.now) }
  // If the pair is still that of the login, only this owner has renewed it.
  return pair.fence === clearedFence + 1 ? adopt(stored, seenVersion, tokens, reading, first) : { answer: undefined }
}

/** Steps that come in the same millisecond raise the fences above the clock. */
const FENCE_LEAD_MS = 1_000

/**
 * Ends a login whose logout had no answer, or whose login had none. A login that came later stays, also one of the same person. The record keeps the
 * instant of the act, so that a later login that is still untold is stored.
 *
 * @param ends The record may not know a login without a number. Then that login counts as stored: what it would have replaced ends, too.
 * @param act The logout; for a login without a number, that login.
 */
export function clearAgain(
  stored: RecordState | undefined,
  { seenVersion, login, loginId }: KnownLogin & { readonly seenVersion: number },
  reading: Reading,
  act: PastAct,
): Change<StoredTokens | undefined> {
  const now = reading.now - act.sinceMs
  const isThis = loginId !== undefined && stored?.loginId === loginId
  const leadMs = login === undefined ? 0 : FENCE_LEAD_MS
  if (stored && !isThis && isOvertaken(stored, act, now + leadMs)) return { answer: undefined }
  return clear(stored, { seenVersion, login: isThis ? undefined : login }, { ...reading, now })
}
