import type { Remedy } from './challenges.ts'

/**
 * What follows a response that rejects the token. `surface`: the caller receives the response. `renew-in-background`: the same, and later requests get
 * another token. `surface-again`: like `renew-in-background`, but the API has rejected two tokens, which is an anomaly. `replay`: the request is sent again
 * with another token. `prove-again`: the request is sent again with the same token and a new proof.
 */
export type RetryDecision = 'surface' | 'surface-again' | 'replay' | 'renew-in-background' | 'prove-again'

export interface RejectedRequest {
  readonly remedy: Remedy
  /** Whether the login of the request still exists. */
  readonly isOfThisLogin: boolean
  readonly isRepeatable: boolean
  readonly isReplay: boolean
  /** Whether the request has a proof, and this token has not had a second one. */
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
