import { TokenError } from '../core/errors.ts'
import { quietly } from '../core/thrown.ts'
import type { ExchangeContext, TokenGrant } from '../core/token-source.ts'
import { lifetimeIn } from '../wire/lifetime.ts'
import type { Answered } from '../wire/answered.ts'
import {
  documentIn,
  holderOfToken,
  memberOf,
  type Members,
  otherProtocol,
  refreshLifetimeIn,
  subjectIn,
} from './document.ts'
import type { OAuth2Settings } from './oauth2-options.ts'

/** Reads the answers of one token endpoint. */
export class AnswerReader {
  readonly #scope: readonly string[]
  readonly #defaultLifetimeMs: number
  readonly #onAnswer: OAuth2Settings['onAnswer']
  readonly #isBound: boolean
  /** The oddities that were reported. Each is reported once. */
  readonly #told = new Set<string>()

  constructor({ scope, defaultLifetimeMs, onAnswer, dpop }: OAuth2Settings) {
    this.#scope = scope
    this.#defaultLifetimeMs = defaultLifetimeMs
    this.#onAnswer = onAnswer
    this.#isBound = dpop !== undefined
  }

  /**
   * Reads an answer of status 2xx (RFC 6749, section 5.1).
   *
   * @throws {TokenError} `ERR_TOKEN_RESPONSE` when a member is missing or cannot be used. No part of such an answer is used.
   */
  grantIn(answer: Answered, report: ExchangeContext['report']): TokenGrant {
    const whole = documentIn(answer.text)
    const unusable = (why: string) => unusableAnswer(answer, why)
    if (!whole) throw unusable(/^\s*</.test(answer.text) ? 'it is HTML; check tokenEndpoint' : 'it is no JSON object')
    const document = holderOfToken(whole)
    if (memberOf(document, 'error') !== undefined) throw unusable('it reports an error under a status of success')
    const accessToken = memberOf(document, 'access_token')
    if (typeof accessToken !== 'string' || accessToken === '')
      throw unusable(otherProtocol(document) ?? 'access_token must be a non-empty string')
    const odd: string[] = []
    const tokenType = memberOf(document, 'token_type')
    const otherType = otherTypeThan(this.#isBound ? DPOP : BEARER, tokenType)
    if (otherType !== undefined) throw unusable(otherType)
    if (tokenType === undefined) odd.push('names no token_type: Bearer is assumed')
    const refreshToken = memberOf(document, 'refresh_token') ?? ''
    if (typeof refreshToken !== 'string') throw unusable('refresh_token must be a string')
    const expiresIn = memberOf(document, 'expires_in')
    const accessLifetimeMs = expiresIn === undefined ? this.#defaultLifetimeMs : lifetimeIn(expiresIn)
    if (accessLifetimeMs === undefined) throw unusable('expires_in must be a positive number of seconds')
    if (expiresIn === undefined) odd.push(`has no expires_in: ${accessLifetimeMs} ms are assumed`)
    else if (typeof expiresIn === 'string') odd.push('gives expires_in as text')
    const missing = this.#notGranted(memberOf(document, 'scope'))
    if (missing.length > 0) odd.push(`grants less than was asked for: ${missing.join(' ')} is missing from its scope`)
    this.#tell(odd, report)
    this.#show(document)
    const refreshLifetimeMs = refreshLifetimeIn(document)
    const subject = subjectIn(document)
    return {
      accessToken,
      accessLifetimeMs,
      ...(refreshToken !== '' && { refreshToken }),
      ...(refreshToken !== '' && refreshLifetimeMs !== undefined && { refreshLifetimeMs }),
      ...(subject !== undefined && { subject }),
    }
  }

  #show(document: Members): void {
    const members = Object.freeze(Object.assign(Object.create(null) as Members, document))
    const over: unknown = quietly(() => this.#onAnswer?.(members))
    if (over instanceof Promise) over.catch(() => undefined)
  }

  /** @returns The requested scope tokens that are missing from the answer; none if the answer names no scope. */
  #notGranted(scope: unknown): string[] {
    if (typeof scope !== 'string') return []
    // GitHub, Shopify and Slack separate the scope tokens by commas.
    const granted = scope.split(/[ ,]/)
    return this.#scope.filter((one) => !granted.includes(one) && !UNANSWERED.test(one))
  }

  #tell(odd: readonly string[], report: ExchangeContext['report']): void {
    const untold = odd.filter((what) => !this.#told.has(what))
    if (untold.length === 0) return
    for (const what of untold) this.#told.add(what)
    report?.('response-odd', `The token answer ${untold.join('; it ')}`)
  }
}

/** Some servers grant these scope tokens without naming them in the answer. */
const UNANSWERED = /^(openid|offline_access|.*\/\.default)$/

/** `bot` and `user` say at Slack whose token it is. `N_A` is of RFC 8693, section 2.2.1. */
const BEARER = /^(bearer(token)?|bot|user|n_a)$/i

const DPOP = /^dpop$/i

/** @returns What is wrong with the type of the token, if it is another one. An unknown word may hold a secret, so no message quotes it. */
function otherTypeThan(wanted: typeof BEARER, given: unknown): string | undefined {
  const isText = typeof given === 'string'
  if (isText ? wanted.test(given) : given === undefined && wanted === BEARER) return undefined
  const found = ['Bearer', 'DPoP', 'mac', 'pop'].find((type) => isText && given.toLowerCase() === type.toLowerCase())
  const got = found ?? (given === undefined ? 'none' : 'something else')
  if (wanted === DPOP)
    return `token_type must be DPoP, got ${got}: the server has not bound the token to the key of dpop`
  return `token_type must be Bearer, got ${got}${got === 'DPoP' ? ': give the key as dpop' : ''}`
}

/** @param why Must quote no value of the answer that may be a token. */
function unusableAnswer({ address, status }: Answered, why: string): TokenError {
  const message = `The answer of ${address} cannot be used: ${why}`
  return new TokenError('ERR_TOKEN_RESPONSE', message, { outcome: 'unknown', status })
}
