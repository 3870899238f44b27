import type { FailureFacts } from '../../src/core/renewal-plan.ts'

/** The first call of a renewal has failed: a refresh, while no access token serves. */
export const FACTS: FailureFacts = {
  exchange: 'refresh',
  attempt: 1,
  maxAttempts: 4,
  signatureFailures: 0,
  failures: 1,
  calledForMs: 0,
  servedMs: 0,
  chance: 0,
}

/** The default retries. */
export const RETRY = { maxAttempts: 4, baseDelayMs: 500, maxDelayMs: 20_000, maxRetryAfterMs: 300_000 }
