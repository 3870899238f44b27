import type { AdoptedTokens, NewTokens } from '../core/token-store.ts'
import type { Change, Pair, Reading, RecordState } from './record-shape.ts'
import { leftOf, tokensIn } from './record-views.ts'

/** The record keeps so many fingerprints of the tokens that a login has spent, and twice as many of earlier logins. */
const MOST_SPENT = 8

/** Those of a login after it has renewed its pair. */
export function spentAfter({ pair, spent = [] }: RecordState, tokens: NewTokens): readonly string[] {
  const fingerprint = pair?.fingerprint
  return fingerprint === undefined || fingerprint === tokens.fingerprint
    ? spent
    : [fingerprint, ...spent].slice(0, MOST_SPENT)
}

/** Those of the logins that have ended, this one included. */
export function pastAfter({ began, pair, spent = [], past = [] }: RecordState): readonly string[] {
  const all = [began, pair?.fingerprint, ...spent, ...past].filter((one) => one !== undefined)
  return [...new Set(all)].slice(0, 2 * MOST_SPENT)
}

/**
 * Whether tokens that are adopted belong to a login that the record knows: then nothing changes, but that a newer access token of the very refresh token is taken.
 *
 * @returns undefined: it is another login.
 */
export function joined(
  stored: RecordState | undefined,
  tokens: NewTokens,
  { now }: Reading,
): Change<AdoptedTokens> | undefined {
  const { fingerprint } = tokens
  if (!stored || fingerprint === undefined) return undefined
  const { pair, began, spent = [], past = [] } = stored
  const isThis = [began, pair?.fingerprint, ...spent].includes(fingerprint)
  if (!isThis && !past.includes(fingerprint)) return undefined
  if (!pair) return { answer: { ...tokens, version: stored.version, known: 'ended' } }
  if (!isThis) return { answer: { ...tokensIn(stored, pair, now), known: 'replaced' } }
  const state = pair.fingerprint === fingerprint ? withAccess(stored, pair, tokens, now) : undefined
  const current = state?.pair ?? pair
  return { state, answer: { ...tokensIn(state ?? stored, current, now), known: 'same' } }
}

/** A refresh token that stays good brings one access token after the other. */
function withAccess(stored: RecordState, pair: Pair, tokens: NewTokens, now: number): RecordState | undefined {
  const { accessToken, accessLifetimeMs, accessRemainingMs } = tokens
  const isNewer = accessToken !== '' && accessRemainingMs > leftOf({ at: pair.at, ms: pair.accessMs }, now)
  if (!isNewer || accessToken === pair.accessToken) return undefined
  const refreshMs = pair.refreshMs === undefined ? undefined : pair.refreshMs - (now - pair.at)
  const next = { ...pair, at: now, accessToken, accessLifetimeMs, accessMs: accessRemainingMs, refreshMs }
  return { ...stored, version: stored.version + 1, pair: next }
}
