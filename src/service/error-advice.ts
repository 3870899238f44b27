import type { Exchange } from '../core/token-source.ts'
import { type Failure, failureOfStatus } from '../wire/failure.ts'
import { generalAdvice } from '../wire/error-response.ts'
import type { TokenResponse } from '../wire/token-response.ts'
import { isFromIntermediary, failureAtIntermediary } from '../wire/intermediary.ts'
import { USE_OAUTH, oauthServer, VARIANT_B } from './token-document.ts'

/** In a refresh: the service does not offer the endpoint (any more). The refresh token was not checked. */
const GONE = [404, 405, 410, 415, 422]

/**
 * Classifies a complete response outside 2xx (specification, section 7). The specification defines no response for a removed refresh endpoint, but
 * announces the end of Variant B (section 9). The refresh token is then intact, and the credentials may still work.
 */
export function failureOf(exchange: Exchange, response: TokenResponse): Failure {
  const { status } = response
  if (isFromIntermediary(response)) return failureAtIntermediary(exchange)
  const failure = failureOfStatus(exchange, status)
  return isGone(exchange, status) ? { ...failure, refreshToken: 'kept' } : failure
}

function isGone(exchange: Exchange, status: number): boolean {
  return exchange === 'refresh' && GONE.includes(status)
}

/**
 * The advice for a response outside 2xx (specification, section 7, and the field notes).
 *
 * @param oauthError The evidence of an OAuth 2.0 response, if it is one.
 * @param variant The variant that the source uses.
 */
export function adviceFor(
  exchange: Exchange,
  failure: Failure,
  response: TokenResponse,
  oauthError: string | undefined,
  variant: string,
): string {
  if (failure.outcome === 'rejected' && oauthError !== undefined) return oauthServer(oauthError)
  const advice = generalAdvice(failure, response, 'baseUrl')
  if (advice !== undefined) return advice
  if (failure.code === 'ERR_CREDENTIALS_REJECTED')
    return `check the credentials and baseUrl, and that the service uses ${variant}`
  if (failure.code === 'ERR_REFRESH_REJECTED') return 'the refresh token was rejected'
  const { status } = response
  const hint =
    status === 404 || status === 410
      ? `check baseUrl and its trailing slash; for an OAuth 2.0 server ${USE_OAUTH}; ${VARIANT_B} may have been retired: its support ended on 1 December 2025`
      : `check baseUrl, and that the service uses ${variant}`
  return isGone(exchange, status)
    ? `the refresh endpoint may be gone, while the credentials may still work; ${hint}`
    : hint
}
