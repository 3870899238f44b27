import { type Consequence, consequenceForLogin, consequenceOf, isRefreshGone, saidBy } from './consequence.ts'
import { detailsOf, type LoginReason, outcomeOf, toldAgain, TokenError } from './errors.ts'
import type { RetryPolicy } from './manager-options.ts'
import { askedMsOf, coolDownMs, coolDownOf, loginRequired, pauseMs, type RestFacts } from './rests.ts'
import type { Suspicion } from './suspicion.ts'
import type { Exchange } from './token-source.ts'
import type { CoolDown, GrantedClaim, RefreshTokenFate, Retry, Word } from './token-store.ts'

export interface RenewalPolicy {
  readonly retry: RetryPolicy
  /** How long the service accepts a used refresh token, ms. Infinity: until the token expires. */
  readonly graceMs: number
  /** The longest that a caller can wait, ms. */
  readonly maxWaitMs: number
  /** Only a person can obtain. */
  readonly needsLogin?: boolean
  /** A person logs in and out. */
  readonly hasLogin?: boolean
}

/** What the manager knows of an exchange that failed, beside its error. Durations in ms. */
export interface FailureFacts extends RestFacts {
  readonly exchange: Exchange
  /** The number of the failed call in its renewal, from 1. */
  readonly attempt: number
  /** Calls that this renewal may make. */
  readonly maxAttempts: number
  /** Signatures found wrong in this renewal, this one included. */
  readonly signatureFailures: number
  /** Uniform in [0, 1). */
  readonly chance: number
  /** The API has refused the old access token. */
  readonly isRefused?: boolean
  /** Presentations of this renewal that the service may have acted on, this one included. */
  readonly presented?: number
  readonly claim?: Pick<GrantedClaim, 'isDoubted' | 'unclear'>
  /** Why the renewal is halted. */
  readonly halted?: 'outdated' | 'closed' | undefined
}

