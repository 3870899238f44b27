import type { SuspicionEvent, TokenEvents } from './events.ts'
import type { GrantedClaim, ReleaseAnswer } from './token-store.ts'

/** What is known when a refresh token has been refused. */
export interface Refusal {
  /** Remaining life by the service's clock; undefined where its expiry is not known. */
  readonly remainingMs: number | undefined
  /** How far that may be off. */
  readonly uncertaintyMs: number
  /** An earlier attempt of ours with this token had an unknown outcome. */
  readonly attemptedBefore: boolean
  /** Another exchange of the account may have been in flight. */
  readonly contested: boolean
  readonly storeReachable: boolean
}

/**
 * What is known of the refusal of a claim's refresh token.
 *
 * @param sinceClaimMs From the claim to the refusal.
 * @param answer Of the store, told of the refusal; undefined where it could not be reached.
 */
export function refusalOf(
  {
    tokens,
    presentations,
    isDoubted,
    overlapped,
  }: Pick<GrantedClaim, 'tokens' | 'presentations' | 'isDoubted' | 'overlapped'>,
  sinceClaimMs: number,
  answer: Pick<ReleaseAnswer, 'contested' | 'overlapped'> | undefined,
): Refusal {
  const { accessLifetimeMs = 0, accessRemainingMs = 0, refreshRemainingMs } = tokens ?? {}
  return {
    remainingMs: refreshRemainingMs === undefined ? undefined : refreshRemainingMs - sinceClaimMs,
    uncertaintyMs: uncertaintyOf(accessLifetimeMs - accessRemainingMs + sinceClaimMs),
    attemptedBefore: presentations > 0 || isDoubted === true,
    contested: [overlapped, answer?.contested, answer?.overlapped].includes(true),
    storeReachable: answer !== undefined,
  }
}

export type Suspicion = Pick<SuspicionEvent, 'evidence' | 'severity'>

/**
 * Why a refused refresh token may be innocent, or `unexplained` (specification, section 3: found invalid while not expired,
 * it must be treated as suspicious). A store that holds a newer pair explains the refusal, and is asked before.
 *
 * @returns undefined for the normal end of its life.
 */
export function suspicionOf(refusal: Refusal): Suspicion | undefined {
  const { remainingMs, uncertaintyMs, attemptedBefore, contested, storeReachable } = refusal
  if (remainingMs !== undefined && remainingMs <= -uncertaintyMs) return undefined
  if (attemptedBefore) return { evidence: 'own-unknown-outcome', severity: 'low' }
  if (remainingMs === undefined) return { evidence: 'expiry-unknown', severity: 'medium' }
  if (remainingMs <= uncertaintyMs) return { evidence: 'clock-uncertain', severity: 'medium' }
  if (contested) return { evidence: 'concurrent-use', severity: 'low' }
  if (!storeReachable) return { evidence: 'store-unreachable', severity: 'medium' }
  return { evidence: 'unexplained', severity: 'high' }
}

/** How far the remaining life of a token may be off: the journey of two answers, and 200 ppm of drift. */
export function uncertaintyOf(ageMs: number): number {
  return 2_000 + ageMs * 0.000_2
}

/** What the obtain that followed a suspicion showed. */
export function verdictOf(
  remainingMs: number | undefined,
  accepted: boolean,
): TokenEvents['suspicionSettled']['verdict'] {
  if (!accepted) return 'account-rejected'
  return remainingMs !== undefined && remainingMs <= 0 ? 'was-expired' : 'token-only'
}
