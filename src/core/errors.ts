import { type Complete, type KeysOf, namesOf } from './option-checks.ts'
import { member } from './thrown.ts'

/** The message of `ERR_WAIT_TIMEOUT`. */
export const NO_TOKEN_IN_TIME = 'No access token was available within the time that this caller can wait'

/** Why there is no token: the `code` of a `TokenError`. */
export type TokenErrorCode =
  | 'ERR_CREDENTIALS_REJECTED' // the service rejected the credentials: 400 (2006), 401, 403
  | 'ERR_REFRESH_REJECTED' // the service rejected a refresh: 400, 401 (2007), 403
  | 'ERR_SUSPICIOUS_REFRESH_TOKEN' // a suspicious refresh token stopped the manager (onSuspicious: 'stop')
  | 'ERR_THROTTLED' // 429
  | 'ERR_TOKEN_SERVICE_UNAVAILABLE' // 5xx, 408, 425, network error, timeout
  | 'ERR_TOKEN_REQUEST' // any other 4xx, redirects, untrusted certificates: wrong address or parameters
  | 'ERR_TOKEN_RESPONSE' // unusable 2xx response
  | 'ERR_SIGNATURE' // meta.sign or meta.time is missing, wrong or old
  | 'ERR_WAIT_TIMEOUT' // a caller waited maxWaitMs
  | 'ERR_REPLACED_TOO_SOON' // the API rejects tokens faster than the manager may replace them
  | 'ERR_STORE_UNAVAILABLE' // the shared store is unreachable, and a login, reset() or onUnavailable 'fail' needs it
  | 'ERR_CLOSED' // the manager is closed
  | 'ERR_LOGIN_REQUIRED' // only a user can obtain tokens: the manager waits for adopt()
  | 'ERR_LOGIN_REPLACED' // another login has replaced the one that this request belongs to
  | 'ERR_TOKEN_SOURCE' // your source, credentials function or random is broken: it threw a TypeError, or returned the wrong shape

/**
 * The outcome of one exchange, as far as it is known. `accepted`: a complete, valid 2xx. `rejected`: a complete 3xx, or a complete 4xx except 408,
 * 425 and 429. `deferred`: a complete 429. `not-sent`: no byte of the request left this machine. `unknown-5xx`: a complete
 * 5xx. `unknown`: everything else, including 408 and 425; the service may have processed the request.
 */
export type ExchangeOutcome = 'accepted' | 'rejected' | 'deferred' | 'not-sent' | 'unknown-5xx' | 'unknown'

/** Why a login is required. */
export type LoginReason =
  | 'none-yet' // no user has logged in yet
  | 'logged-out' // logout() or reset()
  | 'refused' // the service rejected the refresh token (or the access token, if there is no refresh token), and no other reason applies
  | 'expired' // the refresh token has expired (or the access token, if there is no refresh token)
  | 'in-doubt' // the service rejected the refresh token after an exchange whose outcome is unknown
  | 'interaction' // the service requires the user to act: consent, another factor, a new password
  | 'lost' // the store lost the login

/** The members of a `TokenError` besides its code and message. */
export interface TokenErrorDetails {
  /** The outcome of the exchange, as far as it is known. Default: the outcome that the code implies. */
  outcome?: ExchangeOutcome | undefined
  /** HTTP status of the response to the token request. */
  status?: number | undefined
  /** The service's own error code, such as `2006`. */
  serviceCode?: string | undefined
  /** The pause that the service asked for, ms. Ignored if it is negative or not finite. */
  retryAfterMs?: number | undefined
  /** Earliest instant of the next attempt, epoch ms. */
  retryAt?: number | undefined
  /**
   * The original error. Unless it is a `TokenError`, only its name, code and stack frames are kept: an axios error carries its whole
   * request, with token and credentials.
   */
  cause?: unknown
  /**
   * The state of the presented refresh token. `refused`: never presented again, and suspicious unless something explains
   * the rejection. `unusable`: never presented again, not suspicious. `kept`: still valid. Default: `refused` with
   * `ERR_REFRESH_REJECTED`, otherwise derived from the outcome. The HTTP status has no effect on it.
   */
  refreshToken?: 'refused' | 'unusable' | 'kept' | undefined
  /**
   * Why a login is required. A source with `login: person` sets `interaction` if the service rejected the refresh token only because the user must act.
   * Callers then receive `ERR_LOGIN_REQUIRED`, and the rejection is not suspicious. The manager sets the other reasons.
   */
  loginReason?: LoginReason | undefined
  /** Set by `revoke` of a source that has no endpoint for the revocation of these tokens. `logout()` then returns this reason. */
  revocation?: 'no-endpoint' | undefined
}

