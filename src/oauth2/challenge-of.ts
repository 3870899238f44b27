import { type ChallengeParameters, challengesIn, remedyFor } from '../client/challenges.ts'
import { firstIn } from '../client/token-error-in.ts'
import { isTokenError } from '../core/errors.ts'
import { member, quietly } from '../core/thrown.ts'
import { decodedText, documentIn } from './document.ts'
import { claimsOf } from './refused-claims.ts'

/** What a server asks for beyond a valid token. All texts come from the server. A text of more than 8 KiB is omitted. */
export interface Challenge {
  /** The error code, such as `insufficient_scope`. */
  error?: string
  /** The scope that the request needs (RFC 6750, section 3). */
  scope?: string
  /** The authentication contexts that the API accepts, its preferred one first (RFC 9470, section 3). */
  acrValues?: readonly string[]
  /** The maximum time since the user authenticated, s (RFC 9470, section 3). */
  maxAgeS?: number
  /** JSON text: the value of the parameter `claims` of an authorization request (OpenID Connect Core, section 5.5). */
  claims?: string
  /** Where the API describes itself (RFC 9728, section 5.1). */
  resourceMetadata?: string
}

/**
 * What a server asks for beyond the token that it was given: another scope, a stronger or a newer authentication of the user, claims. Pass the result
 * to the authorization request of the next login.
 *
 * @example
 * ```ts
 * import { challengeOf } from 'axios-evergreen/oauth2'
 *
 * await api.post('/transfers').catch((error: unknown) => {
 *   const { acrValues, maxAgeS } = challengeOf(error) ?? {}
 *   if (!acrValues && maxAgeS === undefined) throw error
 *   console.warn('the user must log in again', acrValues, maxAgeS)
 * })
 * ```
 * @param error What a request rejected or resolved with: a response or an error of axios, a `Response`, an error of a client that wraps them (in `cause`,
 * `detail` or `original`, four levels deep), or `ERR_LOGIN_REQUIRED` with the reason `interaction`.
 * @returns Undefined if the server asks for nothing more than a valid token.
 */
export function challengeOf(error: unknown): Challenge | undefined {
  return firstIn(error, (one) => interactionIn(one) ?? challengeIn(one) ?? challengeIn(member(one, 'response')))
}

/** What the token service requires of the user before it refreshes. */
function interactionIn(error: unknown): Challenge | undefined {
  if (!isTokenError(error) || error.loginReason !== 'interaction') return undefined
  return challengeWith({ error: error.serviceCode, claims: jsonIn(claimsOf(error)) })
}

/** A longer header is not parsed. */
const MAX_LENGTH = 65_536

function challengeIn(response: unknown): Challenge | undefined {
  const status = Number(member(response, 'status') ?? member(response, 'statusCode'))
  if (!(status >= 400 && status < 500)) return undefined
  const header = headerIn(member(response, 'headers'))
  const asks = header.length > MAX_LENGTH ? undefined : challengesIn(header).find(asksForMore)
  if (!asks) return undefined
  return challengeWith({
    error: asks.get('error'),
    scope: asks.get('scope'),
    acrValues: asks.get('acr_values')?.split(' ').filter(Boolean),
    maxAgeS: secondsIn(asks.get('max_age')),
    claims: jsonIn(asks.get('claims')),
    resourceMetadata: asks.get('resource_metadata'),
  })
}

/** Whether no other token of the same login would help. */
function asksForMore(challenge: ChallengeParameters): boolean {
  return remedyFor(challenge.get('error') ?? '') === 'none' || ASKING.some((name) => challenge.has(name))
}
const ASKING = ['acr_values', 'max_age', 'claims']

/** Headers may be those of the platform, those of axios, or a plain object. */
function headerIn(headers: unknown): string {
  const get = member(headers, 'get')
  const found = quietly((): unknown =>
    typeof get === 'function'
      ? Reflect.apply(get, headers, [HEADER])
      : Object.entries(headers ?? {}).find(isHeader)?.[1],
  )
  const lines = [found].flat().filter((line) => typeof line === 'string')
  return lines.join(', ')
}
const HEADER = 'www-authenticate'
const isHeader = ([name]: [string, unknown]) => name.toLowerCase() === HEADER

const secondsIn = (text = '') => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)

/** @returns The JSON object as text. Microsoft Entra encodes it in base64. */
function jsonIn(text = ''): string | undefined {
  return [text, decodedText(text)].find((one) => documentIn(one))
}

const MAX_BYTES = 8_192

/** @returns The members that are present and not too long. */
function challengeWith(members: { readonly [Name in keyof Challenge]: Challenge[Name] | undefined }): Challenge {
  const isFit = (value: unknown) => {
    const { length } = new TextEncoder().encode([value].flat().join(' '))
    return length > 0 && length <= MAX_BYTES
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && isFit(value)))
}
