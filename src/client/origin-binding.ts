import { TokenError } from '../core/errors.ts'
import { checkFit } from '../core/proof-port.ts'
import type { BearerSettings, Refuses } from './bearer-options.ts'
import { type Prover, proverOf } from './key-port.ts'
import type { TokenAccess } from './token-access.ts'

/**
 * What a client library needs of a manager is three questions. May this URL have a token: the `OriginBinding` of its origin. A token, or the wait
 * for one: the grantee's `access`, under the rules of `markAtSending`. What follows an answer: `follow`.
 */

/** Who may have the token of one manager, and how the token is put on a request. `Answer` is what a client library calls a response. */
export interface OriginBinding<Answer> {
  readonly access: TokenAccess
  readonly header: string
  /** The header's name in lower case. */
  readonly name: string
  /** The header's text with this token. */
  readonly text: (token: string) => string
  readonly refuses: Refuses<Answer>
  /** Only where a token is bound to a key. */
  readonly prover?: Prover | undefined
}

/** @throws {TypeError} if the key does not fit the source. */
export function originBindingOf<Answer>(
  { header, text, refuses, dpop }: BearerSettings<Answer>,
  access: TokenAccess,
): OriginBinding<Answer> {
  checkFit(access.boundTo, dpop)
  const prover = dpop && proverOf(dpop, access)
  return Object.freeze({ access, header, name: header.toLowerCase(), text, refuses, prover })
}

/** Whether redirects may be followed: all clients take `Authorization` off a request that goes to another origin, and no other header. */
export function maySeeRedirects({ name, prover }: OriginBinding<never>): boolean {
  return name === 'authorization' && !prover
}

/**
 * A request belongs to the login that its manager knew when the request began. With a source that can obtain, the request may wait while the
 * manager is reset, so there the login counts from the first sending.
 *
 * @param startGeneration The mark under which the request began.
 * @returns The mark under which it counts from now on.
 * @throws {TokenError} `ERR_LOGIN_REQUIRED` if that login has ended: the request must not be sent.
 */
export function generationAtSending(
  binding: OriginBinding<never>,
  startGeneration: number | undefined,
): number | undefined {
  const { access } = binding
  if (isStillOf(binding, startGeneration)) return startGeneration
  if (!access.needsLogin) return access.currentGeneration?.()
  throw new TokenError('ERR_LOGIN_REQUIRED', ENDED, { loginReason: 'logged-out' })
}
const ENDED =
  'The login in which this request began has ended. The request was not sent: send it again if it still applies'

/** Whether the login of a request that was sent under `mark` goes on: only then may it have another token. */
export function isStillOf({ access }: OriginBinding<never>, generation = 0): boolean {
  return generation >= access.firstGeneration()
}
