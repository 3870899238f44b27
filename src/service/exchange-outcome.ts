import { TokenError } from '../core/errors.ts'
import { type Failure, failureOfNetwork, failureOfStatus } from '../wire/failure.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import type { Exchange } from '../core/token-source.ts'
import { oauthServer, VARIANT_B } from './token-document.ts'

/** A complete answer outside 2xx. */
export interface Refusal {
  readonly status: number
  readonly url: URL
  readonly location: unknown
  /** The `error` of OAuth 2.0 that it names. */
  readonly oauthError: string | undefined
  /** What the source speaks. */
  readonly variant: string
}

/** What a complete answer outside 2xx means (specification, section 7, and the field notes), and what to do about it. */
export function refusal(exchange: Exchange, answer: Refusal): { failure: Failure; advice: string } {
  const failure = failureOfStatus(exchange, answer.status)
  const { oauthError } = answer
  const isOAuth = failure.outcome === 'rejected' && oauthError !== undefined
  return { failure, advice: isOAuth ? oauthServer(`error: ${oauthError}`) : adviceFor(failure, answer) }
}

function adviceFor({ code, outcome }: Failure, answer: Refusal): string {
  switch (code) {
    case 'ERR_THROTTLED':
      return 'too many token calls'
    case 'ERR_TOKEN_SERVICE_UNAVAILABLE':
      return outcome === 'unknown-5xx' ? 'the token service failed' : 'the token service gave up'
    case 'ERR_CREDENTIALS_REJECTED':
      return `check the credentials, and that the service speaks ${answer.variant}`
    case 'ERR_REFRESH_REJECTED':
      return 'the refresh token was refused'
    case 'ERR_TOKEN_REQUEST':
      return misdirected(answer)
    default:
      return 'no status that HTTP knows'
  }
}

function misdirected({ status, url, location, variant }: Refusal): string {
  if (status >= 400) {
    if (status === 404 || status === 410)
      return `check baseUrl and its trailing slash; ${VARIANT_B} may have been retired`
    if (status === 407) return 'a proxy wants to know who calls; check transport.proxy, or HTTPS_PROXY'
    return `check baseUrl, and that the service speaks ${variant}`
  }
  const target = typeof location === 'string' ? parsedUrl(location, url.href) : undefined
  if (!target) return 'a redirect to nowhere; check baseUrl'
  if (target.origin === url.origin && target.pathname.replace(/\/$/, '') === url.pathname.replace(/\/$/, ''))
    return 'a redirect that changes only the trailing slash; token calls follow none, check baseUrl'
  return `a redirect to ${target.origin}; token calls follow none, check baseUrl`
}

/**
 * What is known when there is no complete answer. Only the code of the failure is kept: an axios error carries the whole
 * request, and messages of mocking libraries do too.
 */
export function brokenOff(thrown: unknown, address: string, status: number | undefined): TokenError {
  const { errorCode = 'no error code', advice, ...failure } = failureOfNetwork(thrown)
  // Once there is a status, the request was sent.
  const known: Failure = status === undefined ? failure : { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown' }
  const notSent = known.outcome === 'not-sent'
  const what = notSent ? 'could not be reached' : status === undefined ? 'gave no answer' : 'broke off its answer'
  const message = [`${address} ${what} (${errorCode})`, advice].filter((part) => part !== undefined).join(': ')
  return new TokenError(known.code, message, { ...known, status })
}

/** The deadline passed before the call, e.g. in waiting for credentials. */
export function tooLate(address: string): TokenError {
  const message = `The deadline had passed before ${address} was called`
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', message, { outcome: 'not-sent' })
}
