import type { SuspicionEvent, TokenEvents } from './events.ts'
import type { GrantedClaim, ReleaseAnswer } from './token-store.ts'

/** What is known when a refresh token has been refused. */
export interface Refusal {
  /** Remaining life of the refresh token, ms; undefined if its expiry is not known. */
  readonly remainingMs: number | undefined
  /** How far `remainingMs` may be off. */
  readonly uncertaintyMs: number
  /** An earlier attempt of ours with this token had an unknown outcome. */
  readonly attemptedBefore: boolean
  /** Another exchange of the account may have been in flight. */
  readonly contested: boolean
  readonly storeReachable: boolean
  /** The credentials are others than those that the obtain of this pair used. */
  readonly isRotated?: boolean
  /** Only a person can obtain. */
  readonly needsLogin?: boolean
}

/**
 * What is known of the refusal of a claim's refresh token.
 *
 * @param sinceClaimMs From the claim to the refusal.
 * @param answer The store's answer to the report of the refusal; undefined if the store could not be reached.
 */
export function refusalOf(
  {
    tokens,
    presentations,
    isDoubted,
    overlapped,
  }: Pick<GrantedClaim, 'tokens' | 'presentations' | 'isDoubted' | 'overlapped'>,
  sinceClaimMs: number,
  answer: Pick<ReleaseAnswer, 'contested'> | undefined,
  {
    needsLogin = false,
    met5xx = false,
    isRotated = false,
  }: Partial<Record<'needsLogin' | 'met5xx' | 'isRotated', boolean | undefined>> = {},
): Refusal {
  const { accessLifetimeMs = 0, accessRemainingMs = 0, refreshRemainingMs } = tokens ?? {}
  return {
    remainingMs: refreshRemainingMs === undefined ? undefined : refreshRemainingMs - sinceClaimMs,
    uncertaintyMs: uncertaintyOf(accessLifetimeMs - accessRemainingMs + sinceClaimMs),
    attemptedBefore: presentations > 0 || isDoubted === true || met5xx,
    contested: overlapped === true || answer?.contested === true,
    storeReachable: answer !== undefined,
    isRotated,
    needsLogin,
  }
}

export type Suspicion = Pick<SuspicionEvent, 'evidence' | 'severity'>

/**
 * What may explain the refusal of a refresh token, or `unexplained`. A token that is found invalid while not expired must be
 * treated as suspicious (specification, section 3). The caller has asked before whether the store holds a newer pair.
 *
 * @returns undefined if the token had expired.
 */
export function suspicionOf(refusal: Refusal): Suspicion | undefined {
  const { remainingMs, uncertaintyMs, attemptedBefore, contested, storeReachable, isRotated, needsLogin } = refusal
  // A login is presented once after its end, because the clock of this machine may be wrong. So its end needs no other explanation.
  if (remainingMs !== undefined && remainingMs <= (needsLogin ? 0 : -uncertaintyMs)) return undefined
  if (attemptedBefore) return { evidence: 'own-unknown-outcome', severity: 'low' }
  if (needsLogin && contested) return { evidence: 'concurrent-use', severity: 'low' }
  if (isRotated && !needsLogin) return { evidence: 'credentials-changed', severity: 'medium' }
  if (remainingMs === undefined && !needsLogin) return { evidence: 'expiry-unknown', severity: 'medium' }
  if (remainingMs !== undefined && remainingMs <= uncertaintyMs)
    return { evidence: 'clock-uncertain', severity: 'medium' }
  if (contested) return { evidence: 'concurrent-use', severity: 'low' }
  if (!storeReachable) return { evidence: 'store-unreachable', severity: 'medium' }
  // A logout elsewhere looks the same as theft, and is far more frequent.
  return needsLogin
    ? { evidence: 'revoked-or-used', severity: 'medium' }
    : { evidence: 'unexplained', severity: 'high' }
}

/** How far the remaining life of a token may be off, ms: 2 s for the travel of two answers, and 200 ppm of clock drift. */
export function uncertaintyOf(ageMs: number): number {
  return 2_000 + ageMs * 0.000_2
}

export function verdictOf(
  remainingMs: number | undefined,
  accepted: boolean,
): TokenEvents['suspicionSettled']['verdict'] {
  if (!accepted) return 'account-rejected'
  return remainingMs !== undefined && remainingMs <= 0 ? 'was-expired' : 'token-only'
}
