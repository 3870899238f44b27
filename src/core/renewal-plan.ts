import { type Consequence, consequenceForLogin, consequenceOf, isRefreshGone, saidBy } from './consequence.ts'
import { detailsOf, type LoginReason, outcomeOf, toldAgain, TokenError } from './errors.ts'
import type { RetryPolicy } from './manager-options.ts'
import { askedMsOf, coolDownMs, coolDownOf, loginRequired, pauseMs, type RestFacts } from './rests.ts'
import { type Refusal, refusalOf, type Suspicion, suspicionOf } from './suspicion.ts'
import type { Exchange } from './token-source.ts'
import type { CoolDown, GrantedClaim, RefreshTokenFate, ReleaseAnswer, Report, Retry } from './token-store.ts'

export interface Policy {
  readonly retry: RetryPolicy
  /** How long the service accepts a used refresh token, ms. Infinity: until the token expires. */
  readonly graceMs: number
  /** The longest that a caller can wait, ms. */
  readonly maxWaitMs: number
  readonly onSuspicious: 'obtain' | 'stop'
  /** Only a person can obtain. */
  readonly needsLogin?: boolean
  /** A person logs in and out. */
  readonly hasLogin?: boolean
}

/** What the manager knows of an exchange that failed, beside its error. Durations in ms. */
export interface Situation extends RestFacts {
  readonly exchange: Exchange
  /** The number of the failed call in its renewal, from 1. */
  readonly attempt: number
  /** Calls that this renewal may make. */
  readonly maxAttempts: number
  /** Signatures found wrong in this renewal, this one included. */
  readonly signatureFailures: number
  /** Uniform in [0, 1). */
  readonly chance: number
  readonly claim: Pick<GrantedClaim, 'tokens' | 'presentations' | 'isDoubted' | 'overlapped' | 'unclear'>
  /** What the record says when it is told of the failure. Undefined: the store cannot be reached. */
  readonly found?: Found | undefined
  /** The API has refused the old access token. */
  readonly isRefused?: boolean
  /** Presentations of this renewal that the service may have acted on, this one included. */
  readonly presented?: number
  /** The refresh token met a 5xx before. */
  readonly met5xx?: boolean
  /** The credentials are others than those that the obtain of this pair used. */
  readonly isRotated?: boolean
  /** Why the renewal is halted. */
  readonly halted?: 'outdated' | 'closed' | undefined
}

/** `newer`: another owner has stored tokens meanwhile, and whether they will do. */
export interface Found extends Pick<ReleaseAnswer, 'contested'> {
  readonly newer?: 'fit' | 'unfit' | undefined
}

/** A suspicion, and the remaining life of its refresh token, ms; undefined if its expiry is not known. */
type SuspicionOf = Suspicion & Pick<Refusal, 'remainingMs'>

/** What to do after an exchange that failed, or in the place of one. */
export interface Plan extends Report {
  readonly error: TokenError
  /** The refusal of the refresh token is to be reported. */
  readonly suspicion?: SuspicionOf | undefined
  /** The tokens of another owner will do: nothing follows. */
  readonly adopts: boolean
  /** The next call is an obtain, in this renewal or in the next one. */
  readonly obtains: boolean
  /** The refresh token is never presented again, even if the store is not told. */
  readonly isSpent: boolean
  /** The credentials were refused, which settles a suspicion. */
  readonly isAccountRefused: boolean
  /** The service asked for a pause. */
  readonly isAsked: boolean
  /** The next call of this renewal; or the renewal gives up, and all owners of the record rest. */
  readonly next: Retry | CoolDown
}

/** The rest after the service answered and refused only the refresh token: the next obtain need not wait long. */
const SHORT_REST_MS = 1_000

/**
 * What to do after an exchange that failed: the table of outcomes, the retries and the cool-down (design: Renewal, Logins). The step that tells the
 * record computes it, so the plan is whole, and no other owner comes between.
 */
