import { CREDENTIAL_RULES } from '../../src/core/credential-rules.ts'
import { LOGIN_RULES } from '../../src/login/login-rules.ts'
import type { Policy, Situation } from '../../src/core/situation.ts'

/** The first call of a renewal has failed: a refresh, while no access token is valid. The record holds the lease. */
export const SITUATION: Situation = {
  exchange: 'refresh',
  attempt: 1,
  maxAttempts: 4,
  signatureFailures: 0,
  failures: 1,
  sinceLeaseMs: 0,
  usableMs: 0,
  chance: 0,
  lease: { presentations: 0 },
  meanwhile: { contested: false },
}

/** The default retries. */
export const RETRY = { maxAttempts: 4, baseDelayMs: 500, maxDelayMs: 20_000, maxRetryAfterMs: 300_000 }

/** Of a source that can obtain. */
export const POLICY: Policy = {
  ...{ retry: RETRY, graceMs: 0, renewal: { maxWaitMs: 30_000 }, onSuspicious: 'obtain' },
  rules: CREDENTIAL_RULES,
}

/** Of a source that needs a user. */
export const LOGIN_POLICY: Policy = { ...POLICY, rules: LOGIN_RULES }
