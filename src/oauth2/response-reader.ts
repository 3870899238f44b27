import { defined } from '../core/defined.ts'
import { quietly } from '../core/thrown.ts'
import { type ExchangeContext, GRANT_DETAILS, type DetailedGrant } from '../core/token-source.ts'
import type { TokenResponse } from '../wire/token-response.ts'
import { CHANGED, unusableResponse } from '../wire/error-response.ts'
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
import { ACCESS, lifetimeAmong, refreshLifetimeIn, type FoundLifetime } from './lifetimes.ts'
import type { OAuth2Settings } from './source-settings.ts'

/** Reads the responses of one token endpoint. */
export class ResponseReader {
  readonly #scope: readonly string[]
  readonly #defaultLifetimeMs: number
  readonly #onAnswer: OAuth2Settings['onAnswer']
  readonly #isBound: boolean
  readonly #option: string
  /** Each problem is reported once. */
  readonly #reported = new Set<string>()

  constructor({ scope, defaultLifetimeMs, onAnswer, dpop }: OAuth2Settings, option = 'tokenEndpoint') {
    this.#scope = scope
    this.#defaultLifetimeMs = defaultLifetimeMs
    this.#onAnswer = onAnswer
    this.#isBound = dpop !== undefined
    this.#option = option
  }

  /**
   * Reads a response of status 2xx (RFC 6749, section 5.1) part by part: if only the access token is unusable, the refresh token is kept (F345).
   *
   * @param presented The refresh token that was sent. If the response has another one, an unusable lifetime counts as absent.
   * @throws {TokenError} `ERR_TOKEN_RESPONSE` if the access token is missing or unusable and there is no refresh token, if `refresh_token` or (see `presented`)
   * `expires_in` is unusable, or if the response cannot be read.
   */
  grantIn(response: TokenResponse, context: ExchangeContext, presented?: string): DetailedGrant {
    const unusable = (why: string) => unusableResponse(response, why)
    const { document, isJson } = readableIn(response, this.#option)
    const now = parseHttpDate(response.headers.get('date')) ?? context.clock.wallNow()
    const others = othersIn(document, now, unusable)
    const flaw = isJson ? this.#accessTokenProblem(document) : NO_JSON
    if (flaw !== undefined && others.refreshToken === undefined) throw unusable(flaw)
    if (flaw !== undefined)
      return { accessToken: '', accessLifetimeMs: 0, ...others, [GRANT_DETAILS]: { flaw: unusable(flaw) } }
    const found = accessLifetime(document, [now, context.clock.wallNow()])
    if (!found && !isRotation(others, presented) && memberOf(document, 'expires_in') !== undefined)
      throw unusable(`expires_in must be a positive number of seconds${CHANGED}`)
    const accessLifetimeMs = found?.ms ?? this.#defaultLifetimeMs
    this.#report(this.#problemsIn(document, found, accessLifetimeMs), context.report)
    this.#callOnAnswer(document)
    const accessToken = memberOf(document, 'access_token') as string
    const due = dueIn(document, now)
    return { accessToken, accessLifetimeMs, ...due, ...others, ...(!found && { [GRANT_DETAILS]: ASSUMED }) }
  }

  /** @returns Why the access token is unusable. */
  #accessTokenProblem(document: Members): string | undefined {
    if (memberOf(document, 'error') !== undefined) return 'it has an error although its status is a success'
    const accessToken = memberOf(document, 'access_token')
    if (typeof accessToken !== 'string' || accessToken === '')
      return otherProtocol(document) ?? `access_token must be a non-empty string${CHANGED}`
    return otherTypeThan(this.#isBound ? DPOP : BEARER, memberOf(document, 'token_type'))
  }

  #problemsIn(document: Members, lifetime: FoundLifetime | undefined, ms: number): string[] {
    const expiresIn = memberOf(document, 'expires_in')
    const missing = this.#missingScopes(memberOf(document, 'scope'))
    const problems = {
      'has no token_type: Bearer is assumed': memberOf(document, 'token_type') === undefined,
      [`has no ${expiresIn === undefined ? '' : 'lifetime in '}expires_in: ${ms} ms are assumed`]: !lifetime,
      'has expires_in as text': lifetime?.name === 'expires_in' && typeof expiresIn === 'string',
      'has an instant in expires_in': lifetime?.name === 'expires_in' && lifetime.ms !== Number(expiresIn) * 1_000,
      [`grants less than requested: ${missing.join(' ')} is missing from its scope`]: missing.length > 0,
    }
    return Object.keys(problems).filter((what) => problems[what])
  }