export function planAfter(error: TokenError, situation: Situation, policy: Policy): Plan {
  const { exchange, found, halted } = situation
  const consequence = consequenceIn(error, situation, policy)
  const { fate, judged = false } = consequence
  const suspicion = judged ? suspicionIn(situation, policy) : undefined
  const retryAfterMs = Math.min(askedMsOf(error), policy.retry.maxRetryAfterMs)
  const told = errorAfter(error, consequence, suspicion, situation, policy)
  const obtains = consequence.next === 'obtain'
  const plan = {
    error: told,
    fate,
    suspicion,
    adopts: found?.newer === 'fit' && !halted,
    obtains: obtains && !found?.newer,
    isSpent: fate === 'dead' || (obtains && fate !== 'keep'),
    isAccountRefused: exchange === 'obtain' && error.code === 'ERR_CREDENTIALS_REJECTED',
    isAsked: retryAfterMs > 0,
    next: nextAfter(told, consequence, situation, policy, retryAfterMs),
  }
  return { ...plan, word: wordOf(plan, situation, policy) }
}

/** A newer pair explains the refusal. So does a reset, because it follows a change of credentials. */
function suspicionIn(situation: Situation, { needsLogin }: Policy): SuspicionOf | undefined {
  const { claim, calledForMs, found, met5xx, isRotated, halted } = situation
  if (found?.newer || halted === 'outdated') return undefined
  const refusal = refusalOf(claim, calledForMs, found, { needsLogin, met5xx, isRotated })
  const suspicion = suspicionOf(refusal)
  return suspicion && { ...suspicion, remainingMs: refusal.remainingMs }
}

/** What callers and listeners are told. */
function errorAfter(
  error: TokenError,
  { judged, reason }: Consequence,
  suspicion: Suspicion | undefined,
  { found }: Situation,
  { onSuspicious, needsLogin }: Policy,
): TokenError {
  if (suspicion && onSuspicious === 'stop') return stopAfter(error)
  if (reason !== undefined) return loginRequired(reason, error)
  if (judged && needsLogin && !found?.newer) return loginRequired(reasonOf(suspicion), error)
  const { loginReason, refreshToken } = detailsOf(error)
  // `kept`: the error is about the login of another manager, which a function of the source has asked.
  const isOurs = needsLogin && error.code === 'ERR_LOGIN_REQUIRED' && refreshToken !== 'kept'
  // A source of one's own may ask for a login without saying why.
  return isOurs && loginReason === undefined ? toldAgain(error, { loginReason: 'refused' }) : error
}

function reasonOf(suspicion: Suspicion | undefined): LoginReason {
  if (!suspicion) return 'expired'
  const { evidence } = suspicion
  return evidence === 'own-unknown-outcome' || evidence === 'concurrent-use' ? 'in-doubt' : 'refused'
}

/** A suspicious refresh token under `onSuspicious: 'stop'`. */
function stopAfter({ status, serviceCode }: TokenError): TokenError {
  const message = 'A refresh token was refused before its time: the manager stops until reset() or adopt()'
  return new TokenError('ERR_SUSPICIOUS_REFRESH_TOKEN', message, { status, serviceCode })
}

function consequenceIn(error: TokenError, situation: Situation, { graceMs, needsLogin }: Policy): Consequence {
  const { exchange, signatureFailures, presented = 1, claim } = situation
  const circumstances = { signatureFailures, graceMs, serves: serves(situation) }
  return needsLogin && exchange === 'refresh'
    ? consequenceForLogin(error, { ...circumstances, presented, unclear: claim.unclear, says: saidBy(error) })
    : consequenceOf(exchange, error, circumstances)
}

/** Whether requests can still use the old access token. */
function serves({ servedMs, isRefused = false }: Pick<Situation, 'servedMs' | 'isRefused'>): boolean {
  return servedMs > 0 && !isRefused
}

