import { TokenError } from '../core/errors.ts'
import { quietly } from '../core/thrown.ts'
import { CHANGED, wayOf } from '../wire/error-response.ts'
import { isOAuthError } from '../wire/oauth-errors.ts'

/** A complete answer of status 2xx. */
export interface TokenAnswer {
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
 * The answer to a token call (specification, sections 2 and 4): `{ data: { type, id, attributes }, meta? }`, or the bare
 * `{ type, id, attributes }` that refresh answers have. Members are read one by one, own ones only, and nothing is copied:
 * no key of the answer can reach a prototype.
 */
export class TokenDocument {
  readonly #answer: TokenAnswer
  readonly #attributes: Members
  readonly #meta: unknown
  /** Whether there is an `id`. Its absence is odd, but nothing uses it. */
  readonly hasId: boolean

  /** @throws {TokenError} `ERR_TOKEN_RESPONSE` */
  constructor(received: TokenAnswer, shape: 'wrapped' | 'wrapped-or-bare') {
    this.#answer = received
    const answer = this.#parsed(received.text)
    if (own(answer, 'access_token') !== undefined) throw this.unusable(oauthServer('access_token'))
    if (isReported(own(answer, 'errors')) || isReported(own(answer, 'error')))
      throw this.unusable('it reports errors under a status of success')
    const bare = shape === 'wrapped-or-bare' && !Object.hasOwn(answer, 'data')
    const resource = bare ? answer : this.#object(own(answer, 'data'), 'data')
    if (own(resource, 'type') !== TYPE) throw this.wrong('type', `'${TYPE}'`)
    this.#attributes = this.#object(own(resource, 'attributes'), 'data.attributes')
    this.#meta = own(answer, 'meta')
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

  /** The error for an answer that cannot be used. It names no value of the answer, which may be a token. */
  unusable(why: string): TokenError {
    const { address, status, proxy } = this.#answer
    const message = `The response from ${address} cannot be used: ${why}${wayOf(proxy)}`
    return new TokenError('ERR_TOKEN_RESPONSE', message, { outcome: 'unknown', status })
  }

  #parsed(text: string): Members {
    const answer = quietly(() => JSON.parse(text) as unknown)
    if (answer === undefined) throw this.unusable('it is not JSON; check baseUrl')
    return this.#object(answer, 'the document')
  }

  #object(value: unknown, name: string): Members {
    if (!isObject(value)) throw this.unusable(`${name} must be an object${CHANGED}`)
    return value
  }
}

/** Frameworks that always send the member give it null, false, or nothing in a list or text, where there is no error. */
const isReported = (value: unknown) => (Array.isArray(value) ? value.length > 0 : Boolean(value))

/** For messages. */
export const USE_OAUTH = 'use oauth2 of axios-evergreen/oauth2'

/** The message for an answer of an OAuth 2.0 server. @param shown What in the answer shows that. */
export function oauthServer(shown: string): string {
  return `an OAuth 2.0 server answered (${shown}), and this source speaks the service’s own protocol: ${USE_OAUTH}`
}

/**
 * @returns What shows that an error answer is one of OAuth 2.0 (RFC 6749, section 5.2): its error if that is known, else only
 * the name of the member. Undefined for all other answers: web frameworks, too, have an `error`, but with other words.
 */
export function oauthErrorOf(text: string): string | undefined {
  const error = own(parsed(text), 'error')
  if (isOAuthError(error)) return `error: ${error}`
  return typeof error === 'string' && /^[a-z]+(_[a-z]+)+$/.test(error) ? 'error' : undefined
}

/**
 * The word of the specification (section 7), and those of the framework that the service seems to be built with. A word that
 * is not here is never shown: it may be a token, or a part of one.
 */
const KNOWN_WORDS = new Set([
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
 * @param sent What was sent, which an answer may echo.
 * @returns The application code of an error answer, if it has one: a number of at most nine digits, or a known word. It is
 * evidence only: the status decides (field notes).
 */
export function serviceCodeOf(text: string, sent: readonly unknown[]): string | undefined {
  const answer = parsed(text)
  const errors = own(answer, 'errors')
  const holders: unknown[] = [
    Array.isArray(errors) ? errors[0] : undefined,
    answer,
    own(answer, 'error'),
    own(answer, 'detail'),
  ]
  for (const holder of holders) {
    const code = isObject(holder) ? own(holder, 'code') : undefined
    const word = typeof code === 'number' || typeof code === 'string' ? String(code).trim() : ''
    if ((/^\d{1,9}$/.test(word) || KNOWN_WORDS.has(word)) && !sent.includes(word)) return word
  }
  return undefined
}

/** The object in an error answer; an empty one for any other text. */
function parsed(text: string): Members {
  const answer = quietly(() => JSON.parse(text) as unknown)
  return isObject(answer) ? answer : {}
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function own(object: Members, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
