import type { Change, Reading, RecordState } from './record-shape.ts'
import { adopt, clear } from './record-state.ts'
import { tokensIn } from './record-views.ts'
import type { NewTokens, StoredTokens } from './token-store.ts'

/** A login or a logout whose step had no answer: how long ago it was, and what its owner had seen before it. */
export interface PastAct {
  readonly sinceMs: number
  readonly seenVersion: number
}

/**
 * Whether the record tells of a login or a logout that came later, or of this login itself: both raise `clearedFence` at least to the clock of the
 * register. Then this login is not stored again. What the owner had seen before its login came earlier, whatever the clocks say.
 *
 * @param earlier The `clearedFence` that this login has written, or would have written. Undefined: it could not read the record.
 * @param seenVersion What the owner had seen before it.
 * @param at Its instant by the clock of the register, ms.
 */
export function isOvertaken(
  stored: RecordState | undefined,
  earlier: number | undefined,
  seenVersion: number,
  at: number,
): boolean {
  if (!stored) return false
  const { version, clearedFence } = stored
  return earlier === undefined ? version > seenVersion && clearedFence > at : clearedFence >= earlier
}

/**
 * Stores a login again, because the first time had no answer. What other owners have made of the login since stays.
 *
 * @param tokens Those of the login, or newer ones that this owner got without the record.
 * @param first What the register would have told at the login, and whether the record tells of something later.
 * @returns The stored tokens if they are these, else undefined.
 */
export function adoptAgain(
  stored: RecordState | undefined,
  seenVersion: number,
  tokens: NewTokens,
  reading: Reading,
  first: Reading & { readonly wasOvertaken: boolean },
): Change<StoredTokens | undefined> {
  const { clearedFence = 0, loginId, pair } = stored ?? {}
  if (!stored || !pair || loginId === undefined || loginId !== tokens.loginId)
    return first.wasOvertaken ? { answer: undefined } : adopt(stored, seenVersion, tokens, reading, first)
  if (pair.accessToken === tokens.accessToken) return { answer: tokensIn(stored, pair, reading.now) }
  // If the pair is still that of the login, only this owner has renewed it.
  return pair.fence === clearedFence + 1 ? adopt(stored, seenVersion, tokens, reading, first) : { answer: undefined }
}

/** Steps that come in the same millisecond raise the fences above the clock. */
const FENCE_LEAD_MS = 1_000

/**
 * Ends a login again, because the first time had no answer. A login that came later stays, also one of the same person, and one that the record
 * does not know yet.
 *
 * @param seen The login that ends.
 * @param logout How long ago the logout was, and what the owner had seen before it.
 */
export function clearAgain(
  stored: RecordState | undefined,
  seen: { readonly seenVersion: number; readonly login: number | undefined },
  reading: Reading,
  { sinceMs, seenVersion }: PastAct,
): Change<StoredTokens | undefined> {
  const now = reading.now - sinceMs
  return isOvertaken(stored, undefined, seenVersion, now + FENCE_LEAD_MS)
    ? { answer: undefined }
    : clear(stored, seen, { ...reading, now })
}
