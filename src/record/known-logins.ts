import type { AdoptedTokens, NewTokens } from '../core/stored-tokens.ts'
import type { Change, Pair, Reading, RecordState } from './record-shape.ts'
import { leftOf, tokensIn } from './record-views.ts'

/** The number of fingerprints kept of a login's spent refresh tokens. Of earlier logins, twice as many are kept. */
const MOST_SPENT = 8

/** The spent fingerprints after a renewal. */
export function spentAfter({ pair, spent = [] }: RecordState, tokens: NewTokens): readonly string[] {
  const fingerprint = pair?.fingerprint
  return fingerprint === undefined || fingerprint === tokens.fingerprint
    ? spent
    : [fingerprint, ...spent].slice(0, MOST_SPENT)
}

/** The fingerprints of ended logins, including this one. */
export function pastAfter({ began, pair, spent = [], past = [] }: RecordState): readonly string[] {
  const all = [began, pair?.fingerprint, ...spent, ...past].filter((one) => one !== undefined)
  return [...new Set(all)].slice(0, 2 * MOST_SPENT)
}

/**
 * Handles adopted tokens of a login that the record knows. Nothing changes, except that a newer access token for the current refresh token is stored.
 *
 * @returns undefined: it is another login.
 */
export function joined(
  stored: RecordState | undefined,
  tokens: NewTokens,
  reading: Reading,
): Change<AdoptedTokens> | undefined {
  const { now } = reading
  const { fingerprint } = tokens
  if (!stored || fingerprint === undefined) return undefined
  const { pair, began, spent = [], past = [] } = stored
  const isThis = [began, pair?.fingerprint, ...spent].includes(fingerprint)
  if (!isThis && !past.includes(fingerprint)) return undefined
  if (!pair || !isThis) return outdated(stored, tokens, reading)
  const state = pair.fingerprint === fingerprint ? withAccess(stored, pair, tokens, now) : undefined
  const current = state?.pair ?? pair
  return { state, result: { ...tokensIn(state ?? stored, current, now), known: 'same' } }
}

/** The login of these tokens has ended, or a later one has replaced it. */
export function outdated(stored: RecordState, tokens: NewTokens, { now }: Reading): Change<AdoptedTokens> {
  const { pair, version } = stored
  if (!pair) return { result: { ...tokens, version, known: 'ended' } }
  return { result: { ...tokensIn(stored, pair, now), known: 'replaced' } }
}

/** A refresh token that is not rotated yields several access tokens. */
function withAccess(stored: RecordState, pair: Pair, tokens: NewTokens, now: number): RecordState | undefined {
  const { accessToken, accessLifetimeMs, accessRemainingMs } = tokens
  const isNewer = accessToken !== '' && accessRemainingMs > leftOf({ at: pair.at, ms: pair.accessMs }, now)
  if (!isNewer || accessToken === pair.accessToken) return undefined
  const refreshMs = pair.refreshMs === undefined ? undefined : pair.refreshMs - (now - pair.at)
  const next = { ...pair, at: now, accessToken, accessLifetimeMs, accessMs: accessRemainingMs, refreshMs }
  return { ...stored, version: stored.version + 1, pair: next }
}
