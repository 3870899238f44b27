import {
  MINUTE_MS,
  NO_CONSEQUENCES,
  coolDownMs,
  coolDownOf,
  isUsable,
  fateAfter5xx,
  refreshTokenOutcomeOf,
} from '../core/plan.ts'
import { detailsOf, errorWith, type LoginReason, outcomeOf, TokenError } from '../core/errors.ts'
import type { RenewalState, Consequence, Plan, Policy, Rules, Situation } from '../core/situation.ts'
import type { Suspicion } from '../core/suspicion.ts'
import { member } from '../core/thrown.ts'
import { RESPONSE_FINGERPRINT } from '../core/token-source.ts'
import type { Lease } from '../core/lease.ts'
import { loginRequired } from './login-required.ts'
import { errorIfPrivate } from '../record/failure-of-other.ts'

/** One renewal presents a refresh token at most this many times if the outcomes are unknown. */
const MAX_DOUBTFUL = 3

/** A refresh token is retired after this many identical unclear rejections (`isUnclear`), at the earliest `LEAST_UNCLEAR_MS` after the first. */
const MAX_UNCLEAR = 3
const LEAST_UNCLEAR_MS = 600_000

/** From this number of consecutive failures on, the manager tries at most once a minute: a login must survive an outage of hours. */
const MANY_FAILURES = 10

/**
 * Rules for sources with `login: person`, where only the user can obtain tokens. A refresh token is retired only if the service rejects it, never because of
 * doubt: if it was already used, the login is lost anyway.
 */
export const LOGIN_RULES: Rules = {
  refreshShare: 0.75,

  errorAfter(error, { foundInvalid, next, reason }, suspicion, { lease, meanwhile }) {
    if (reason !== undefined) return loginRequired(reason, error)
    if (foundInvalid && next === 'login' && !meanwhile?.newer) return loginRequired(reasonOf(suspicion, lease), error)
    const { loginReason, refreshToken } = detailsOf(error)
    // `kept`: the error comes from another manager that the source called, and concerns that manager's login.
    const isOurs = error.code === 'ERR_LOGIN_REQUIRED' && refreshToken !== 'kept'
    // A custom source may require a login without giving a reason.
    return isOurs && loginReason === undefined ? errorWith(error, { loginReason: 'refused' }) : undefined
  },

  anomalyOf({ refreshToken }) {
    return refreshToken === undefined
      ? [
          'no-refresh-token',
          `A login came without a refresh token, so it ends when its access token expires: ${ASK_FOR_IT}`,
        ]
      : undefined
  },

  /** `doubtAt` is 0 if the store may have lost writes. */
  inDoubt: (doubtAt) => ({ isLastResort: true, isRestored: doubtAt === 0 || undefined }),

  /** Presents the refresh token even after its computed expiry: the clock of this machine may be wrong. */
  choose(lease, state) {
    const { tokens, presentable, isLastResort } = lease
    if (!presentable || tokens?.refreshToken === undefined) return planWithoutLogin(lease, state)
    if (!isLastResort || state.isForced || !isUsable(state)) return tokens.refreshToken
    const { usableMs, failures } = state
    const [code, message] = lease.isRestored
      ? (['ERR_STORE_UNAVAILABLE', RESTORED] as const)
      : (['ERR_TOKEN_SERVICE_UNAVAILABLE', IN_DOUBT] as const)
    const error = new TokenError(code, message, { outcome: 'not-sent' })
    const next = { ...coolDownOf(error, usableMs, failures - 1), whileUsable: true }
    return { ...NO_CONSEQUENCES, error, next }
  },

  consequenceOf(error, situation, policy) {
    const isSlow = outcomeOf(error) === 'rejected' || situation.failures >= MANY_FAILURES
    return { ...afterRefresh(error, situation, policy), leastMs: isSlow ? MINUTE_MS : undefined }
  },

  suspicionOf({ remainingMs, uncertaintyMs, attemptedBefore, met5xx, contested, storeReachable }) {
    // The manager presents an expired refresh token once, because the clock of this machine may be wrong. Its rejection needs no other explanation.
    if (remainingMs !== undefined && remainingMs <= 0) return undefined
    if (attemptedBefore || met5xx) return { evidence: 'own-unknown-outcome', severity: 'low' }
    if (contested) return { evidence: 'concurrent-use', severity: 'low' }
    if (remainingMs !== undefined && remainingMs <= uncertaintyMs)
      return { evidence: 'clock-uncertain', severity: 'medium' }
    if (!storeReachable) return { evidence: 'store-unreachable', severity: 'medium' }
    // A logout elsewhere looks the same as theft, and is far more frequent.
    return { evidence: 'revoked-or-used', severity: 'medium' }
  },
}

