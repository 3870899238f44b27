import type { SuspicionEvent, TokenEvents } from './events.ts'

/** What is known when a refresh token has been refused. */
export interface Refusal {
  /** Remaining life of the refresh token, ms; undefined if its expiry is not known. */
  readonly remainingMs: number | undefined
  /** How far `remainingMs` may be off. */
  readonly uncertaintyMs: number
  /** An earlier attempt of ours with this token had an unknown outcome. */
  readonly attemptedBefore: boolean
  /** The token met a 5xx before. */
  readonly met5xx: boolean
  /** Another exchange of the account may have been in flight. */
  readonly contested: boolean
  readonly storeReachable: boolean
  /** The credentials are others than those that the obtain of this pair used. */
  readonly isRotated: boolean
}

export type Suspicion = Pick<SuspicionEvent, 'evidence' | 'severity'>

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
