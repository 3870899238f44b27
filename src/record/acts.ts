import { type DatedAct, isLater, type StoredAct } from '../core/acts.ts'
import { continues } from './identity.ts'
import { type AdoptedTokens, type NewTokens, type StoredTokens } from '../core/stored-tokens.ts'
import { bare } from '../core/whole.ts'
import { joined, outdated, pastAfter } from './known-logins.ts'
import { type Change, type Reading, type RecordState, unchanged } from './record-shape.ts'
import { EMPTY, settled } from './record-state.ts'
import { keeps, type Seen, tokensIn } from './record-views.ts'

/** The number of ended logins whose ids the record keeps. */
const MOST_ENDED = 8

/**
 * Clears tokens, lease and cool-down, unless they belong to another login. Earlier leases can no longer store tokens.
 *
 * @param act Undefined: later logins are cleared, too.
 * @param at The instant of the act. A later attempt does not make the act later.
 */
export function clear(
  stored: RecordState | undefined,
  seen: Seen,
  reading: Reading,
  act?: DatedAct,
  at = reading.now,
): Change<StoredTokens | undefined> {
  const state = stored ?? EMPTY
  const { tokens } = state
  if (tokens && keeps(state, seen, act)) return unchanged(tokensIn(state, tokens, reading.now))
  return { state: cleared(stored, seen.seenVersion, bare({ ...reading, now: at })), result: undefined }
}

/** Versions and fences keep growing. Members that a later release added are kept. */
function cleared(stored: RecordState | undefined, seenVersion: number, { now, epoch }: Reading): RecordState {
  const { version, fence, overlaps, lease, login, loginId, ended = [] } = stored ?? EMPTY
  const clearedFence = Math.max(fence + 1, Math.floor(now))
  return {
    ...(stored ?? EMPTY),
    version: Math.max(version, seenVersion) + 1,
    fence: clearedFence,
    clearedFence,
    // The exchange under the cleared lease may still be in flight.
    overlaps: overlaps || lease?.settled === false,
    // Never below the clock, because the number of an earlier login must not be reused after lost writes.
    login: Math.max(login + 1, Math.floor(now)),
    subject: undefined,
    loginId: undefined,
    tokens: undefined,
    lease: undefined,
    coolDown: undefined,
    began: undefined,
    spent: undefined,
    resources: undefined,
    past: stored && pastAfter(stored),
    ended: (loginId === undefined ? ended : [loginId, ...ended]).slice(0, MOST_ENDED),
    epoch,
  }
}

/**
 * Stores tokens that came from outside, such as those of a login. Earlier leases can no longer store tokens.
 *
 * @param act A later attempt to store these tokens does not make the act later.
 * @param epoch The epoch of the register at the first attempt.
 */
export function adopt(
  stored: RecordState | undefined,
  seenVersion: number,
  tokens: NewTokens,
  reading: Reading,
  act: DatedAct,
  epoch = reading.epoch,
): Change<AdoptedTokens> {
  const brought = bare(tokens)
  const known = joined(stored, brought, reading)
  if (known) return known
  if (stored && isLater(stored.act, act)) return outdated(stored, brought, reading)
  const empty = cleared(stored, seenVersion, bare({ ...reading, now: act.at + act.ms }))
  // After lost writes, versions start over. An owner that has seen a higher version would drop these tokens as an older copy, and a login cannot be repeated.
  const version = Math.max(empty.version, Math.floor(reading.now / 1_000))
  const fence = empty.fence + 1
  const { loginId, fingerprint } = brought
  const isSame = stored?.tokens !== undefined && continues(stored, 'stored', brought)
  const login = isSame ? stored.login : empty.login
  const ended = empty.ended?.filter((id) => id !== loginId)
  const state = {
    ...empty,
    version,
    fence,
    login,
    act: storedAs(act, version + 1),
    ended,
    began: fingerprint,
  }
  return settled(state, { version, fence, epoch, login: undefined, tokens: undefined }, brought, reading.now)
}

/** @param version The version of the record with this act. */
export function storedAs({ owner, n, at, ms }: DatedAct, version: number): StoredAct {
  return { owner, n, at, ms, version }
}