function afterRefresh(error: TokenError, situation: Situation, policy: Policy): Consequence {
  const { loginReason } = detailsOf(error)
  if (loginReason !== undefined) return { fate: 'dead', next: 'login', reason: loginReason }
  if (!isUnclear(error)) return afterClearResponse(error, situation, policy)
  const says = rejectionKey(error)
  const { unclear } = situation.lease
  const isClearAtLast =
    unclear?.says === says && unclear.times + 1 >= MAX_UNCLEAR && unclear.sinceMs >= LEAST_UNCLEAR_MS
  if (isClearAtLast) return { fate: 'dead', next: 'login', reason: 'refused' }
  return { ...afterClearResponse(error, situation, policy), says }
}

function afterClearResponse(error: TokenError, situation: Situation, { graceMs }: Policy): Consequence {
  const again = mayPresentAgain(situation, graceMs) ? 'retry' : 'stop'
  switch (refreshTokenOutcomeOf(error)) {
    case 'refused':
      return { fate: 'dead', next: 'login', foundInvalid: true }
    case 'unusable':
      return { fate: 'dead', next: 'login', reason: 'refused' }
    case 'kept':
    case 'deferred':
    case 'not-sent':
      return { fate: 'keep', next: error.retryable && error.code !== 'ERR_REFRESH_REJECTED' ? 'retry' : 'stop' }
    case 'rejected':
      return { fate: 'keep', next: 'stop' }
    case 'unknown-5xx':
      return { fate: fateAfter5xx(error, graceMs), next: again }
    case 'accepted':
    case 'unknown': {
      const next = error.retryable ? again : 'stop'
      return graceMs === Infinity ? { fate: 'keep', next } : inDoubt(situation, graceMs, next)
    }
  }
}

function mayPresentAgain({ presented = 1 }: Situation, graceMs: number): boolean {
  return graceMs === Infinity || presented < MAX_DOUBTFUL
}

function inDoubt(situation: Situation, graceMs: number, next: 'retry' | 'stop'): Consequence {
  const fate = 'doubtful'
  // The service may still be processing the first presentation.
  if (graceMs === 0 && isUsable(situation)) return { fate, next: 'while-usable' }
  return { fate, next, isFirstDoubt: graceMs === 0 && situation.lease.isDoubted !== true }
}

/** Whether the same rejection, repeated for long enough, means that the refresh token is dead (F203, F288). */
function isUnclear(error: TokenError): boolean {
  return refreshTokenOutcomeOf(error) === 'rejected' || member(error, RESPONSE_FINGERPRINT) !== undefined
}

/** A key to compare one unclear rejection with the next (F277). */
function rejectionKey(error: TokenError): string {
  const { code, status, serviceCode } = error
  return [code, status, serviceCode, member(error, RESPONSE_FINGERPRINT)].join(' ')
}

function reasonOf(suspicion: Suspicion | undefined, { isRestored }: Situation['lease']): LoginReason {
  if (!suspicion) return 'expired'
  const { evidence } = suspicion
  if (evidence !== 'own-unknown-outcome' && evidence !== 'concurrent-use') return 'refused'
  // The doubt comes from the store, which has lost the successor of this refresh token.
  return isRestored ? 'lost' : 'in-doubt'
}

function planWithoutLogin(lease: Lease, { usableMs, failures, isRejected = false }: RenewalState): Plan {
  const reason = reasonWithout(lease, isRejected)
  const why = reason === 'expired' ? WITHOUT_REFRESH_TOKEN + ASK_FOR_IT : undefined
  const error = errorIfPrivate(lease, loginRequired(reason, {}, why))
  const drops = isRejected && error.code === 'ERR_LOGIN_REQUIRED'
  const ms = coolDownMs(error, { usableMs, failures, sinceLeaseMs: 0 }, 0)
  const next = coolDownOf(error, ms, failures)
  return { ...NO_CONSEQUENCES, error, shared: next, drops, next }
}

const ASK_FOR_IT = 'request the scope offline_access, with prompt=consent if the server requires it'
const WITHOUT_REFRESH_TOKEN = 'the login had no refresh token, and its access token has expired; '

const IN_DOUBT =
  'The outcome of an earlier refresh is unknown: the manager presents the refresh token again as soon as the access token has expired'

const RESTORED =
  'The shared token store has failed over, or was restored, and may have lost writes: the manager presents the refresh token as soon as the access token has expired'

function reasonWithout({ missing, tokens }: Lease, isRejected: boolean): LoginReason {
  if (!tokens) return missing ?? 'none-yet'
  return tokens.refreshToken === undefined && !isRejected ? 'expired' : 'refused'
}
