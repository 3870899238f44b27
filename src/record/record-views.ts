import type { CoolDown, Missing } from '../core/lease.ts'
import { type DatedAct, isLater } from '../core/acts.ts'
import { isOther } from './identity.ts'
import type { AdoptedTokens, Identity } from '../core/stored-tokens.ts'
import type { Whole } from '../core/whole.ts'
import type { Reading, RecordState, StoredCoolDown, StoredLease, StoredTokenSet } from './record-shape.ts'

/** The record keeps a refresh token of unknown expiry for a year: a login may be idle for months. */
const UNKNOWN_REFRESH_MS = 365 * 24 * 60 * 60 * 1_000

/** Between two readings, an owner extrapolates the clock of the record with its own. The next reading may be this much behind. */
export const CLOCK_SLACK_MS = 1_000

/** What an owner has seen. */
export interface Seen extends Identity {
  readonly seenVersion: number
}

/** Whether the record keeps its login when an act ends an owner's login: the record has another login, or a later one of the same user. */
export function keeps(state: RecordState, ends: Identity, act: DatedAct | undefined): boolean {
  const isThis = ends.loginId !== undefined && state.loginId === ends.loginId
  return isOther(ends, state) || (!isThis && isLater(state.act, act))
}

/** Whether the record holds tokens that an owner has not seen. */
export function isNewer(state: RecordState, seen: Seen): boolean {
  return state.tokens !== undefined && (state.version > seen.seenVersion || isOther(seen, state))
}

/** Why the record holds no usable tokens. */
export function whyMissing({ version, clearedFence }: RecordState, seenVersion: number): Missing {
  if (version < seenVersion) return 'lost'
  return clearedFence > 0 ? 'logged-out' : 'none-yet'
}

/**
 * The rest of a duration that began at `at`: at most `ms`, and 0 or less once it is over. If `at` is in the future, the clock was set back and nothing is left:
 * otherwise the lease of a dead owner would block all others for that long.
 */
export function leftOf({ at, ms }: { readonly at: number; readonly ms: number | null }, now: number): number {
  if (ms === null) return Infinity
  return at - now > CLOCK_SLACK_MS ? 0 : Math.min(ms, at + ms - now)
}

/** @returns undefined if the lease was not dated in this boot of this machine. */
export function leftOnMachine({ machine, ms }: StoredLease, { machine: here }: Reading): number | undefined {
  return here && machine?.boot === here.boot ? leftOf({ at: machine.at, ms }, here.at) : undefined
}

export function tokensIn(
  { version, login, subject, loginId }: RecordState,
  tokens: StoredTokenSet,
  now: number,
): Whole<AdoptedTokens> {
  const { at, accessToken, accessLifetimeMs, accessMs, refreshToken, refreshMs, dueMs, context, credentials } = tokens
  return {
    version,
    login: login > 0 ? login : undefined,
    subject,
    loginId,
    accessToken,
    accessLifetimeMs,
    accessRemainingMs: leftOf({ at, ms: accessMs }, now),
    refreshToken,
    context,
    credentials,
    fingerprint: undefined,
    known: undefined,
    // Not 0 if the clock was set back: the service knows whether the refresh token is still valid.
    refreshRemainingMs: refreshMs === undefined ? undefined : Math.min(refreshMs, at + refreshMs - now),
    dueRemainingMs: dueMs === undefined ? undefined : Math.min(dueMs, at + dueMs - now),
  }
}

export function coolDownIn({ at, ms, ...reason }: StoredCoolDown, leftMs: number): CoolDown {
  return { kind: 'cool-down', ms: leftMs, ...reason }
}

/** @returns How long the record is useful, ms from `now`. */
export function keptMs({ tokens, lease, coolDown }: RecordState, now: number): number {
  if (coolDown?.ms === null && coolDown.code !== 'ERR_LOGIN_REQUIRED') return Infinity
  const ends = [
    tokens
      ? tokens.at +
        Math.max(tokens.accessMs, tokens.refreshToken === undefined ? 0 : (tokens.refreshMs ?? UNKNOWN_REFRESH_MS))
      : 0,
    lease ? lease.at + lease.ms : 0,
    coolDown ? coolDown.at + (coolDown.ms ?? 0) : 0,
  ]
  return Math.max(0, Math.max(...ends) - now)
}
