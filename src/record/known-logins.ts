import type { AdoptedTokens, NewTokens } from '../core/stored-tokens.ts'
import { type Change, type StoredTokenSet, type Reading, type RecordState, unchanged } from './record-shape.ts'
import { leftOf, tokensIn } from './record-views.ts'

/** The number of fingerprints of spent refresh tokens that are kept for the current login. For all earlier logins together, twice as many are kept. */
const MOST_SPENT = 8

/** The spent fingerprints after a renewal. */
export function spentAfter({ tokens: kept, spent = [] }: RecordState, tokens: NewTokens): readonly string[] {
  const fingerprint = kept?.fingerprint
  return fingerprint === undefined || fingerprint === tokens.fingerprint
    ? spent
    : [fingerprint, ...spent].slice(0, MOST_SPENT)
}

/** The fingerprints of all earlier logins after the current one has ended. */
export function pastAfter({ began, tokens, spent = [], past = [] }: RecordState): readonly string[] {
  const all = [began, tokens?.fingerprint, ...spent, ...past].filter((one) => one !== undefined)
  return [...new Set(all)].slice(0, 2 * MOST_SPENT)
}

/**
 * Handles adopted tokens of a login that the record knows. Nothing changes, except that a newer access token for the current refresh token is stored.
 *
 * @returns undefined: the record does not know the login.
 */
export function joined(
  stored: RecordState | undefined,
  tokens: NewTokens,
  reading: Reading,
): Change<AdoptedTokens> | undefined {
  const { now } = reading
  const { fingerprint } = tokens
  if (!stored || fingerprint === undefined) return undefined
  const { tokens: kept, began, spent = [], past = [] } = stored
  const isThis = [began, kept?.fingerprint, ...spent].includes(fingerprint)
  if (!isThis && !past.includes(fingerprint)) return undefined
  if (!kept || !isThis) return outdated(stored, tokens, reading)
  const state = kept.fingerprint === fingerprint ? withAccess(stored, kept, tokens, now) : undefined
  const current = state?.tokens ?? kept
  return { state, result: { ...tokensIn(state ?? stored, current, now), known: 'same' } }
}

/** The login of these tokens has ended, or a later one has replaced it. */
export function outdated(stored: RecordState, tokens: NewTokens, { now }: Reading): Change<AdoptedTokens> {
  const { tokens: kept, version } = stored
  if (!kept) return unchanged({ ...tokens, version, known: 'ended' })
  return unchanged({ ...tokensIn(stored, kept, now), known: 'replaced' })
}

/** Stores a newer access token, because a refresh token that is not rotated yields several. @returns undefined: it is not newer. */
function withAccess(
  stored: RecordState,
  kept: StoredTokenSet,
  tokens: NewTokens,
  now: number,
): RecordState | undefined {
  const { accessToken, accessLifetimeMs, accessRemainingMs } = tokens
  const isNewer = accessToken !== '' && accessRemainingMs > leftOf({ at: kept.at, ms: kept.accessMs }, now)
  if (!isNewer || accessToken === kept.accessToken) return undefined
  const refreshMs = kept.refreshMs === undefined ? undefined : kept.refreshMs - (now - kept.at)
  const next = { ...kept, at: now, accessToken, accessLifetimeMs, accessMs: accessRemainingMs, refreshMs }
  return { ...stored, version: stored.version + 1, tokens: next }
}
