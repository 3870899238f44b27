import type { Cure } from './challenges.ts'

/**
 * What follows an answer that refuses the token. `surface`: the caller gets the answer. `surface-again`: the same, and the API has refused two
 * tokens, which is an anomaly. `replay`: once more with another token. `replace-behind`: the caller gets the answer, and later requests another
 * token. `prove-again`: once more with the same token and a new proof.
 */
export type Sequel = 'surface' | 'surface-again' | 'replay' | 'replace-behind' | 'prove-again'

export interface RefusedRequest {
  readonly cure: Cure
  /** The login of the request has not ended. */
  readonly isOfThisLogin: boolean
  readonly isRepeatable: boolean
  readonly isReplay: boolean
  /** The request can be sent with a new proof, and has not been yet with this token. */
  readonly mayProveAgain: boolean
}

export function sequelOf(request: RefusedRequest): Sequel {
  if (!request.isOfThisLogin) return 'surface'
  switch (request.cure) {
    case 'none':
      return 'surface'
    case 'new-proof':
      return request.mayProveAgain && request.isRepeatable ? 'prove-again' : 'surface'
    case 'another-token':
      if (request.isReplay) return 'surface-again'
      return request.isRepeatable ? 'replay' : 'replace-behind'
  }
}
