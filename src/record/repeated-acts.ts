import type { AdoptedTokens, KnownLogin, NewTokens, StoredTokens } from '../core/token-store.ts'
import { adopt, clear } from './acts.ts'
import type { Change, Reading, RecordState } from './record-shape.ts'
import { EMPTY } from './record-state.ts'
import { CLOCK_SLACK_MS, tokensIn } from './record-views.ts'

/** A login or a logout whose step had no answer: how long ago it was, and what its owner had seen before it. */
export interface PastAct {
  /** By the monotonic clock of the owner. */
  readonly sinceMs: number
  readonly seenVersion: number
  readonly isLogin: boolean
}

/**
 * Whether the record tells of a login that came after `at`. What the owner had seen before its act came earlier, whatever the clocks say. An instant in the
 * future says nothing: somebody has set the clock of the register back.
 */
function isOvertaken({ version, adoptedAt = 0 }: RecordState, act: PastAct, at: number, now: number): boolean {
  return version > act.seenVersion && adoptedAt > at && adoptedAt <= now + CLOCK_SLACK_MS
}

/**
 * Stores a login again, because the first time had no answer. What other owners have made of the login since stays: a later login, or the end of this very one.
 * The end of any other login says nothing about this one.
 *
 * @param tokens Those of the login, or newer ones that this owner got without the record.
 * @param login The instant of the login by the clock of the register, and the epoch of the first try to store these tokens.
 * @returns The stored tokens if they are these, else undefined.
 */
export function adoptAgain(
  stored: RecordState | undefined,
  seenVersion: number,
  tokens: NewTokens,
  reading: Reading,
  login: PastAct & Reading,
): Change<AdoptedTokens | undefined> {
  const { clearedFence, loginId = '', pair, ended = [] } = stored ?? EMPTY
  const again = () => adopt(stored, seenVersion, tokens, reading, login)
  if (!stored || !pair || loginId !== tokens.loginId) {
    // Of two logins in one millisecond, the one that is stored stays.
    const at = Math.floor(login.now) - 1
    const isOver = ended.includes(tokens.loginId ?? '') || (stored && isOvertaken(stored, login, at, reading.now))
    return isOver ? { answer: undefined } : again()
  }
  if (pair.accessToken === tokens.accessToken) return { answer: tokensIn(stored, pair, reading.now) }
  // If the pair is still that of the login, only this owner has renewed it.
  return pair.fence === clearedFence + 1 ? again() : { answer: undefined }
}

/**
 * Ends a login whose logout had no response, or whose `adopt` had none. A later login stays, also one of the same user.
 *
 * @param act The logout, or a login that the record may not have. Such a login counts as stored: it ends what it would have replaced, and an earlier login
 * that another owner reports later.
 */
export function clearAgain(
  stored: RecordState | undefined,
  seen: KnownLogin & { readonly seenVersion: number },
  reading: Reading,
  act: PastAct,
): Change<StoredTokens | undefined> {
  const now = reading.now - act.sinceMs
  const isThis = seen.loginId !== undefined && stored?.loginId === seen.loginId
  if (stored && !isThis && isOvertaken(stored, act, now, reading.now)) return { answer: undefined }
  if (!act.isLogin) return clear(stored, seen, { ...reading, now })
  const { answer, state } = clear(stored, { seenVersion: seen.seenVersion }, { ...reading, now })
  return { answer, state: state && { ...state, adoptedAt: Math.floor(now) } }
}
