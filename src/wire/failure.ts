import type { ExchangeOutcome, TokenErrorCode, TokenErrorDetails } from '../core/errors.ts'
import { member } from '../core/thrown.ts'
import type { Exchange } from '../core/token-source.ts'
import { causesOf } from './causes.ts'

/** What is known of an exchange that failed. */
export interface Failure extends Pick<TokenErrorDetails, 'refreshToken' | 'loginReason'> {
  readonly code: TokenErrorCode
  readonly outcome: ExchangeOutcome
}

/**
 * What a complete answer outside 2xx means if only its status is known (specification, section 7, and the field notes). On a
 * refresh, 401 refuses the refresh token, 400 says that the refresh token is useless, and 403 refuses the client, so that the
 * refresh token stays good.
 */
export function failureOfStatus(exchange: Exchange, status: number): Failure {
  if (status === 429) return { code: 'ERR_THROTTLED', outcome: 'deferred' }
  if (status >= 500 && status <= 599) return { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown-5xx' }
  if (status === 408 || status === 425) return { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown' }
  if (status === 400 || status === 401 || status === 403) {
    if (exchange === 'obtain') return { code: 'ERR_CREDENTIALS_REJECTED', outcome: 'rejected' }
    const refreshToken = status === 401 ? 'refused' : status === 400 ? 'unusable' : 'kept'
    return { code: 'ERR_REFRESH_REJECTED', outcome: 'rejected', refreshToken }
  }
  if (status >= 300 && status <= 499) return { code: 'ERR_TOKEN_REQUEST', outcome: 'rejected' }
  return { code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown' }
}

/** This machine does not trust the certificate: no later attempt can help. */
const NOT_TRUSTED = new Set([
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** The answer is no TLS: no later attempt can help. A request may have been sent before. */
const NO_TLS = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'])

/** No byte of the request has left this machine. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_INVALID_URL',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

export interface NetworkFailure extends Failure {
  /** The code of the innermost error that has one, such as `ECONNREFUSED`; undefined if none has. */
  readonly errorCode: string | undefined
  /** What a person can do about it, if that is known. */
  readonly advice: string | undefined
}

/** What the codes of an error and of its causes say about a call without a complete answer. */
export function failureOfNetwork(thrown: unknown): NetworkFailure {
  const chain = causesOf(thrown)
  const codes = chain.map((link) => member(link, 'code')).filter((code) => typeof code === 'string')
  // A text of another form is no code, and may be a secret.
  const errorCode = codes.findLast((code) => /^[A-Z][A-Z0-9_]{1,60}$/.test(code))
  const advice = codes.map(adviceOn).find((text) => text !== undefined)
  if (codes.some((code) => NOT_TRUSTED.has(code)))
    return { code: 'ERR_TOKEN_REQUEST', outcome: 'not-sent', errorCode, advice }
  if (codes.some((code) => NO_TLS.has(code)))
    return { code: 'ERR_TOKEN_REQUEST', outcome: 'unknown', errorCode, advice }
  const notSent =
    codes.some((code) => NOT_SENT.has(code)) || chain.some((link) => member(link, 'syscall') === 'connect')
  return { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: notSent ? 'not-sent' : 'unknown', errorCode, advice }
}

function adviceOn(code: string): string | undefined {
  if (NOT_TRUSTED.has(code))
    return 'this machine does not trust the certificate: name its authority in NODE_EXTRA_CA_CERTS, or in the agent of the token calls'
  if (NO_TLS.has(code)) return 'the port does not speak TLS: check the address'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return 'unknown host: check the address, the proxy, and the DNS of this machine'
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return 'check the dates of the certificate, and the clock of this machine'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'the certificate is for another host: check the address'
  return undefined
}
