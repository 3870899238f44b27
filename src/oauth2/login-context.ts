import { TokenError } from '../core/errors.ts'
import { member, quietly } from '../core/thrown.ts'

/** What a process needs to refresh and revoke the tokens of one login: the client and the authorization server. */
export interface LoginContext {
  readonly clientId: string
  readonly clientSecret?: string | undefined
  /** The issuer of the tokens. */
  readonly issuer?: string | undefined
  /** Undefined: discovery failed when the tokens arrived. */
  readonly tokenEndpoint?: string | undefined
  readonly revocationEndpoint?: string | undefined
  readonly clientAuthentication?: 'basic' | 'post' | 'none' | undefined
  /** RFC 8707. Sent with each refresh, as the SDK sent it at the login. */
  readonly resource?: string | undefined
  /** The scope that was granted. Undefined: the response did not name it, and refreshes omit it. */
  readonly scope?: string | undefined
  /** Kept until discovery succeeds: `resource_metadata` of the 401 (RFC 9728, section 5.1), and the registered authentication method of the client. */
  readonly metadataUrl?: string | undefined
  readonly authMethod?: string | undefined
}

/** Increment this when older releases cannot refresh with the text. */
const RELEASE = 1

/** @returns The text for the member `context` of the tokens. */
export function contextText(context: LoginContext): string {
  return JSON.stringify({ release: RELEASE, ...context })
}

/**
 * @param logIn How to log in, for the message.
 * @returns The members of the text, not validated.
 * @throws {TokenError} if the text does not have this `RELEASE`. Then the refresh token has not been presented.
 */
export function contextIn(text: string | undefined, logIn: string): LoginContext {
  const given = quietly(() => JSON.parse(text ?? '') as unknown)
  const release = member(given, 'release')
  if (release === RELEASE) return Object.assign(Object.create(null) as LoginContext, given)
  if (typeof release === 'number' && release > RELEASE) throw newerContext()
  throw unknownContext(logIn)
}

/** Not ERR_LOGIN_REQUIRED: it would reach the processes of the newer release through the store, although they can refresh. */
function newerContext(): TokenError {
  const message = 'A newer release of axios-evergreen stored this login: update this process. The login is kept'
  return new TokenError('ERR_TOKEN_SOURCE', message, { outcome: 'not-sent', refreshToken: 'kept' })
}

/** No process can refresh such a login. */
export function unknownContext(logIn: string): TokenError {
  const message = `The stored login lacks the server or the client that it must be refreshed with: ${logIn}`
  return new TokenError('ERR_LOGIN_REQUIRED', message, { outcome: 'not-sent' })
}
