import type { TokenError } from '../core/errors.ts'
import { quietly } from '../core/thrown.ts'
import { CHANGED, unusableResponse } from '../wire/error-response.ts'
import { isOAuthError } from '../wire/meaning.ts'

/** A complete response of status 2xx. */
export interface SuccessResponse {
  readonly text: string
  /** The `Date` header as received. */
  readonly date: unknown
  /** Origin and path, for messages. */
  readonly address: string
  readonly status: number
  /** Names the proxy, for messages. */
  readonly proxy?: string | undefined
}

/** For messages. */
export const VARIANT_A = 'Variant A (client id and secret)'
export const VARIANT_B = 'Variant B (login and password)'

/** The one resource of the service (specification, section 2). */
const TYPE = 'auth-token'

type Members = Readonly<Record<string, unknown>>

/** @returns The JSON text of a request: `{ data: { type, attributes } }` (specification, section 4). */
export function requestDocument(attributes: Readonly<Record<string, string>>): string {
  return JSON.stringify({ data: { type: TYPE, attributes } })
}

/**
 * The response to a token request (specification, sections 2 and 4): `{ data: { type, id, attributes }, meta? }`, or the bare
 * `{ type, id, attributes }` of refresh responses. Reads own members only, one by one, and copies nothing, so
 * no key of the response can reach a prototype.
 */
export class TokenDocument {
  readonly #response: SuccessResponse
  readonly #attributes: Members
  readonly #meta: unknown
  /** Whether there is an `id`. Nothing uses it, but the specification requires it. */
  readonly hasId: boolean

  /** @throws {TokenError} `ERR_TOKEN_RESPONSE` */
  constructor(received: SuccessResponse, shape: 'wrapped' | 'wrapped-or-bare') {
    this.#response = received
    const parsed = this.#parsed(received.text)
    if (own(parsed, 'access_token') !== undefined) throw this.unusable(oauthServer('access_token'))
    if (isError(own(parsed, 'errors')) || isError(own(parsed, 'error')))
      throw this.unusable('it has errors although its status is a success')
    const bare = shape === 'wrapped-or-bare' && !Object.hasOwn(parsed, 'data')
    const resource = bare ? parsed : this.#object(own(parsed, 'data'), 'data')
    if (own(resource, 'type') !== TYPE) throw this.wrong('type', `'${TYPE}'`)
    this.#attributes = this.#object(own(resource, 'attributes'), 'data.attributes')
    this.#meta = own(parsed, 'meta')
    this.hasId = typeof own(resource, 'id') === 'string'
  }

  /** @returns The attribute, undefined if it is missing. */
  attribute(name: string): unknown {
    return own(this.#attributes, name)
  }

  /** @returns The member of `meta`, undefined if it or `meta` itself is missing. */
  meta(name: string): unknown {
    return isObject(this.#meta) ? own(this.#meta, name) : undefined
  }

  /** @throws {TokenError} `ERR_TOKEN_RESPONSE` unless the attribute is a non-empty string. */
  text(name: string): string {
    const value = this.attribute(name)
    if (typeof value !== 'string' || value === '') throw this.wrong(`attributes.${name}`, 'a non-empty string')
    return value
  }

  /** The error for a member of `data`. */
  wrong(name: string, must: string): TokenError {
    return this.unusable(`data.${name} must be ${must}${CHANGED}`)
  }

  /** The error for an unusable response. @param why Must not quote values of the response, which may be tokens. */
  unusable(why: string): TokenError {
    return unusableResponse(this.#response, why)
  }

  #parsed(text: string): Members {
    const document = quietly(() => JSON.parse(text) as unknown)
    if (document === undefined) throw this.unusable('it is not JSON; check baseUrl')
    return this.#object(document, 'the document')
  }

  #object(value: unknown, name: string): Members {
    if (!isObject(value)) throw this.unusable(`${name} must be an object${CHANGED}`)
    return value
  }
}

/** Frameworks that always send the member set it to null, false, or an empty list or string if there is no error. */
const isError = (value: unknown) => (Array.isArray(value) ? value.length > 0 : Boolean(value))

/** For messages. */
export const USE_OAUTH = 'use oauth2 of axios-evergreen/oauth2'

/** The message for a response of an OAuth 2.0 server. @param shown The evidence in the response. */
export function oauthServer(shown: string): string {
  return `an OAuth 2.0 server responded (${shown}), but this source uses the service’s own protocol: ${USE_OAUTH}`
}

/**
 * @returns The evidence that an error response is one of OAuth 2.0 (RFC 6749, section 5.2): its error code if that is known, else only
 * the name of the member. Undefined for all other responses: the `error` of web frameworks is not an error code.
 */
export function oauthErrorOf(text: string): string | undefined {
  const error = own(parsed(text), 'error')
  if (isOAuthError(error)) return `error: ${error}`
  return typeof error === 'string' && /^[a-z]+(_[a-z]+)+$/.test(error) ? 'error' : undefined
}

/**
 * The error code of the specification (section 7), and those of the framework that the service seems to use. Other values are never shown, because they may
 * be parts of a token.
 */
const KNOWN_CODES = new Set([
  'throttled',
  'authentication_failed',
  'error',
  'invalid',
  'method_not_allowed',
  'no_active_account',
  'not_authenticated',
  'not_found',
  'parse_error',
  'permission_denied',
  'token_not_valid',
  'unsupported_media_type',
])

/**
 * @param sent The values that were sent. A response may echo them.
 * @returns The application code of an error response, if it has one: a number of at most nine digits, or a known code. It is
 * for messages only: the status decides (field notes).
 */
export function serviceCodeOf(text: string, sent: readonly unknown[]): string | undefined {
  const document = parsed(text)
  const errors = own(document, 'errors')
  const holders: unknown[] = [
    Array.isArray(errors) ? errors[0] : undefined,
    document,
    own(document, 'error'),
    own(document, 'detail'),
  ]
  for (const holder of holders) {
    const code = isObject(holder) ? own(holder, 'code') : undefined
    const serviceCode = typeof code === 'number' || typeof code === 'string' ? String(code).trim() : ''
    if ((/^\d{1,9}$/.test(serviceCode) || KNOWN_CODES.has(serviceCode)) && !sent.includes(serviceCode))
      return serviceCode
  }
  return undefined
}

/** @returns The JSON object of an error response; an empty object for any other text. */
function parsed(text: string): Members {
  const document = quietly(() => JSON.parse(text) as unknown)
  return isObject(document) ? document : {}
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function own(object: Members, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