function nextAfter(
  error: TokenError,
  consequence: Consequence,
  situation: Situation,
  policy: Policy,
  retryAfterMs: number,
): Plan['next'] {
  const { fate, next, judged = false } = consequence
  const { attempt, maxAttempts, found, failures, isRefused } = situation
  if (error.code === 'ERR_SUSPICIOUS_REFRESH_TOKEN') return coolDownOf(error, Infinity, failures)
  const isReplaced = judged && found?.newer !== undefined
  const isAtOnce = next === 'obtain' || isReplaced
  // If no caller can wait as long as the service asks, the renewal gives up, and all callers learn it at once.
  const isTooLong = next === 'retry' && retryAfterMs > policy.maxWaitMs
  // A probe makes a second call if the first one has not shown whether the account works: the refresh endpoint is gone, or the refresh token was old.
  const isBlind = isAtOnce && (isReplaced || isRefreshGone(error))
  const mayCall = (isAtOnce || next === 'retry') && attempt < (isBlind ? policy.retry.maxAttempts : maxAttempts)
  if (mayCall && isAtOnce) return { kind: 'retry', ms: 0 }
  if (mayCall && !isTooLong) return { kind: 'retry', ms: pauseAfter(error, fate, situation, policy, retryAfterMs) }
  const rest = restAfter(error, consequence, situation, policy, retryAfterMs)
  return judged && isRefused && error.code === 'ERR_LOGIN_REQUIRED' ? { ...rest, drops: true } : rest
}

function restAfter(
  error: TokenError,
  { fate, next, says }: Consequence,
  situation: Situation,
  policy: Policy,
  retryAfterMs: number,
): CoolDown {
  const { exchange, failures, servedMs } = situation
  const needsLogin = policy.needsLogin === true
  const isSession = policy.hasLogin === true && !needsLogin
  if (isWaitedOut(fate, situation, policy)) return { ...coolDownOf(error, servedMs, failures), whileServed: true }
  const isShort = next === 'obtain' && outcomeOf(error) === 'rejected' && error.code !== 'ERR_TOKEN_REQUEST'
  const restMs = isShort ? SHORT_REST_MS : coolDownMs(error, { ...situation, needsLogin, isSession }, retryAfterMs)
  // If only the refresh endpoint is gone, the manager obtains as soon as the access token no longer serves.
  const isBounded = exchange === 'refresh' && isRefreshGone(error) && !needsLogin && serves(situation)
  const rest = coolDownOf(error, isBounded ? Math.min(restMs, servedMs) : restMs, failures)
  return says === undefined ? rest : { ...rest, says }
}

/** The service may still be busy with a presentation whose answer was lost: 1 to 2 s before the first repetition. */
function pauseAfter(
  error: TokenError,
  fate: RefreshTokenFate,
  { attempt, chance, claim }: Situation,
  { retry, needsLogin, graceMs }: Policy,
  retryAfterMs: number,
): number {
  const isFirstDoubt = needsLogin && fate === 'doubtful' && graceMs === 0 && !claim.isDoubted
  return isFirstDoubt ? 1_000 + chance * 1_000 : pauseMs(attempt, error, retryAfterMs, retry, chance)
}

/** A refresh token of a login is in doubt, and the access token still serves: the manager waits until it no longer does. */
function isWaitedOut(fate: RefreshTokenFate, situation: Situation, { needsLogin, graceMs }: Policy): boolean {
  return needsLogin === true && fate === 'doubtful' && graceMs === 0 && serves(situation)
}

/** If the manager is closed, a pause that the service asks for, or a rest, must still reach the other owners, who make the next call. */
function wordOf(
  { fate, adopts, isAsked, next }: Pick<Plan, 'fate' | 'adopts' | 'isAsked' | 'next'>,
  situation: Situation,
  policy: Policy,
): Plan['word'] {
  const { halted } = situation
  // The access token of another owner may end at another time.
  if (adopts || (next.kind === 'cool-down' && isWaitedOut(fate, situation, policy))) return undefined
  return !halted || (halted === 'closed' && (isAsked || next.kind === 'cool-down')) ? next : undefined
}

const NOTHING_FAILED = {
  fate: 'keep',
  adopts: false,
  obtains: false,
  isSpent: false,
  isAccountRefused: false,
  isAsked: false,
} as const