/** All copies of the package in one process share this symbol. */
const BRAND = /* @__PURE__ */ Symbol.for('axios-evergreen.TokenError')

/** The base class of `TokenError`. Bundlers drop it together with an unused `TokenError`; they would keep top-level statements. */
const NamedError = /* @__PURE__ */ namedError()

function namedError(): ErrorConstructor {
  const Named = class extends Error {}
  const name = { value: 'TokenError', writable: true, configurable: true }
  Object.defineProperties(Named.prototype, { name, [BRAND]: { value: true } })
  return Named as ErrorConstructor
}

/** Whether the same call may succeed later without any change; and the outcome that the code implies. */
type Meanings = Complete<
  Record<TokenErrorCode, [retryable: boolean, outcome?: ExchangeOutcome]>,
  {
    ERR_CREDENTIALS_REJECTED: [false, 'rejected']
    ERR_REFRESH_REJECTED: [true, 'rejected'] // the next attempt obtains
    ERR_SUSPICIOUS_REFRESH_TOKEN: [false]
    ERR_THROTTLED: [true, 'deferred']
    ERR_TOKEN_SERVICE_UNAVAILABLE: [true]
    ERR_TOKEN_REQUEST: [false, 'rejected']
    ERR_TOKEN_RESPONSE: [true] // often a captive portal or a proxy's page
    ERR_SIGNATURE: [false]
    ERR_WAIT_TIMEOUT: [true]
    ERR_REPLACED_TOO_SOON: [true]
    ERR_STORE_UNAVAILABLE: [true]
    ERR_CLOSED: [false]
    ERR_LOGIN_REQUIRED: [false, 'rejected']
    ERR_LOGIN_REPLACED: [false]
    ERR_TOKEN_SOURCE: [false]
  }
>
// These are lists, because a table of all codes would end up in every bundle.
const RETRYABLE: readonly TokenErrorCode[] = /* @__PURE__ */ namesOf<Record<KeysOf<Meanings, [true, unknown?]>, true>>({
  ERR_REFRESH_REJECTED: true,
  ERR_THROTTLED: true,
  ERR_TOKEN_SERVICE_UNAVAILABLE: true,
  ERR_TOKEN_RESPONSE: true,
  ERR_WAIT_TIMEOUT: true,
  ERR_REPLACED_TOO_SOON: true,
  ERR_STORE_UNAVAILABLE: true,
})
const REJECTED: readonly TokenErrorCode[] = /* @__PURE__ */ namesOf<
  Record<KeysOf<Meanings, [boolean, 'rejected']>, true>
>({
  ERR_CREDENTIALS_REJECTED: true,
  ERR_REFRESH_REJECTED: true,
  ERR_TOKEN_REQUEST: true,
  ERR_LOGIN_REQUIRED: true,
})

/**
 * The error for every failure to get a token. Distinguish failures by `code`. `instanceof` works across module formats and
 * copies of this package.
 *
 * @example
 * ```ts
 * import { TokenError } from 'axios-evergreen'
 *
 * throw new TokenError('ERR_THROTTLED', 'The token service responded with 429', { status: 429, retryAfterMs: 30_000 })
 * ```
 */
export class TokenError extends NamedError {
  readonly code: TokenErrorCode
  /** Whether the same call may succeed later without any change. */
  readonly retryable: boolean
  /** Earliest instant of the next attempt, epoch ms. */
  declare readonly retryAt?: number
  /** The pause that the service's `Retry-After` asked for, ms. */
  declare readonly retryAfterMs?: number
  /** HTTP status of the response to the token request, if there was one. */
  declare readonly status?: number
  /** The service's own error code, such as `2006`. */
  declare readonly serviceCode?: string
  /** The outcome of the exchange, as far as it is known. Custom sources set it. */
  declare readonly outcome?: ExchangeOutcome
  /** The state of the presented refresh token. Custom sources set it. */
  declare readonly refreshToken?: 'refused' | 'unusable' | 'kept'
  /** Why a login is required. Only with `ERR_LOGIN_REQUIRED`; `status` and `serviceCode` then come from the service's response. */
  declare readonly loginReason?: LoginReason
  /** The source has no revocation endpoint. Custom sources set it. */
  declare readonly revocation?: 'no-endpoint'

  constructor(code: TokenErrorCode, message: string, details: TokenErrorDetails = {}) {
    const { cause, ...members } = detailsOf(details)
    super(message, cause === undefined ? undefined : { cause: reduced(cause) })
    this.code = code
    this.retryable = RETRYABLE.includes(code)
    for (const [name, value] of Object.entries<unknown>(members))
      if (value !== undefined) Object.assign(this, { [name]: value })
  }