  #callOnAnswer(document: Members): void {
    const members = Object.freeze(Object.assign(Object.create(null) as Members, document))
    const returned: unknown = quietly(() => this.#onAnswer?.(members))
    if (returned instanceof Promise) returned.catch(() => undefined)
  }

  /** @returns The requested scope tokens that are missing from the response; none if the response names no scope. */
  #missingScopes(scope: unknown): string[] {
    if (typeof scope !== 'string') return []
    // GitHub, Shopify and Slack separate the scope tokens by commas.
    const granted = scope.split(/[ ,]/)
    return this.#scope.filter((one) => !granted.includes(one) && !UNLISTED.test(one))
  }

  #report(problems: readonly string[], report: ExchangeContext['report']): void {
    const unreported = problems.filter((what) => !this.#reported.has(what))
    if (unreported.length === 0) return
    for (const what of unreported) this.#reported.add(what)
    report?.('unexpected-response', `The token response ${unreported.join('; it ')}`)
  }
}

function isRotation({ refreshToken }: { refreshToken?: string }, presented: string | undefined): boolean {
  return presented !== undefined && refreshToken !== undefined && refreshToken !== presented
}

const NO_JSON = `it is not a JSON object${CHANGED}`
const ASSUMED = { isLifetimeAssumed: true }

/** The members of the response, or of the object in it that holds the tokens. A form is read for its refresh token only. */
function readableIn(response: TokenResponse, option: string): { readonly document: Members; readonly isJson: boolean } {
  const whole = documentIn(response.text)
  const read = whole ?? formIn(response.text)
  if (!read) throw unusableResponse(response, /^\s*</.test(response.text) ? `it is HTML; check ${option}` : NO_JSON)
  const [document = read, another] = holdersOfToken(read)
  if (another) throw unusableResponse(response, TWO_HOLDERS)
  return { document, isJson: whole !== undefined }
}

/** What the response has besides the access token. */
function othersIn(document: Members, now: number, unusable: (why: string) => Error) {
  const given = memberOf(document, 'refresh_token') ?? ''
  if (typeof given !== 'string') throw unusable(`refresh_token must be a string${CHANGED}`)
  const refreshToken = given === '' ? undefined : given
  const refreshLifetimeMs = refreshToken === undefined ? undefined : refreshLifetimeIn(document, now)
  return defined({ refreshToken, refreshLifetimeMs, subject: subjectIn(document) })
}

/** `refresh_in` (Microsoft Entra): the seconds until a refresh is due. */
function dueIn(document: Members, now: number) {
  const refreshAfterMs = lifetimeAmong(document, ['refresh_in'], now)?.ms ?? 0
  return refreshAfterMs > 0 && { refreshAfterMs }
}

/** @param nows The service's time; then this machine's, in case an instant has passed by the service's clock. */
function accessLifetime(document: Members, nows: readonly number[]): FoundLifetime | undefined {
  const found = ACCESS.flatMap((name) => nows.map((now) => lifetimeAmong(document, [name], now)))
  return found.find((one) => one && one.ms > 0)
}

/** Some servers grant these scope tokens without naming them in the response. */
const UNLISTED = /^(openid|offline_access|.*\/\.default)$/

/** Slack sends the kind of owner: `bot` or `user`. `N_A`: RFC 8693, section 2.2.1. */
const BEARER = /^(bearer(token)?|bot|user|n_a)$/i

const DPOP = /^dpop$/i

/** @returns A message if the token has another type. It does not quote an unknown type, which may be a secret. */
function otherTypeThan(wanted: typeof BEARER, given: unknown): string | undefined {
  const isText = typeof given === 'string'
  if (isText ? wanted.test(given) : given === undefined && wanted === BEARER) return undefined
  const found = ['Bearer', 'DPoP', 'mac', 'pop'].find((type) => isText && given.toLowerCase() === type.toLowerCase())
  const received = found ?? (given === undefined ? 'none' : 'something else')
  if (wanted === DPOP)
    return `token_type must be DPoP, got ${received}: the server has not bound the token to the key of dpop`
  return `token_type must be Bearer, got ${received}${received === 'DPoP' ? ': pass the key as dpop' : CHANGED}`
}