/** What to do after an exchange that failed, or in the place of one. */
export interface Plan {
  readonly error: TokenError
  readonly fate: RefreshTokenFate
  /** What the manager tells the store at once. */
  readonly word: Word | undefined
  /** The service found the refresh token invalid: `planAfterRefusal` says what follows. */
  readonly judged: boolean
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

/** What to do after an exchange that failed: the table of outcomes, the retries and the cool-down (design: Renewal, Logins). */
export function planAfter(error: TokenError, facts: FailureFacts, policy: RenewalPolicy): Plan {
  const consequence = consequenceIn(error, facts, policy)
  const { fate, next, judged = false, reason } = consequence
  const retryAfterMs = Math.min(askedMsOf(error), policy.retry.maxRetryAfterMs)
  const told = next === 'login' && reason !== undefined ? loginRequired(reason, error) : withReason(error, policy)
  const plan = {
    error: told,
    fate,
    judged,
    obtains: next === 'obtain',
    isSpent: fate === 'dead' || (next === 'obtain' && fate !== 'keep'),
    isAccountRefused: facts.exchange === 'obtain' && error.code === 'ERR_CREDENTIALS_REJECTED',
    isAsked: retryAfterMs > 0,
    next: nextAfter(told, consequence, facts, policy, retryAfterMs),
  }
  return { ...plan, word: wordOf(plan, facts, policy) }
}

/** A source of one's own may ask for a login without saying why. */
function withReason(error: TokenError, { needsLogin }: RenewalPolicy): TokenError {
  const { loginReason, refreshToken } = detailsOf(error)
  // `kept`: the error is about the login of another manager, which a function of the source has asked.
  const isOurs = needsLogin && error.code === 'ERR_LOGIN_REQUIRED' && refreshToken !== 'kept'
  return isOurs && loginReason === undefined ? toldAgain(error, { loginReason: 'refused' }) : error
}

function consequenceIn(error: TokenError, facts: FailureFacts, { graceMs, needsLogin }: RenewalPolicy): Consequence {
  const { exchange, signatureFailures, presented = 1, claim } = facts
  const circumstances = { signatureFailures, graceMs, serves: serves(facts) }
  return needsLogin && exchange === 'refresh'
    ? consequenceForLogin(error, { ...circumstances, presented, unclear: claim?.unclear, says: saidBy(error) })
    : consequenceOf(exchange, error, circumstances)
}

/** Whether requests can still use the old access token. */
function serves({ servedMs, isRefused = false }: Pick<FailureFacts, 'servedMs' | 'isRefused'>): boolean {
  return servedMs > 0 && !isRefused
}

function nextAfter(
  error: TokenError,
  { fate, next, says }: Consequence,
  facts: FailureFacts,
  policy: RenewalPolicy,
  retryAfterMs: number,
): Plan['next'] {
  const { attempt, maxAttempts, failures, servedMs } = facts
  const obtains = next === 'obtain'
  // If no caller can wait as long as the service asks, the renewal gives up, and all callers learn it at once.
  const isTooLong = next === 'retry' && retryAfterMs > policy.maxWaitMs
  // A probe for a refresh endpoint that is gone makes a second call: the service has not seen the credentials yet.
  const calls = obtains && isRefreshGone(error) ? policy.retry.maxAttempts : maxAttempts
  const mayCall = (next === 'retry' || obtains) && attempt < calls && !isTooLong
  if (mayCall && obtains) return { kind: 'retry', ms: 0 }
  if (mayCall) return { kind: 'retry', ms: pauseAfter(error, fate, facts, policy, retryAfterMs) }
  if (isWaitedOut(fate, facts, policy)) return { ...coolDownOf(error, servedMs, failures), whileServed: true }
  const isShort = obtains && outcomeOf(error) === 'rejected' && error.code !== 'ERR_TOKEN_REQUEST'
  const isSession = policy.hasLogin === true && policy.needsLogin !== true
  const restMs = isShort
    ? SHORT_REST_MS
    : coolDownMs(error, { ...facts, needsLogin: policy.needsLogin === true, isSession }, retryAfterMs)
  // If only the refresh endpoint is gone, the manager obtains as soon as the access token no longer serves.
  const isBounded = facts.exchange === 'refresh' && isRefreshGone(error) && !policy.needsLogin && serves(facts)
  const rest = coolDownOf(error, isBounded ? Math.min(restMs, servedMs) : restMs, failures)
  return says === undefined ? rest : { ...rest, says }
}

/** The service may still be busy with a presentation whose answer was lost: 1 to 2 s before the first repetition. */
function pauseAfter(
  error: TokenError,
  fate: RefreshTokenFate,
  { attempt, chance, claim }: FailureFacts,
  { retry, needsLogin, graceMs }: RenewalPolicy,
  retryAfterMs: number,
): number {
  const isFirstDoubt = needsLogin && fate === 'doubtful' && graceMs === 0 && !claim?.isDoubted
  return isFirstDoubt ? 1_000 + chance * 1_000 : pauseMs(attempt, error, retryAfterMs, retry, chance)
}

/** A refresh token of a login is in doubt, and the access token still serves: the manager waits until it no longer does. */
function isWaitedOut(fate: RefreshTokenFate, facts: FailureFacts, { needsLogin, graceMs }: RenewalPolicy): boolean {
  return needsLogin === true && fate === 'doubtful' && graceMs === 0 && serves(facts)
}

/**
 * After a refused refresh token the manager keeps its claim until it knows what the refusal means. If the manager is closed, a pause that the service
 * asks for, or a rest, must still reach the other owners, who make the next call.
 */
function wordOf(
  { fate, judged, isAsked, next }: Pick<Plan, 'fate' | 'judged' | 'isAsked' | 'next'>,
  facts: FailureFacts,
  policy: RenewalPolicy,
): Plan['word'] {
  const { halted } = facts
  if (judged) return { kind: 'keep-claim' }
  // The access token of another owner may end at another time.
  if (next.kind === 'cool-down' && isWaitedOut(fate, facts, policy)) return undefined
  return !halted || (halted === 'closed' && (isAsked || next.kind === 'cool-down')) ? next : undefined
}

/** What is known of a refused refresh token once the store has answered. */
export interface Judgement {
  /** Undefined: a newer pair, a reset or its expiry explains the refusal. */
  readonly suspicion: Suspicion | undefined
  /** Another owner has a newer pair. */
  readonly isNewer: boolean
  /** The renewal may make no further call. */
  readonly isLast: boolean
  /** Renewals in a row that gave up, this one included. */
  readonly failures: number
  /** The API has refused the old access token. */
  readonly isRefused: boolean
}

/** What follows a refused refresh token, once the store has answered. */
export function planAfterRefusal(
  plan: Plan,
  { suspicion, isNewer, isLast, failures, isRefused }: Judgement,
  { onSuspicious, needsLogin }: { readonly onSuspicious: 'obtain' | 'stop'; readonly needsLogin: boolean },
): Plan {
  if (suspicion && onSuspicious === 'stop') return planToStop(plan, failures)
  if (!needsLogin) return plan
  if (isNewer) return isLast ? plan : { ...plan, next: { kind: 'retry', ms: 0 } }
  const error = loginRequired(reasonOf(suspicion), plan.error)
  return { ...plan, error, next: { ...coolDownOf(error, Infinity, failures), ...(isRefused && { drops: true }) } }
}

function reasonOf(suspicion: Suspicion | undefined): LoginReason {
  if (!suspicion) return 'expired'
  const { evidence } = suspicion
  return evidence === 'own-unknown-outcome' || evidence === 'concurrent-use' ? 'in-doubt' : 'refused'
}

/** The plan for a suspicious refresh token under `onSuspicious: 'stop'`. */
function planToStop(plan: Plan, failures: number): Plan {
  const { status, serviceCode } = plan.error
  const message = 'A refresh token was refused before its time: the manager stops until reset() or adopt()'
  const error = new TokenError('ERR_SUSPICIOUS_REFRESH_TOKEN', message, { status, serviceCode })
  return { ...plan, error, next: coolDownOf(error, Infinity, failures) }
}

const NOTHING_FAILED = {
  fate: 'keep',
  judged: false,
  obtains: false,
  isSpent: false,
  isAccountRefused: false,
  isAsked: false,
} as const

/** The plan for a token that had expired when it arrived: the call took long, or this machine slept. Its claim is settled. */
export function planAfterLateArrival(error: TokenError, facts: FailureFacts): Plan {
  const next: Plan['next'] =
    facts.attempt < facts.maxAttempts
      ? { kind: 'retry', ms: SHORT_REST_MS }
      : coolDownOf(error, coolDownMs(error, facts, 0), facts.failures)
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
export interface LoginFacts extends Pick<FailureFacts, 'servedMs' | 'isRefused' | 'failures'> {
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