  /** For logs and error trackers: without it, JSON would omit `name` and `message`, which are not own enumerable members. */
  toJSON(): object {
    const { name, code, message } = this
    return Object.assign({ name, code, message }, this)
  }

  /** The ESM and CommonJS copies of this class in one process recognise each other's errors. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === TokenError ? isTokenError(value) : Function.prototype[Symbol.hasInstance].call(this, value)
  }
}

/**
 * Whether `value` itself is a `TokenError` of any copy of this package, with this `code` if one is given. The public `isTokenError` also unwraps
 * the errors of clients.
 */
export function isTokenError(value: unknown, code?: TokenErrorCode): value is TokenError {
  return member(value, BRAND) === true && (code === undefined || member(value, 'code') === code)
}

/** @returns The error's own outcome, otherwise the one that its code implies, otherwise `unknown`. */
export function outcomeOf(error: TokenError): ExchangeOutcome {
  const { code } = error
  const implied = REJECTED.includes(code) ? 'rejected' : code === 'ERR_THROTTLED' ? 'deferred' : 'unknown'
  return detailsOf(error).outcome ?? implied
}

/** @returns A copy of the error, with another message or other details. */
export function errorWith(error: TokenError, changes: TokenErrorDetails & { message?: string } = {}): TokenError {
  return new TokenError(error.code, changes.message ?? error.message, { ...detailsOf(error), ...changes })
}

const DETAILS = /* @__PURE__ */ namesOf<TokenErrorDetails>({
  outcome: true,
  status: true,
  serviceCode: true,
  retryAfterMs: true,
  retryAt: true,
  refreshToken: true,
  loginReason: true,
  revocation: true,
  cause: true,
})

/** @returns All members except code and message. In an error of another copy of the package they may have any value. */
export function detailsOf(from: TokenError | TokenErrorDetails): TokenErrorDetails {
  const details: TokenErrorDetails = Object.fromEntries(DETAILS.map((name) => [name, member(from, name)]))
  const { retryAfterMs = NaN } = details
  // Every comparison with NaN is false, so NaN would limit nothing.
  return Number.isFinite(retryAfterMs) && retryAfterMs >= 0 ? details : { ...details, retryAfterMs: undefined }
}

/** @returns A copy of the error for one caller. Its stack starts where this caller called `called`. */
export function copyForCaller(called: (...given: never[]) => unknown, error: TokenError): TokenError {
  const copy = errorWith(error)
  // Not all engines have captureStackTrace.
  ;(Error as Partial<typeof Error>).captureStackTrace?.(copy, called)
  return copy
}

/** The results of `reduced`. They contain no secrets. */
const REDUCED = new WeakSet<Error>()

/** @returns A copy without the message: a parser's message may quote the secret that it could not parse. */
export function reduced(cause: unknown): Error {
  if (isTokenError(cause) || REDUCED.has(cause as Error)) return cause as Error
  const message = member(cause, 'message')
  const hasMessage = typeof message === 'string'
  const error = new Error(hasMessage ? WITHHELD : `a thrown ${typeof cause}`)
  for (const name of ['name', 'code']) {
    const value = member(cause, name)
    if (typeof value === 'string' && /^\w{1,60}$/.test(value)) Object.assign(error, { [name]: value })
  }
  const frames = framesOf(member(cause, 'stack'), hasMessage ? message : '')
  Object.defineProperty(error, 'stack', { value: [String(error), ...frames].join('\n') })
  REDUCED.add(error)
  return error
}

const WITHHELD = '(message withheld: it may hold a secret)'

/** The lines of a stack that name a location in the code. */
function framesOf(stack: unknown, message: string): string[] {
  if (typeof stack !== 'string') return []
  // V8 puts the message before the frames, and a message may look like a frame.
  const behind = message === '' ? stack : stack.split(message).at(-1)
  return (behind ?? '').split('\n').filter((line) => /^ {4}at \S.*(:\d+:\d+\)?|<anonymous>\)?|\(native\))$/.test(line))
}

/** The error of a request whose login has ended (R10). @param isReplaced Whether another login has replaced it. */
export function endOfLogin(isReplaced: boolean | undefined): TokenError {
  const [code, what, as] = isReplaced
    ? (['ERR_LOGIN_REPLACED', 'was replaced', 'is logged in now'] as const)
    : (['ERR_LOGIN_REQUIRED', 'has ended', 'logs in next'] as const)
  const message = `The login of this request ${what}, so the request was not sent: send it again if it may go out as the user who ${as}`
  return new TokenError(code, message, isReplaced ? {} : { loginReason: 'logged-out' })
}
