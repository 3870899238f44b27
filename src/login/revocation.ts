import type { Account, Settings } from '../core/account.ts'
import { pauseMs, retryAfterMsOf } from '../core/plan.ts'
import { reasonIn, revokeAtSource } from '../core/source-acts.ts'
import type { LogoutResult } from '../core/login-port.ts'
import type { NewTokens } from '../core/stored-tokens.ts'

/** Why tokens were not revoked. */
interface Failure {
  readonly reason: (typeof REASONS)[number]
  readonly why: string
}

/** The most requests of one revocation, the first included. */
const MOST_TRIES = 3
/** The most token sets that are kept for a later revocation while the service is unavailable. */
const MOST_UNREVOKED = 8
/** The reasons by precedence: after `unavailable`, the next logout may still revoke the tokens. */
const REASONS = ['unavailable', 'refused', 'no-endpoint'] as const

/** Revokes these tokens, and those that an earlier logout could not revoke. Never rejects. */
export function revokeAll(account: Account, ended: readonly NewTokens[]): Promise<LogoutResult> {
  return revoke(account, [...account.unrevoked.splice(0), ...ended])
}

/** Revokes tokens at the service, through the source (RFC 7009). Never rejects. */
export async function revoke(account: Account, sets: readonly NewTokens[]): Promise<LogoutResult> {
  const { settings } = account
  if (sets.length === 0) return { revoked: false, reason: 'nothing' }
  const failures = await Promise.all(sets.map((tokens) => failureOf(settings, tokens)))
  const left = sets.filter((_, n) => failures[n]?.reason === 'unavailable')
  account.unrevoked = [...account.unrevoked, ...left].slice(-MOST_UNREVOKED)
  const reason = REASONS.find((one) => failures.some((failure) => failure?.reason === one))
  const failed = failures.find((failure) => failure?.reason === reason)
  if (reason === undefined || !failed) return { revoked: true }
  const message = `The tokens of an ended login are still valid at the service (${reason}): ${failed.why}`
  settings.events.anomaly('not-revoked', message)
  return { revoked: false, reason }
}

/** Revokes one token set. @returns undefined if the service confirmed the revocation */
async function failureOf(settings: Settings, tokens: NewTokens): Promise<Failure | undefined> {
  const left = await revokeAtSource(settings, tokens, (call) => withRetries(settings, call))
  return left && { reason: left.reason, why: left.error?.message ?? NO_REVOKE }
}

/** Retries temporary failures within the time of one exchange. The pauses keep the process alive. */
async function withRetries(settings: Settings, call: () => Promise<void>): Promise<void> {
  const { clock, exchangeTimeoutMs, random, readThrown, retry } = settings
  const endAt = clock.monotonicNow() + exchangeTimeoutMs
  for (let attempt = 1; ; attempt += 1) {
    try {
      await call()
      return
    } catch (thrown) {
      const error = readThrown(thrown, 'obtain')
      const retryAfterMs = Math.min(retryAfterMsOf(error), retry.maxRetryAfterMs)
      const ms = pauseMs(attempt, error, retryAfterMs, retry, random())
      const mayPass = reasonIn(error) === 'unavailable' && error.retryable
      if (!mayPass || attempt >= MOST_TRIES || clock.monotonicNow() + ms >= endAt) throw error
      await new Promise<void>((resolve) => clock.setTimer(resolve, ms, true))
    }
  }
}

const NO_REVOKE = 'the source has no revoke; for oauth2, set revocationEndpoint'
