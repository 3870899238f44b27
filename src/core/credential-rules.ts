import { SHORT_BACKOFF_MS, isRefreshGone, isUsable, fateAfter5xx, refreshTokenOutcomeOf } from './plan.ts'
import { outcomeOf, type TokenError } from './errors.ts'
import type { Consequence, Policy, Rules, Situation } from './situation.ts'
import { bare } from './whole.ts'

/** The maximum number of presentations of a refresh token if each response is a 5xx. Then the manager retires it. */
const MAX_PRESENTATIONS = 3

/** The rules for sources that can obtain with credentials. They let the manager retire a refresh token that is in doubt. */
export const CREDENTIAL_RULES: Rules = /* @__PURE__ */ bare<Rules>({
  choose({ tokens, presentable, presentations }, { mustObtain, usableMs }) {
    const hasEnded = (tokens?.refreshRemainingMs ?? Infinity) <= 0
    // The service may have spent it despite the 5xx. The manager can afford another try while the old access token is valid.
    const mayBeSpent = presentations > 0 && (presentations >= MAX_PRESENTATIONS || usableMs <= 0)
    return presentable && !mustObtain && !hasEnded && !mayBeSpent ? tokens?.refreshToken : undefined
  },

  consequenceOf(error, situation, policy) {
    const { exchange } = situation
    const consequence = exchange === 'obtain' ? afterObtain(error, situation) : afterRefresh(error, situation, policy)
    return { ...consequence, mostMs: mostCoolDownMs(error, consequence, situation) }
  },

  suspicionOf({ remainingMs, uncertaintyMs, attemptedBefore, contested, storeReachable, isRotated }) {
    if (remainingMs !== undefined && remainingMs <= -uncertaintyMs) return undefined
    if (attemptedBefore) return { evidence: 'own-unknown-outcome', severity: 'low' }
    if (isRotated) return { evidence: 'credentials-changed', severity: 'medium' }
    if (remainingMs === undefined) return { evidence: 'expiry-unknown', severity: 'medium' }
    if (remainingMs <= uncertaintyMs) return { evidence: 'clock-uncertain', severity: 'medium' }
    if (contested) return { evidence: 'concurrent-use', severity: 'low' }
    if (!storeReachable) return { evidence: 'store-unreachable', severity: 'medium' }
    return { evidence: 'unexplained', severity: 'high' }
  },
})

/** Whether it is useless to repeat the same exchange. After a refresh, an obtain may still help. */
function isFinal(error: TokenError): boolean {
  return outcomeOf(error) === 'rejected' || (!error.retryable && error.code !== 'ERR_SIGNATURE')
}

const nextOf = (error: TokenError) => (isFinal(error) ? 'stop' : 'retry')

function afterObtain(error: TokenError, { signatureFailures }: Situation): Consequence {
  return { fate: 'keep', next: signatureFailures > 1 ? 'stop' : nextOf(error) }
}

function afterRefresh(error: TokenError, situation: Situation, { graceMs }: Policy): Consequence {
  switch (refreshTokenOutcomeOf(error)) {
    case 'refused':
      return { fate: 'dead', next: 'obtain', foundInvalid: true }
    case 'unusable':
      return { fate: 'dead', next: 'obtain' }
    case 'kept':
    case 'rejected':
    case 'deferred':
    case 'not-sent':
      return { fate: 'keep', next: nextUnspent(error, situation) }
    case 'unknown-5xx':
      return { fate: fateAfter5xx(error, graceMs), next: 'retry' }
    case 'accepted':
    case 'unknown':
      return { fate: graceMs === Infinity ? 'keep' : 'doubtful', next: graceMs === 0 ? 'obtain' : nextOf(error) }
  }
}

/** What follows a refresh that did not spend the refresh token. */
function nextUnspent(error: TokenError, situation: Situation): Consequence['next'] {
  // A retryable code (ERR_REFRESH_REJECTED) does not concern the credentials, so the manager obtains with them.
  const obtains = error.retryable || (!isUsable(situation) && isRefreshGone(error))
  return isFinal(error) && obtains ? 'obtain' : nextOf(error)
}

function mostCoolDownMs(error: TokenError, { next }: Consequence, situation: Situation): number | undefined {
  // The service is reachable and rejected only the refresh token: the next obtain need not wait long.
  if (next === 'obtain' && outcomeOf(error) === 'rejected' && !isRefreshGone(error)) return SHORT_BACKOFF_MS
  // If only the refresh endpoint is gone, the manager obtains as soon as the access token can no longer be used.
  const isGone = situation.exchange === 'refresh' && isRefreshGone(error)
  return isGone && isUsable(situation) ? situation.usableMs : undefined
}
