import type { Policy, Situation } from '../../src/core/renewal-plan.ts'

/** The first call of a renewal has failed: a refresh, while no access token serves. The record holds the claim. */
export const SITUATION: Situation = {
  exchange: 'refresh',
  attempt: 1,
  maxAttempts: 4,
  signatureFailures: 0,
  failures: 1,
  calledForMs: 0,
  servedMs: 0,
  chance: 0,
  claim: { presentations: 0 },
  found: { contested: false },
}

/** The default retries. */
export const RETRY = { maxAttempts: 4, baseDelayMs: 500, maxDelayMs: 20_000, maxRetryAfterMs: 300_000 }

export const POLICY: Policy = { retry: RETRY, graceMs: 0, maxWaitMs: 30_000, onSuspicious: 'obtain' }
