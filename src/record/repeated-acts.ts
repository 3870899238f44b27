import { type DatedAct, isLater } from '../core/acts.ts'
import { type AdoptedTokens, type NewTokens, NO_ENDING, type StoredTokens } from '../core/stored-tokens.ts'
import { adopt, clear, storedAs } from './acts.ts'
import { type Change, type Reading, type RecordState, unchanged } from './record-shape.ts'
import { EMPTY } from './record-state.ts'
import { type Seen, tokensIn } from './record-views.ts'

/**
 * Stores a login again, because the first step had no response. What other owners have done since then stays: a later login, or the end of this one. The end of
 * any other login says nothing about this one.
 *
 * @param tokens Those of the login, or newer ones that this owner obtained without the record.
 * @param epoch The epoch of the register at the first attempt to store these tokens.
 * @returns The stored tokens if they are these, otherwise undefined.
 */
export function adoptAgain(
  stored: RecordState | undefined,
  seenVersion: number,
  brought: NewTokens,
  reading: Reading,
  act: DatedAct,
  epoch = reading.epoch,
): Change<AdoptedTokens | undefined> {
  const { clearedFence, loginId = '', tokens, ended = [] } = stored ?? EMPTY
  const again = () => adopt(stored, seenVersion, brought, reading, act, epoch)
  if (!stored || !tokens || loginId !== brought.loginId)
    return ended.includes(brought.loginId ?? '') || isLater(stored?.act, act) ? unchanged(undefined) : again()
  if (tokens.accessToken === brought.accessToken) return unchanged(tokensIn(stored, tokens, reading.now))
  // If the record still has the first token set of the login, no other owner has renewed it.
  return tokens.fence === clearedFence + 1 ? again() : unchanged(undefined)
}

/**
 * Whether the record has nothing to clear. Clearing it again would notify the owners that follow it. If the response is lost again, this owner would repeat
 * the logout at each such notification, endlessly.
 */
function isClear({ tokens, lease, coolDown, clearedFence }: RecordState): boolean {
  return !tokens && !lease && !coolDown && clearedFence > 0
}

/**
 * Ends a login whose logout or `adopt` had no response. A later login stays, even one of the same user.
 *
 * @param act The logout, or the act of a login that the record may not have. Such a login counts as stored: it ends what it would have replaced, and an
 * earlier login that another owner stores later.
 */
export function clearAgain(
  stored: RecordState | undefined,
  seen: Seen,
  reading: Reading,
  act: DatedAct,
  isLogin: boolean,
): Change<StoredTokens | undefined> {
  const isStored = stored?.act?.owner === act.owner && stored.act.n === act.n
  if (stored && isClear(stored) && (!isLogin || isStored)) return unchanged(undefined)
  const ended = isLogin ? { ...NO_ENDING, seenVersion: seen.seenVersion } : seen
  const { result, state } = clear(stored, ended, reading, act, act.at + act.ms)
  return { result, state: state && isLogin ? { ...state, act: storedAs(act, state.version) } : state }
}
