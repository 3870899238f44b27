import { TokenError } from '../core/errors.ts'
import { member, quietly } from '../core/thrown.ts'

/** What any process needs to refresh and revoke the tokens of one login: the client that they were issued to, and the server that issued them. */
export interface LoginContext {
  readonly clientId: string
  readonly clientSecret?: string | undefined
  /** Of the server that issued the tokens. */
  readonly issuer?: string | undefined
  /** Undefined: the server could not be found when its tokens came. */
  readonly tokenEndpoint?: string | undefined
  readonly revocationEndpoint?: string | undefined
  readonly clientAuthentication?: 'basic' | 'post' | 'none' | undefined
  /** RFC 8707. Sent with each refresh, as the SDK sent it at the login. */
  readonly resource?: string | undefined
  /** Until the server is found: `resource_metadata` of the 401 (RFC 9728, section 5.1), and how the client was registered. */
  readonly metadataUrl?: string | undefined
  readonly authMethod?: string | undefined
}

/** Raise this when an older release could not refresh with the text. */
const RELEASE = 1

/** @returns The text that travels as `context` of the tokens. */
export function contextText(context: LoginContext): string {
  return JSON.stringify({ release: RELEASE, ...context })
}

/**
 * @param logIn Says how to log in.
 * @returns The own members as they stand in the text. Whoever uses them checks them.
 * @throws {TokenError} if the text is not of this release. The refresh token is untouched then.
 */
export function contextIn(text: string | undefined, logIn: string): LoginContext {
  const given = quietly(() => JSON.parse(text ?? '') as unknown)
  const release = member(given, 'release')
  if (release === RELEASE) return Object.assign(Object.create(null) as LoginContext, given)
  if (typeof release === 'number' && release > RELEASE) throw newerContext()
  throw unknownContext(logIn)
}

/** Not ERR_LOGIN_REQUIRED: the store would tell it to the processes of the newer release, which can refresh. */
function newerContext(): TokenError {
  const message = 'A newer release of axios-evergreen stored this login: update this process. The login is kept'
  return new TokenError('ERR_TOKEN_SOURCE', message, { outcome: 'not-sent', refreshToken: 'kept' })
}

/** Nobody can refresh such a login. */
export function unknownContext(logIn: string): TokenError {
  const message = `The stored login does not say at which server, and for which client, it can be refreshed: ${logIn}`
  return new TokenError('ERR_LOGIN_REQUIRED', message, { outcome: 'not-sent' })
}
