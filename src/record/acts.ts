import { isOfOther, type AdoptedTokens, type NewTokens, type StoredTokens } from '../core/token-store.ts'
import { joined, pastAfter } from './known-logins.ts'
import type { Change, Reading, RecordState } from './record-shape.ts'
import { bare, EMPTY, settled } from './record-state.ts'
import { type Seen, tokensIn } from './record-views.ts'

/** The record keeps the ids of so many logins that have ended. */
const MOST_ENDED = 8

/** Forgets tokens, claims and cool-downs, unless they are those of another login. Earlier claims bring nothing any more. */
export function clear(stored: RecordState | undefined, seen: Seen, reading: Reading): Change<StoredTokens | undefined> {
  const state = stored ?? EMPTY
  if (state.pair && isOfOther(state, seen)) return { answer: tokensIn(state, state.pair, reading.now) }
  return { state: cleared(stored, seen.seenVersion, reading), answer: undefined }
}

/** Versions and fences keep growing, and members of later releases go on. */
function cleared(stored: RecordState | undefined, seenVersion: number, { now, epoch }: Reading): RecordState {
  const { version, fence, overlaps, claim: lease, login, loginId, ended = [] } = stored ?? EMPTY
  const clearedFence = Math.max(fence + 1, Math.floor(now))
  return {
    ...(stored ?? EMPTY),
    version: Math.max(version, seenVersion) + 1,
    fence: clearedFence,
    clearedFence,
    // The exchange of the forgotten claim may still be in flight.
    overlaps: overlaps || lease?.settled === false,
    // Not below the clock: after a loss, the number of an earlier login must not come again.
    login: Math.max(login + 1, Math.floor(now)),
    subject: undefined,
    loginId: undefined,
    pair: undefined,
    claim: undefined,
    rest: undefined,
    began: undefined,
    spent: undefined,
    past: stored && pastAfter(stored),
    ended: (loginId === undefined ? ended : [loginId, ...ended]).slice(0, MOST_ENDED),
    epoch,
  }
}

/**
 * Stores tokens that came from elsewhere. Earlier claims bring nothing any more.
 *
 * @param first Of the first try to store these tokens: the epoch of the register, and the instant of the login by its clock. Later tries do not make the
 * login a later one.
 */
export function adopt(
  stored: RecordState | undefined,
  seenVersion: number,
  tokens: NewTokens,
  reading: Reading,
  { epoch, now }: Reading = reading,
): Change<AdoptedTokens> {
  const known = joined(stored, bare(tokens), reading)
  if (known) return known
  const empty = cleared(stored, seenVersion, bare({ ...reading, now }))
  // After a loss versions begin again. An owner that has seen a higher one would drop these tokens as those of an older copy, and nobody can get
  // them again.
  const version = Math.max(empty.version, Math.floor(reading.now / 1_000))
  const fence = empty.fence + 1
  const isSame = stored?.pair !== undefined && tokens.subject !== undefined && tokens.subject === stored.subject
  const login = isSame ? stored.login : empty.login
  const ended = empty.ended?.filter((id) => id !== tokens.loginId)
  const state = { ...empty, version, fence, login, adoptedAt: Math.floor(now), ended, began: bare(tokens).fingerprint }
  return settled(state, bare({ version, fence, ...(epoch !== undefined && { epoch }) }), bare(tokens), reading.now)
}
