import { copyForCaller, isTokenError, type TokenError } from '../core/errors.ts'
import { member, quietly } from '../core/thrown.ts'
import type { Exchange } from '../core/token-source.ts'
import { causesOf } from './causes.ts'
import { parseRetryAfter } from './http-date.ts'
import { failureOfNetwork } from './network-failure.ts'
import { isOfIntermediary, type Shown } from './intermediary.ts'
import { isOAuthError, read, STRANGER } from './meaning.ts'
import { toError } from './to-error.ts'

/**
 * Converts an error of a custom source into a `TokenError`: an axios error, a `Response` of fetch, a network error of undici or Node, or any other value.
 * It reads the status, `Retry-After`, the `error` of OAuth 2.0 (RFC 6749, section 5.2) and the code of a network error. It keeps no message, because a
 * message may contain a secret. The manager calls it with everything that a source throws.
 *
 * @example
 * ```ts
 * import { toTokenError } from 'axios-evergreen'
 *
 * const response = await fetch('https://payments.example.com/oauth/token', { method: 'POST' })
 * if (!response.ok) throw toTokenError(response, 'obtain')
 * ```
 * @param needsLogin Whether only the user can obtain: the source has `login: person`. If so, a status alone seldom rejects a refresh token.
 * @returns `thrown` itself if it is a `TokenError`.
 */
export function toTokenError(thrown: unknown, exchange: 'obtain' | 'refresh', needsLogin = false): TokenError {
  return isTokenError(thrown) ? thrown : copyForCaller(toTokenError, readAs(thrown, exchange, needsLogin))
}

function readAs(thrown: unknown, exchange: Exchange, needsLogin: boolean): TokenError {
  const { error, retryAfter, date, ...shown } = responseIn(thrown)
  const { status, challenge } = shown
  const failed = `The ${exchange} request of the token source failed`
  if (status !== undefined || error !== undefined) {
    // Without an error, a 401 with a Basic challenge rejects the client (RFC 6749, section 5.2).
    const isOfClient = status === 401 && /^basic\b/i.test(String(challenge))
    const meaning = read(exchange, shown, error ?? (isOfClient ? 'invalid_client' : undefined), needsLogin)
    const what = [status, error].filter((part) => part !== undefined).join(' ')
    const sender = isOfIntermediary(shown) ? `: ${STRANGER}` : ''
    // There is no wall clock here, so an HTTP-date is compared only with the `Date` of the response.
    const retryAfterMs = parseRetryAfter(retryAfter, date, NaN)
    return toError(meaning, `${failed} with ${what}${sender}`, {
      status,
      serviceCode: error,
      retryAfterMs,
      cause: thrown,
    })
  }
  if (isBug(thrown)) {
    const message = `The token source is broken: ${exchange} threw a ${String(member(thrown, 'name'))}; see cause.stack`
    return toError({ code: 'ERR_TOKEN_SOURCE', outcome: 'unknown' }, message, { cause: thrown })
  }
  const { errorCode, advice, ...meaning } = failureOfNetwork(thrown)
  const what = errorCode === undefined ? failed : `${failed} (${errorCode})`
  return toError(meaning, advice === undefined ? what : `${what}: ${advice}`, { cause: thrown })
}

interface FailedResponse extends Shown {
  /** An OAuth error code. */
  readonly error: string | undefined
  readonly retryAfter: unknown
  readonly date: unknown
}

/** Finds the response in a thrown value. Each library puts it elsewhere, and the value may itself be a `Response` of fetch. */
function responseIn(thrown: unknown): FailedResponse {
  const holders = causesOf(thrown).flatMap((link) => [member(link, 'response'), link])
  const response = holders.find((holder) => statusOf(holder) !== undefined)
  const headers = member(response, 'headers')
  return {
    status: statusOf(response),
    error: holders.map(oauthErrorOf).find((code) => code !== undefined),
    challenge: headerOf(headers, 'www-authenticate'),
    type: headerOf(headers, 'content-type'),
    text: textOf(member(response, 'data') ?? member(response, 'body')),
    retryAfter: headerOf(headers, 'retry-after'),
    date: headerOf(headers, 'date'),
  }
}

/** @returns Undefined for a stream, which is not read; empty for a body that a client has parsed. */
function textOf(body: unknown): string | undefined {
  if (typeof body === 'string') return body
  const isUnread = body === undefined || ['pipe', 'getReader'].some((name) => typeof member(body, name) === 'function')
  return isUnread ? undefined : ''
}

/** Some clients return the status as text. */
function statusOf(holder: unknown): number | undefined {
  const status = quietly(() => Number(member(holder, 'status') ?? member(holder, 'statusCode'))) ?? 0
  return status >= 100 && status <= 599 ? status : undefined
}

/** The OAuth error code in the body of a response. The body may be parsed, or text. */
function oauthErrorOf(holder: unknown): string | undefined {
  const data = member(holder, 'data') ?? member(holder, 'body')
  for (const document of [typeof data === 'string' ? quietly(() => JSON.parse(data) as unknown) : data, holder]) {
    const error = member(document, 'error')
    // An unknown code may quote what was sent.
    if (isOAuthError(error)) return error
  }
  return undefined
}

/** A header as text. Headers may be `Headers`, or objects with names in any case and values in lists. */
function headerOf(headers: unknown, name: string): string | undefined {
  const get = member(headers, 'get')
  const value = quietly((): unknown =>
    typeof get === 'function'
      ? get.call(headers, name)
      : Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1],
  )
  const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value
  return typeof only === 'string' || typeof only === 'number' ? String(only) : undefined
}

/** Messages of fetch for a failed connection in Node, browsers, Deno and Bun. In browsers the error has no cause. */
const FETCH_FAILED =
  /^\s*(fetch failed|failed to fetch|load failed|terminated|network ?error|a network error|network (request failed|connection)|error sending request|the (internet|network) connection|a server with the specified)/i

/** Whether the engine threw the error because of a bug. fetch also throws a TypeError for network failures, which are not bugs. */
function isBug(thrown: unknown): boolean {
  const name = member(thrown, 'name')
  if (name !== 'TypeError') return name === 'ReferenceError'
  const own = member(thrown, 'code')
  // Bun puts the code of a network failure on the error itself.
  if (typeof own === 'string' && !/^ERR_(?!TLS_|SSL_)/.test(own)) return false
  const code = member(member(thrown, 'cause'), 'code')
  // An invalid address is a bug. fetch throws the same error for it, with such a cause.
  if (typeof code === 'string') return code.startsWith('ERR_INVALID_')
  return !FETCH_FAILED.test(String(member(thrown, 'message')))
}
