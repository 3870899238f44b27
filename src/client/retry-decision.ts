import type { Remedy } from './challenges.ts'

/**
 * What follows an answer that refuses the token. `surface`: the caller gets the answer. `surface-again`: the same, and the API has refused two
 * tokens, which is an anomaly. `replay`: once more with another token. `renew-in-background`: the caller gets the answer, and later requests another
 * token. `prove-again`: once more with the same token and a new proof.
 */
export type RetryDecision = 'surface' | 'surface-again' | 'replay' | 'renew-in-background' | 'prove-again'

export interface RejectedRequest {
  readonly remedy: Remedy
  /** The login of the request has not ended. */
  readonly isOfThisLogin: boolean
  readonly isRepeatable: boolean
  readonly isReplay: boolean
  /** The request can be sent with a new proof, and has not been yet with this token. */
  readonly mayProveAgain: boolean
}

export function retryDecisionOf(request: RejectedRequest): RetryDecision {
  if (!request.isOfThisLogin) return 'surface'
  switch (request.remedy) {
    case 'none':
      return 'surface'
    case 'new-proof':
      return request.mayProveAgain && request.isRepeatable ? 'prove-again' : 'surface'
    case 'another-token':
      if (request.isReplay) return 'surface-again'
      return request.isRepeatable ? 'replay' : 'renew-in-background'
  }
}
