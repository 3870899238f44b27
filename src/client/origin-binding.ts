import { endOfLogin } from '../core/errors.ts'
import { checkFit } from '../core/proof-port.ts'
import type { BearerSettings, Refuses } from './bearer-options.ts'
import { type Prover, proverOf } from './key-port.ts'
import type { TokenAccess } from './token-access.ts'

/**
 * Binds an origin to a manager: requests to the origin carry the manager's token. The binding has the format of the header, and recognizes responses that
 * reject the token. `Response` is the response type of the client library.
 */
export interface OriginBinding<Response> {
  readonly access: TokenAccess
  readonly header: string
  /** The name of the header in lower case. */
  readonly name: string
  /** @returns The value of the header for a token. */
  readonly text: (token: string) => string
  readonly refuses: Refuses<Response>
  /** Present only if the token is bound to a key. */
  readonly prover?: Prover | undefined
}

/** @throws {TypeError} if the key does not fit the source. */
export function originBindingOf<Response>(
  { header, text, refuses, dpop }: BearerSettings<Response>,
  access: TokenAccess,
): OriginBinding<Response> {
  checkFit(access.boundTo, dpop)
  const prover = dpop && proverOf(dpop, access)
  return Object.freeze({ access, header, name: header.toLowerCase(), text, refuses, prover })
}

/** Whether redirects may be followed. Across origins, clients strip `Authorization` but no other header. */
export function mayFollowRedirects({ name, prover }: OriginBinding<never>): boolean {
  return name === 'authorization' && !prover
}

/**
 * A request belongs to the login that its manager had when the request began. Exception: if the source can obtain and the manager was reset while the
 * request waited, the request belongs to the current login generation.
 *
 * @param startGeneration The login generation in which the request began.
 * @returns The login generation that the request belongs to from now on.
 * @throws {TokenError} `ERR_LOGIN_REQUIRED` or `ERR_LOGIN_REPLACED` if that login has ended: the request must not be sent.
 */
export function generationAtSending(
  binding: OriginBinding<never>,
  startGeneration: number | undefined,
): number | undefined {
  const { access } = binding
  if (isStillOf(binding, startGeneration)) return startGeneration
  if (!access.hasLogins) return access.currentGeneration?.()
  throw endOfLogin(access.isLoginPresent?.())
}

/** Whether the login of a request still exists. Only then may the request carry another token. @param generation Undefined: no login yet. */
export function isStillOf({ access }: OriginBinding<never>, generation: number | undefined): boolean {
  return generation === undefined || generation >= access.firstGeneration()
}
