import { type ExchangeOutcome, isTokenError, TokenError, type TokenErrorCode } from './errors.ts'
import { type Exchange, type Failure, failureOfNetwork, failureOfStatus } from './exchange-outcome.ts'
import { parseRetryAfter } from './http-date.ts'
import { causesOf, member } from './thrown.ts'

/**
 * What a failed call of an own source means: an axios error, an answer of fetch, a network error of undici or Node, or
 * anything else. Reads status, `Retry-After`, the `error` member of OAuth 2.0 (RFC 6749, section 5.2) and the code of the
 * network error; keeps no message that may hold a secret. The manager applies it to whatever a source throws that is no
 * `TokenError`.
 *
 * @returns `thrown` itself where it is a `TokenError`.
 */
export function toTokenError(thrown: unknown, exchange: 'obtain' | 'refresh'): TokenError {
  if (isTokenError(thrown)) return thrown
  const { status, oauthError, retryAfter, date } = answerIn(thrown)
  if (status !== undefined || oauthError !== undefined) {
    const failure = failureOfAnswer(exchange, status ?? 400, oauthError)
    const what = [status, oauthError].filter((word) => word !== undefined).join(' ')
    return new TokenError(failure.code, `The call of the token source was answered ${what}`, {
      ...failure,
      status,
      serviceCode: oauthError,
      // There is no clock here to measure a date against, but the one that wrote it.
      retryAfterMs: parseRetryAfter(retryAfter, date, NaN),
      cause: thrown,
    })
  }
  if (isBug(thrown)) {
    const message = `The token source is broken: ${exchange} threw a ${String(member(thrown, 'name'))}; see cause.stack for the place`
    return new TokenError('ERR_TOKEN_SOURCE', message, { outcome: 'unknown', cause: thrown })
  }
  const { code, outcome, errorCode, advice } = failureOfNetwork(thrown)
  const what = errorCode === undefined ? 'The token source failed' : `The token source failed (${errorCode})`
  const message = [what, advice].filter((part) => part !== undefined).join(': ')
  return new TokenError(code, message, { outcome, cause: thrown })
}

/** What each error of RFC 6749, section 5.2, means for the refresh token that was presented. */
const OAUTH_ERRORS: Partial<Record<string, Record<Exchange, Failure>>> = {
  invalid_grant: {
    obtain: rejected('ERR_CREDENTIALS_REJECTED'),
    refresh: { ...rejected('ERR_REFRESH_REJECTED'), refreshToken: 'refused' },
  },
  invalid_client: both(rejected('ERR_CREDENTIALS_REJECTED')),
  unauthorized_client: both(rejected('ERR_CREDENTIALS_REJECTED')),
  invalid_request: both(rejected('ERR_TOKEN_REQUEST')),
  invalid_scope: both(rejected('ERR_TOKEN_REQUEST')),
  unsupported_grant_type: both(rejected('ERR_TOKEN_REQUEST')),
}

function rejected(code: TokenErrorCode): { code: TokenErrorCode; outcome: ExchangeOutcome } {
  return { code, outcome: 'rejected' }
}

function both(failure: Failure): Record<Exchange, Failure> {
  return { obtain: failure, refresh: { ...failure, refreshToken: 'kept' } }
}

/** The error that an answer names says more than its status, where the status says that the request was wrong. */
function failureOfAnswer(exchange: Exchange, status: number, oauthError: string | undefined): Failure {
  const byStatus = failureOfStatus(exchange, status)
  const named =
    oauthError !== undefined && Object.hasOwn(OAUTH_ERRORS, oauthError) ? OAUTH_ERRORS[oauthError] : undefined
  return byStatus.outcome === 'rejected' && named ? named[exchange] : byStatus
}

interface Answer {
  readonly status: number | undefined
  readonly oauthError: string | undefined
  readonly retryAfter: unknown
  readonly date: unknown
}

/** The answer that an error tells of, wherever its library puts it; the thrown thing itself may be a `Response` of fetch. */
function answerIn(thrown: unknown): Answer {
  const holders = causesOf(thrown).flatMap((link) => [member(link, 'response'), link])
  const response = holders.find((holder) => statusOf(holder) !== undefined)
  const headers = member(response, 'headers')
  return {
    status: statusOf(response),
    oauthError: holders.map(oauthErrorOf).find((word) => word !== undefined),
    retryAfter: headerOf(headers, 'retry-after'),
    date: headerOf(headers, 'date'),
  }
}

function statusOf(holder: unknown): number | undefined {
  const status = member(holder, 'status') ?? member(holder, 'statusCode')
  return typeof status === 'number' && status >= 100 && status <= 599 ? status : undefined
}

/** `error` of the document that was answered, read or as text. */
function oauthErrorOf(holder: unknown): string | undefined {
  const data = member(holder, 'data') ?? member(holder, 'body')
  for (const document of [typeof data === 'string' ? parsed(data) : data, holder]) {
    const error = member(document, 'error')
    // Anything longer is prose, and may quote what was sent.
    if (typeof error === 'string' && /^[a-z][a-z_]{1,40}$/.test(error)) return error
  }
  return undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function headerOf(headers: unknown, name: string): unknown {
  const get = member(headers, 'get')
  try {
    return typeof get === 'function' ? (get.call(headers, name) as unknown) : member(headers, name)
  } catch {
    return undefined
  }
}

/** What fetch throws for a connection that failed; in browsers without a cause. The words are those of V8, Firefox, Safari. */
const FETCH_FAILED = /fetch|network|load failed|connection|terminated/i

/** An error that the engine throws for wrong code, unless it is how fetch tells of the network. */
function isBug(thrown: unknown): boolean {
  const name = member(thrown, 'name')
  if (name !== 'TypeError' && name !== 'ReferenceError') return false
  const hasNetworkCause = member(member(thrown, 'cause'), 'code') !== undefined
  return name !== 'TypeError' || !(hasNetworkCause || FETCH_FAILED.test(String(member(thrown, 'message'))))
}
