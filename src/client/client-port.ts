import { TokenError } from '../core/errors.ts'
import type { Cure } from './challenges.ts'
import type { Prover } from './prover.ts'
import type { TokenAccess } from './token-access.ts'

/**
 * What a client library needs of a manager is three questions. May this URL have a token: the `Grantee` of its origin. A token, or the wait
 * for one: the grantee's `access`, under the rules of `loginAtSending`. What follows an answer: `sequelOf`.
 */

/** Who may have the token of one manager, and how the token is put on a request. `Answer` is what a client library calls a response. */
export interface Grantee<Answer> {
  readonly access: TokenAccess
  readonly header: string
  /** The header's name in lower case. */
  readonly name: string
  /** The header's text with this token. */
  readonly text: (token: string) => string
  readonly refuses: (answer: Answer) => boolean
  /** Only where a token is bound to a key. */
  readonly prover?: Prover | undefined
}

/** Whether redirects may be followed: all clients take `Authorization` off a request that goes to another origin, and no other header. */
export function maySeeRedirects({ name, prover }: Grantee<never>): boolean {
  return name === 'authorization' && !prover
}

/**
 * A request belongs to the login that its manager knew when the request began. With a source that can obtain, the request may wait while the
 * manager is reset, so there the login counts from the first sending.
 *
 * @param begun The mark of the login in which the request began.
 * @returns The mark to which the request now belongs.
 * @throws {TokenError} `ERR_LOGIN_REQUIRED` if that login has ended: the request must not be sent.
 */
export function loginAtSending({ access }: Grantee<never>, begun: number | undefined): number | undefined {
  const login = access.login?.()
  if (login === begun || !access.needsLogin) return login
  throw new TokenError('ERR_LOGIN_REQUIRED', ENDED, { loginReason: 'logged-out' })
}
const ENDED =
  'The login in which this request began has ended. The request was not sent: send it again if it still applies'

/** Whether a request that was sent in the login `sent` may have another token. */
export function isStillOf({ access }: Grantee<never>, sent: number | undefined): boolean {
  return access.login?.() === sent
}

/**
 * What follows an answer that refuses the token. `surface`: the caller gets the answer. `surface-again`: the same, and the API has refused two
 * tokens, which is an anomaly. `replay`: once more with another token. `replace-behind`: the caller gets the answer, and later requests another
 * token. `prove-again`: once more with the same token and a new proof.
 */
export type Sequel = 'surface' | 'surface-again' | 'replay' | 'replace-behind' | 'prove-again'

export interface Refusal {
  readonly cure: Cure
  /** The answer is of another origin, where a redirect led without the token: it says nothing about the token. */
  readonly isOfOtherOrigin: boolean
  /** The login of the request has not ended. */
  readonly isOfThisLogin: boolean
  /** The body can be sent a second time, and no redirect has turned the request into another one. */
  readonly isRepeatable: boolean
  readonly isReplay: boolean
  /** The request can be sent with a new proof, and has not been yet with this token. */
  readonly mayProveAgain: boolean
}

export function sequelOf(refusal: Refusal): Sequel {
  if (refusal.isOfOtherOrigin || !refusal.isOfThisLogin) return 'surface'
  switch (refusal.cure) {
    case 'none':
      return 'surface'
    case 'new-proof':
      return refusal.mayProveAgain && refusal.isRepeatable ? 'prove-again' : 'surface'
    case 'another-token':
      if (refusal.isReplay) return 'surface-again'
      return refusal.isRepeatable ? 'replay' : 'replace-behind'
  }
}

/** What the anomaly `new-tokens-refused` says. */
export const NEW_TOKENS_REFUSED =
  'The API refused an access token and its successor: check that the API and the token service belong to the same environment, the ' +
  'audience and scope of the tokens, and the clock of the API'
