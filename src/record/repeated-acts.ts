import type { AdoptedTokens, KnownLogin, NewTokens, StoredTokens } from '../core/stored-tokens.ts'
import { adopt, clear } from './acts.ts'
import type { Change, Reading, RecordState } from './record-shape.ts'
import { EMPTY } from './record-state.ts'
import { endsEarlier, isSuperseded, type PastAct, tokensIn } from './record-views.ts'

/**
 * Stores a login again, because the first step had no response. What other owners did since then stays: a later login, or the end of this one. The end of any
 * other login says nothing about this one.
 *
 * @param tokens Those of the login, or newer ones that this owner obtained without the record.
 * @param login The instant of the login by the clock of the register, and the epoch of the first attempt to store these tokens.
 * @returns The stored tokens if they are these, otherwise undefined.
 */
export function adoptAgain(
  stored: RecordState | undefined,
  seenVersion: number,
  tokens: NewTokens,
  reading: Reading,
  login: PastAct & Reading,
): Change<AdoptedTokens | undefined> {
  const { clearedFence, loginId = '', tokens: kept, ended = [] } = stored ?? EMPTY
  const again = () => adopt(stored, seenVersion, tokens, reading, login)
  if (!stored || !kept || loginId !== tokens.loginId) {
    // Of two logins in one millisecond, the stored one stays.
    const at = Math.floor(login.now) - 1
    const isOver = ended.includes(tokens.loginId ?? '') || (stored && isSuperseded(stored, login, at, reading.now))
    return isOver ? { result: undefined } : again()
  }
  if (kept.accessToken === tokens.accessToken) return { result: tokensIn(stored, kept, reading.now) }
  // If the token set is still that of the login, only this owner has renewed it.
  return kept.fence === clearedFence + 1 ? again() : { result: undefined }
}

/**
 * Whether the record was cleared since the act, and has neither tokens nor a lease. To clear it again would notify its followers of a change. If the response
 * is lost again, they would repeat the logout without end.
 */
function isCleared({ tokens, lease, clearedFence, adoptedAt }: RecordState, { isLogin }: PastAct, at: number): boolean {
  return !tokens && !lease && clearedFence >= at && (!isLogin || adoptedAt === at)
}

/**
 * Ends a login whose logout or `adopt` had no response. A later login stays, even one of the same user.
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
  if (stored && endsEarlier(stored, seen, act, reading.now)) return { result: undefined }
  if (stored && isCleared(stored, act, Math.floor(now))) return { result: undefined }
  if (!act.isLogin) return clear(stored, seen, { ...reading, now })
  const { result, state } = clear(stored, { seenVersion: seen.seenVersion }, { ...reading, now })
  return { result, state: state && { ...state, adoptedAt: Math.floor(now) } }
}
