import { detailsOf, type LoginReason, outcomeOf, type TokenError } from './errors.ts'
import { askedMsOf } from './rests.ts'
import { member } from './thrown.ts'
import type { Exchange } from './token-source.ts'
import type { GrantedClaim, RefreshTokenFate } from './token-store.ts'

/** What a failed exchange means for the refresh token that was presented, and for the rest of the renewal. */
export interface Consequence {
  readonly fate: RefreshTokenFate
  /** `obtain`: at once, with the credentials. `login`: only a person can help. */
  readonly next: 'stop' | 'retry' | 'obtain' | 'login'
  /** The service found the refresh token invalid: suspicious, unless something explains it (specification, section 3). */
  readonly judged?: boolean
  /** Why a login is required, if that is known already. */
  readonly reason?: LoginReason
  /** What an unclear refusal says. The record counts those in a row that say the same. */
  readonly says?: string
}

/** What the tables need to know beside the error. */
export interface Circumstances {
  /** Signatures found wrong in this renewal, this one included. */
  readonly signatureFailures: number
  /** How long the service accepts a used refresh token, ms. Infinity: until the token expires. */
  readonly graceMs: number
  /** Whether the old access token still serves requests. */
  readonly serves: boolean
}

/**
 * The table of outcomes (design: Renewal), for sources that can obtain. The source says what became of the refresh token. If it says nothing, the
 * outcome decides. No HTTP status decides here.
 */
export function consequenceOf(
  exchange: Exchange,
  error: TokenError,
  { signatureFailures, graceMs, serves }: Circumstances,
): Consequence {
  const outcome = outcomeOf(error)
  // Only a person can correct it.
  const isFinal = outcome === 'rejected' || (!error.retryable && error.code !== 'ERR_SIGNATURE')
  if (exchange === 'obtain') return { fate: 'keep', next: isFinal || signatureFailures > 1 ? 'stop' : 'retry' }
  const isReusable = graceMs === Infinity
  const said = saidOf(error)
  switch (said) {
    case 'refused':
      return { fate: 'dead', next: 'obtain', judged: true }
    case 'unusable':
      return { fate: 'dead', next: 'obtain' }
    case 'kept':
    case 'rejected':
    case 'deferred':
    case 'not-sent':
      if (!isFinal) return { fate: 'keep', next: 'retry' }
      // A retryable code (ERR_REFRESH_REJECTED) says nothing about the credentials, so the manager obtains with them.
      return { fate: 'keep', next: error.retryable || (!serves && isRefreshGone(error)) ? 'obtain' : 'stop' }
    case 'unknown-5xx':
      // If the grace covers the pause, this 5xx does not count as a presentation.
      return { fate: isReusable ? 'keep' : askedMsOf(error) < graceMs ? 'doubtful' : 'counted', next: 'retry' }
    case 'accepted':
    case 'unknown':
      return { fate: isReusable ? 'keep' : 'doubtful', next: graceMs === 0 ? 'obtain' : isFinal ? 'stop' : 'retry' }
  }
}

/** The service may switch off its refresh endpoint before its credentials (F229). */
export function isRefreshGone(error: TokenError): boolean {
  return error.code === 'ERR_TOKEN_REQUEST' && outcomeOf(error) === 'rejected'
}

/** What the table for logins needs to know beside the error. */
export interface LoginCircumstances extends Circumstances {
  /** Presentations of this renewal that the service may have acted on, this one included. */
  readonly presented: number
  /** Earlier refusals in a row. */
  readonly unclear: GrantedClaim['unclear']
  /** What this refusal says, to compare it with the earlier ones. */
  readonly says: string
}

/** In one renewal a refresh token of a login is presented at most this often, if nobody knows what became of it. */
const MAX_DOUBTFUL = 3
/** A refresh token that is refused in words that nobody knows is given up at this refusal, and not before this time. */
const MAX_UNCLEAR = 3
const LEAST_UNCLEAR_MS = 600_000

/**
 * The table of outcomes of a refresh, for sources that `needsLogin` (design: Logins). A refresh token of a login is given up only because the
 * service refuses it, never because of doubt: if it was used, the login is lost already.
 */
export function consequenceForLogin(error: TokenError, circumstances: LoginCircumstances): Consequence {
  const { loginReason } = detailsOf(error)
  if (loginReason !== undefined) return { fate: 'dead', next: 'login', reason: loginReason }
  if (!isUnclear(error)) return consequenceOfSaid(error, circumstances)
  if (isClearAtLast(circumstances)) return { fate: 'dead', next: 'login', reason: 'refused' }
  return { ...consequenceOfSaid(error, circumstances), says: circumstances.says }
}

function consequenceOfSaid(error: TokenError, { graceMs, serves, presented }: LoginCircumstances): Consequence {
  const isReusable = graceMs === Infinity
  const again = isReusable || presented < MAX_DOUBTFUL ? 'retry' : 'stop'
  switch (saidOf(error)) {
    case 'refused':
      return { fate: 'dead', next: 'login', judged: true }
    case 'unusable':
      return { fate: 'dead', next: 'login', reason: 'refused' }
    case 'kept':
    case 'deferred':
    case 'not-sent':
      return { fate: 'keep', next: error.retryable && error.code !== 'ERR_REFRESH_REJECTED' ? 'retry' : 'stop' }
    case 'rejected':
      return { fate: 'unclear', next: 'stop' }
    case 'unknown-5xx':
      return { fate: isReusable ? 'keep' : askedMsOf(error) < graceMs ? 'doubtful' : 'counted', next: again }
    case 'accepted':
    case 'unknown':
      if (isReusable) return { fate: 'keep', next: error.retryable ? 'retry' : 'stop' }
      // While the access token serves, the manager waits: the service may still be busy with the first presentation.
      return { fate: 'doubtful', next: error.retryable && (!serves || graceMs > 0) ? again : 'stop' }
  }
}

/** The key under which a source may put on an error what tells one unclear answer from another: a fingerprint, because its words may be secrets. */
export const SAYING = Symbol.for('axios-evergreen.saying')

/** Whether a service that says the same for long means that the refresh token is dead (F203, F288). */
function isUnclear(error: TokenError): boolean {
  return saidOf(error) === 'rejected' || member(error, SAYING) !== undefined
}

/** What an unclear refusal says, to compare it with the next one (F277). */
export function saidBy(error: TokenError): string {
  const { code, status, serviceCode } = error
  return [code, status, serviceCode, member(error, SAYING)].join(' ')
}

function isClearAtLast({ unclear, says }: LoginCircumstances): boolean {
  return unclear?.says === says && unclear.times + 1 >= MAX_UNCLEAR && unclear.sinceMs >= LEAST_UNCLEAR_MS
}

/** What the source says of the refresh token, else what the outcome says. */
function saidOf(error: TokenError) {
  return detailsOf(error).refreshToken ?? (error.code === 'ERR_REFRESH_REJECTED' ? 'refused' : outcomeOf(error))
}