/** The plan for a token that had expired when it arrived: the call took long, or this machine slept. Its claim is settled. */
export function planAfterLateArrival(error: TokenError, situation: Situation): Plan {
  const { attempt, maxAttempts, failures } = situation
  const next: Plan['next'] =
    attempt < maxAttempts
      ? { kind: 'retry', ms: SHORT_REST_MS }
      : coolDownOf(error, coolDownMs(error, situation, 0), failures)
  return { ...NOTHING_FAILED, error, word: undefined, next }
}

/** Without its store a process cannot see whether somebody has logged in elsewhere: the store is missing, not the login. */
export function errorUnder({ isPrivate }: GrantedClaim, error: TokenError): TokenError {
  if (!isPrivate || error.code !== 'ERR_LOGIN_REQUIRED') return error
  const message = 'The shared token store is unavailable, and only the store may hold the tokens of a login'
  return new TokenError('ERR_STORE_UNAVAILABLE', message, { outcome: 'not-sent' })
}

/** What a manager knows of refresh tokens beyond what the record says. */
export interface RenewalMemory {
  /** The next exchange must be an obtain, whatever the record holds: the failure of the last refresh requires it. */
  owesObtain: boolean
  /** This refresh token is never presented again, even if the record was not told that it is spent. */
  spent: string | undefined
  /** This refresh token met a 5xx. Even one that says that nothing was done may come from a gateway that knows nothing (evidence only). */
  met5xx?: string | undefined
}

/** The manager presents a refresh token at most this often if it meets a 5xx each time, then retires it. */
const MAX_PRESENTATIONS = 3

/** @returns The refresh token of a claim, if it may be presented now. Undefined: obtain. */
export function tokenToPresent(
  { tokens, presentable, presentations }: GrantedClaim,
  { owesObtain, spent }: RenewalMemory,
  servedMs: number,
): string | undefined {
  const hasEnded = (tokens?.refreshRemainingMs ?? Infinity) <= 0
  // The service may have spent it in spite of the 5xx. While the old access token serves, the manager has time to find out.
  const mayBeSpent = presentations > 0 && (presentations >= MAX_PRESENTATIONS || servedMs <= 0)
  if (!presentable || owesObtain || hasEnded || mayBeSpent || tokens?.refreshToken === spent) return undefined
  return tokens?.refreshToken
}

/** What the choice of a login's exchange depends on, beside the claim. */
export interface LoginFacts extends Pick<Situation, 'servedMs' | 'isRefused' | 'failures'> {
  readonly spent: string | undefined
  /** The caller wants a renewal in any case. */
  readonly isForced: boolean
}

/**
 * @returns The refresh token of a login, if it may be presented now, although its computed end has passed: the clock of this machine may be wrong.
 * Else the plan that takes the place of an exchange.
 */
export function loginTokenOrPlan(claim: GrantedClaim, facts: LoginFacts): string | Plan {
  const { tokens, presentable, isLastResort } = claim
  const { spent, isForced, isRefused = false, servedMs, failures } = facts
  const refreshToken = tokens?.refreshToken
  if (!presentable || refreshToken === undefined || refreshToken === spent) {
    const error = errorUnder(claim, loginRequired(reasonWithout(claim, isRefused)))
    const drops = isRefused && error.code === 'ERR_LOGIN_REQUIRED'
    const restMs = coolDownMs(error, { servedMs, failures, calledForMs: 0 }, 0)
    const next = { ...coolDownOf(error, restMs, failures), ...(drops && { drops }) }
    return { ...NOTHING_FAILED, error, word: next, next }
  }
  if (!isLastResort || isForced || !serves(facts)) return refreshToken
  const error = new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', IN_DOUBT, { outcome: 'not-sent' })
  const next: CoolDown = { ...coolDownOf(error, servedMs, failures - 1), whileServed: true }
  return { ...NOTHING_FAILED, error, word: undefined, next }
}

const IN_DOUBT =
  'The outcome of an earlier refresh is unknown: the manager presents its refresh token again as soon as the access token no longer serves'

function reasonWithout({ missing, tokens }: GrantedClaim, isRefused: boolean): LoginReason {
  if (!tokens) return missing ?? 'none-yet'
  return tokens.refreshToken === undefined && !isRefused ? 'expired' : 'refused'
}
