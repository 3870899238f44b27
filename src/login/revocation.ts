import type { Account, Settings } from '../core/account.ts'
import { pauseMs, retryAfterMsOf } from '../core/plan.ts'
import { reasonIn, revokeAtSource } from '../core/source-acts.ts'
import type { LogoutResult } from '../core/login-port.ts'
import type { NewTokens } from '../core/token-store.ts'

/** Why tokens are good still, and what the source says about it. */
interface Failure {
  readonly reason: (typeof REASONS)[number]
  readonly why: string
}

/** Calls of one revocation, the first included. */
const MOST_TRIES = 3
/** Nobody logs out more often than this while the service is away. */
const MOST_UNREVOKED = 8
/** The first one that applies counts: of `unavailable` the next logout can still make a success. */
const REASONS = ['unavailable', 'refused', 'no-endpoint'] as const

/** Revokes these tokens, and those that an earlier logout could not revoke. Never rejects. */
export function revokeAll(account: Account, ended: readonly NewTokens[]): Promise<LogoutResult> {
  return revoke(account, [...account.unrevoked.splice(0), ...ended])
}

/** Lets the source tell the service that these tokens are not wanted any more (RFC 7009). Never rejects. */
export async function revoke(account: Account, sets: readonly NewTokens[]): Promise<LogoutResult> {
  const { settings } = account
  if (sets.length === 0) return { revoked: false, reason: 'nothing' }
  const failures = await Promise.all(sets.map((tokens) => failureOf(settings, tokens)))
  const left = sets.filter((_, n) => failures[n]?.reason === 'unavailable')
  account.unrevoked = [...account.unrevoked, ...left].slice(-MOST_UNREVOKED)
  const reason = REASONS.find((one) => failures.some((failure) => failure?.reason === one))
  const told = failures.find((failure) => failure?.reason === reason)
  if (reason === undefined || !told) return { revoked: true }
  const message = `The tokens of a login that has ended live on at the service (${reason}): ${told.why}`
  settings.events.anomaly('not-revoked', message)
  return { revoked: false, reason }
}

/** Makes the calls for one set of tokens. @returns undefined if the service confirmed the revocation */
async function failureOf(settings: Settings, tokens: NewTokens): Promise<Failure | undefined> {
  const left = await revokeAtSource(settings, tokens, (call) => tried(settings, call))
  return left && { reason: left.reason, why: left.error?.message ?? NO_REVOKE }
}

/** Calls again after a failure that may pass, as long as the time of one exchange allows. A pause keeps the process alive. */
async function tried(settings: Settings, call: () => Promise<void>): Promise<void> {
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

const NO_REVOKE = 'the source has no revoke; oauth2 has one if it is given revocationEndpoint, or issuer'
