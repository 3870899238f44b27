import { hidesRefusal } from './bodies.ts'
import { type Cure, cureOf } from './challenges.ts'
import { type Grantee, isStillOf, markAtSending } from './client-port.ts'
import type { Prover, SentRequest } from './prover.ts'
import type { WaitLimits } from './token-access.ts'

/** One request with a token, as its latest sending has left it. The only object that is made for each request. */
export interface Errand<Answer> {
  readonly grantee: Grantee<Answer>
  /** The mark under which the request began. */
  readonly begun: number | undefined
  token: string
  /** The mark under which it counts since its first sending. */
  mark: number | undefined
  isReplay: boolean
  /** Whether this token has had a second proof. */
  isProvenAgain: boolean
}

/** An answer that refuses the token, and the steps that its transport can take. Made only for such an answer. */
export interface Refused<Answer> {
  /** Its `WWW-Authenticate`. */
  readonly challenge: unknown
  /** The body can be sent a second time, and no redirect has turned the request into another one. */
  readonly isRepeatable: boolean
  /** @returns Another token; undefined if there is none. @throws if the caller is to have another error than the answer. */
  replace(): Promise<string | undefined>
  /** Discards the answer and sends the request as the errand now says. */
  sendAgain(): Promise<Answer>
  /** Gives the answer to the caller: returns it, or throws. */
  surface(): Answer
}

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

/** Runs what follows an answer that refuses the token. */
export async function follow<Answer>(errand: Errand<Answer>, refused: Refused<Answer>): Promise<Answer> {
  const { grantee, token, mark, isReplay, isProvenAgain } = errand
  const { access, prover } = grantee
  let sequel = sequelOf({
    cure: cureOf(refused.challenge),
    isOfThisLogin: isStillOf(grantee, mark),
    isRepeatable: refused.isRepeatable,
    isReplay,
    mayProveAgain: prover !== undefined && !isProvenAgain,
  })
  if (sequel === 'replay') {
    let next = await refused.replace()
    // Waits again if the process stalled until the token had expired.
    while (next !== undefined && access.hasEnded(next)) next = await refused.replace()
    // Without another token the API's own answer tells the caller most.
    if (next === undefined || !isStillOf(grantee, mark)) sequel = 'surface'
    else if (next === token) sequel = 'surface-again'
    else Object.assign(errand, { token: next, isReplay: true, isProvenAgain: false })
  }
  switch (sequel) {
    case 'prove-again':
      errand.isProvenAgain = true
      return refused.sendAgain()
    case 'replay':
      return refused.sendAgain()
    case 'surface-again':
      access.anomaly('new-tokens-refused', NEW_TOKENS_REFUSED)
      break
    case 'replace-behind':
      // This request must not be sent again. Later requests get another token.
      access.replaceBehind(token)
      break
    case 'surface':
  }
  return refused.surface()
}

/** Hears an error that came in the place of an answer. */
export function heedFailure({ grantee, token, mark }: Errand<never>, error: unknown): void {
  if (hidesRefusal(error) && isStillOf(grantee, mark)) grantee.access.replaceBehind(token)
}

/** @throws {TokenError} `ERR_LOGIN_REQUIRED` if the login ended while the key signed. */
export async function proofOf(
  { grantee, token, mark }: Errand<never>,
  prover: Prover,
  request: SentRequest,
  limits: WaitLimits,
): Promise<string> {
  const proof = await prover.prove({ ...request, token }, limits)
  markAtSending(grantee, mark)
  return proof
}

/** What the anomaly `new-tokens-refused` says. */
const NEW_TOKENS_REFUSED =
  'The API refused an access token and its successor: check that the API and the token service belong to the same environment, the ' +
  'audience and scope of the tokens, and the clock of the API'
