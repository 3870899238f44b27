export type TokenErrorCode =
  | 'ERR_CREDENTIALS_REJECTED' // obtain refused: 400 (2006), 401, 403
  | 'ERR_REFRESH_REJECTED' // refresh refused: 401 (2007)
  | 'ERR_SUSPICIOUS_REFRESH_TOKEN' // stopped by onSuspicious: 'stop'
  | 'ERR_THROTTLED' // 429
  | 'ERR_TOKEN_SERVICE_UNAVAILABLE' // 5xx, 408, 425, network, deadline
  | 'ERR_TOKEN_REQUEST' // any other 4xx, and redirects: wrong address or parameters
  | 'ERR_TOKEN_RESPONSE' // 2xx that cannot be used
  | 'ERR_SIGNATURE' // meta.sign missing or wrong
  | 'ERR_WAIT_TIMEOUT' // a caller waited maxWaitMs
  | 'ERR_REPLACED_TOO_SOON' // the API refuses tokens faster than they may be replaced
  | 'ERR_STORE_UNAVAILABLE' // shared store gone and policy says fail
  | 'ERR_CLOSED'

/**
 * What is known of one exchange. accepted: complete, valid 2xx · rejected: complete 4xx but 408, 425, 429, and complete
 * 3xx · deferred: complete 429 · not-sent: no request byte left · unknown-5xx: complete 5xx · unknown: all else (408 and
 * 425 among it); the service may have acted.
 */
export type ExchangeOutcome = 'accepted' | 'rejected' | 'deferred' | 'not-sent' | 'unknown-5xx' | 'unknown'

export interface TokenErrorDetails {
  outcome?: ExchangeOutcome | undefined
  status?: number | undefined
  serviceCode?: string | undefined
  /** What the service asked for, ms. */
  retryAfterMs?: number | undefined
  /** Earliest instant of another attempt, epoch ms. */
  retryAt?: number | undefined
  /** Kept as its name and code only: an axios error carries its whole request, token and credentials included. */
  cause?: unknown
}

const BRAND = Symbol.for('axios-evergreen.TokenError')

/** The same call may work later without anyone changing anything. */
const RETRYABLE: ReadonlySet<TokenErrorCode> = new Set<TokenErrorCode>([
  'ERR_REFRESH_REJECTED', // the next attempt obtains
  'ERR_THROTTLED',
  'ERR_TOKEN_SERVICE_UNAVAILABLE',
  'ERR_TOKEN_RESPONSE', // often a captive portal or a proxy's page
  'ERR_WAIT_TIMEOUT',
  'ERR_REPLACED_TOO_SOON',
  'ERR_STORE_UNAVAILABLE',
])

const OUTCOME_OF: Partial<Record<TokenErrorCode, ExchangeOutcome>> = {
  ERR_CREDENTIALS_REJECTED: 'rejected',
  ERR_REFRESH_REJECTED: 'rejected',
  ERR_TOKEN_REQUEST: 'rejected',
  ERR_THROTTLED: 'deferred',
}

/** One class for every failure to get a token; `code` tells them apart, across module formats and copies. */
export class TokenError extends Error {
  readonly code: TokenErrorCode
  /** Whether the same call may work later without anyone changing anything. */
  readonly retryable: boolean
  /** Earliest instant at which another attempt is allowed, epoch ms. */
  declare readonly retryAt?: number
  /** What the service's `Retry-After` asked for, ms. */
  declare readonly retryAfterMs?: number
  /** HTTP status of the token call, when there was one. */
  declare readonly status?: number
  /** Application code of the service, e.g. `2006`. */
  declare readonly serviceCode?: string
  /** What is known of the exchange; custom sources set it. */
  declare readonly outcome?: ExchangeOutcome

  constructor(code: TokenErrorCode, message: string, details: TokenErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: reduced(details.cause) })
    this.code = code
    this.retryable = RETRYABLE.has(code)
    if (details.outcome !== undefined) this.outcome = details.outcome
    if (details.status !== undefined) this.status = details.status
    if (details.serviceCode !== undefined) this.serviceCode = details.serviceCode
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs
    if (details.retryAt !== undefined) this.retryAt = details.retryAt
  }

  /** The ESM and the CommonJS copy of this class in one process know each other's errors. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === TokenError ? isTokenError(value) : Function.prototype[Symbol.hasInstance].call(this, value)
  }
}
Object.defineProperty(TokenError.prototype, 'name', { value: 'TokenError', writable: true, configurable: true })
Object.defineProperty(TokenError.prototype, BRAND, { value: true })

/** Whether `value` is a `TokenError`, of any copy of this package, and has `code` if one is given. */
export function isTokenError(value: unknown, code?: TokenErrorCode): value is TokenError {
  if (typeof value !== 'object' || value === null || !(BRAND in value)) return false
  return code === undefined || ('code' in value && value.code === code)
}

/** What an exchange threw, as a `TokenError`: a source may throw anything. */
export function exchangeError(thrown: unknown): TokenError {
  if (isTokenError(thrown)) return thrown
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'The token source failed', { cause: thrown })
}

/** An outcome that is not stated follows from the code; where nothing is known, the service may have acted. */
export function outcomeOf(error: TokenError): ExchangeOutcome {
  return error.outcome ?? OUTCOME_OF[error.code] ?? 'unknown'
}

/** The same failure, told together with when the next attempt may be made. */
export function retryableAt(error: TokenError, retryAt: number, message = error.message): TokenError {
  const { code, outcome, status, serviceCode, retryAfterMs, cause } = error
  return new TokenError(code, message, { outcome, status, serviceCode, retryAfterMs, retryAt, cause })
}

/** Without its message: that of a parser may quote the secret that it could not parse. */
function reduced(cause: unknown): Error {
  if (isTokenError(cause)) return cause
  const { name, message, code } = (typeof cause === 'object' && cause !== null ? cause : {}) as Record<string, unknown>
  const error = new Error(
    typeof message === 'string' ? '(its message is not kept: it might hold a secret)' : `a thrown ${typeof cause}`,
  )
  if (typeof name === 'string') error.name = name
  if (typeof code === 'string') Object.assign(error, { code })
  return error
}
