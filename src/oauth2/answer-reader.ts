import { TokenError } from '../core/errors.ts'
import { quietly } from '../core/thrown.ts'
import { type ExchangeContext, REMARKS, type RemarkedGrant } from '../core/token-source.ts'
import type { TokenResponse } from '../wire/token-response.ts'
import { CHANGED, wayOf } from '../wire/error-response.ts'
import { parseHttpDate } from '../wire/http-date.ts'
import {
  documentIn,
  formIn,
  holdersOfToken,
  memberOf,
  type Members,
  otherProtocol,
  subjectIn,
  TWO_HOLDERS,
} from './document.ts'
import { ACCESS, lifetimeAmong, refreshLifetimeIn, type ToldLifetime } from './lifetimes.ts'
import type { OAuth2Settings } from './oauth2-settings.ts'

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
   * Reads an answer of status 2xx (RFC 6749, section 5.1) part by part: if only its access token cannot be used, its refresh token is kept (F345).
   *
   * @param presented The refresh token that was sent. If the answer brings another one, a lifetime that cannot be used counts as not told.
   * @throws {TokenError} `ERR_TOKEN_RESPONSE` when a member is missing or cannot be used, and there is no refresh token.
   */
  grantIn(answer: TokenResponse, context: ExchangeContext, presented?: string): RemarkedGrant {
    const unusable = (why: string) => unusableAnswer(answer, why)
    const whole = documentIn(answer.text)
    const read = whole ?? formIn(answer.text)
    if (!read) throw unusable(/^\s*</.test(answer.text) ? 'it is HTML; check tokenEndpoint' : NO_JSON)
    const [document = read, another] = holdersOfToken(read)
    if (another) throw unusable(TWO_HOLDERS)
    const refreshToken = memberOf(document, 'refresh_token') ?? ''
    if (typeof refreshToken !== 'string') throw unusable(`refresh_token must be a string${CHANGED}`)
    const isRotated = presented !== undefined && refreshToken !== '' && refreshToken !== presented
    const now = parseHttpDate(answer.headers.get('date')) ?? context.clock.wallNow()
    const refreshLifetimeMs = refreshLifetimeIn(document, now)
    const subject = subjectIn(document)
    const others = {
      ...(refreshToken !== '' && { refreshToken }),
      ...(refreshToken !== '' && refreshLifetimeMs !== undefined && { refreshLifetimeMs }),
      ...(subject !== undefined && { subject }),
    }
    const flaw = whole ? this.#flawOf(document) : NO_JSON
    if (flaw !== undefined && refreshToken === '') throw unusable(flaw)
    if (flaw !== undefined)
      return { accessToken: '', accessLifetimeMs: 0, ...others, [REMARKS]: { flaw: unusable(flaw) } }
    const told = toldLifetime(document, [now, context.clock.wallNow()])
    if (!told && !isRotated && memberOf(document, 'expires_in') !== undefined)
      throw unusable(`expires_in must be a positive number of seconds${CHANGED}`)
    const accessLifetimeMs = told?.ms ?? this.#defaultLifetimeMs
    this.#tell(this.#oddIn(document, told, accessLifetimeMs), context.report)
    this.#show(document)
    const accessToken = memberOf(document, 'access_token') as string
    // Microsoft Entra
    const refreshAfterMs = lifetimeAmong(document, ['refresh_in'], now)?.ms ?? 0
    const due = refreshAfterMs > 0 && { refreshAfterMs }
    return {
      accessToken,
      accessLifetimeMs,
      ...due,
      ...others,
      ...(!told && { [REMARKS]: { isLifetimeAssumed: true } }),
    }
  }

  /** @returns Why the access token cannot be used. */
  #flawOf(document: Members): string | undefined {
    if (memberOf(document, 'error') !== undefined) return 'it reports an error under a status of success'
    const accessToken = memberOf(document, 'access_token')
    if (typeof accessToken !== 'string' || accessToken === '')
      return otherProtocol(document) ?? `access_token must be a non-empty string${CHANGED}`
    return otherTypeThan(this.#isBound ? DPOP : BEARER, memberOf(document, 'token_type'))
  }

  #oddIn(document: Members, told: ToldLifetime | undefined, ms: number): string[] {
    const expiresIn = memberOf(document, 'expires_in')
    const missing = this.#notGranted(memberOf(document, 'scope'))
    const isOdd = {
      'names no token_type: Bearer is assumed': memberOf(document, 'token_type') === undefined,
      [`has no expires_in: ${ms} ms are assumed`]: !told && expiresIn === undefined,
      [`has no lifetime in expires_in: ${ms} ms are assumed`]: !told && expiresIn !== undefined,
      'gives expires_in as text': told?.name === 'expires_in' && typeof expiresIn === 'string',
      'gives an instant as expires_in': told?.name === 'expires_in' && told.ms !== Number(expiresIn) * 1_000,
      [`grants less than was asked for: ${missing.join(' ')} is missing from its scope`]: missing.length > 0,
    }
    return Object.keys(isOdd).filter((what) => isOdd[what])
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
    report?.('unexpected-response', `The token answer ${untold.join('; it ')}`)
  }
}

const NO_JSON = `it is no JSON object${CHANGED}`

/** @param nows The service's time; then ours, if the clock of the service makes nothing of an instant. */
function toldLifetime(document: Members, nows: readonly number[]): ToldLifetime | undefined {
  const told = ACCESS.flatMap((name) => nows.map((now) => lifetimeAmong(document, [name], now)))
  return told.find((one) => one && one.ms > 0)
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
  return `token_type must be Bearer, got ${got}${got === 'DPoP' ? ': give the key as dpop' : CHANGED}`
}

/** @param why Must quote no value of the answer that may be a token. */
function unusableAnswer({ address, status, proxy }: TokenResponse, why: string): TokenError {
  const message = `The answer of ${address} cannot be used: ${why}${wayOf(proxy)}`
  return new TokenError('ERR_TOKEN_RESPONSE', message, { outcome: 'unknown', status })
}
