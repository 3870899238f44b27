import type { Exchange } from '../core/token-source.ts'
import { type Failure, failureOfStatus } from '../wire/failure.ts'
import { generalAdvice } from '../wire/error-response.ts'
import type { TokenResponse } from '../wire/token-response.ts'
import { isFromIntermediary, failureAtIntermediary } from '../wire/intermediary.ts'
import { USE_OAUTH, oauthServer, VARIANT_B } from './token-document.ts'

/** On a refresh, these say that the service does not offer it (any more). They say nothing of the refresh token. */
const GONE = [404, 405, 410, 415, 422]

/**
 * What a complete answer outside 2xx means (specification, section 7). It has no word for a refresh endpoint that is gone, but
 * announces the end of Variant B (section 9). The refresh token is then untouched, and the credentials may still work.
 */
export function failureOf(exchange: Exchange, answer: TokenResponse): Failure {
  const { status } = answer
  if (isFromIntermediary(answer)) return failureAtIntermediary(exchange)
  const failure = failureOfStatus(exchange, status)
  return isGone(exchange, status) ? { ...failure, refreshToken: 'kept' } : failure
}

function isGone(exchange: Exchange, status: number): boolean {
  return exchange === 'refresh' && GONE.includes(status)
}

/**
 * What an answer outside 2xx means (specification, section 7, and the field notes), and what to do about it.
 *
 * @param oauthError What shows that it is an answer of OAuth 2.0, if it is one.
 * @param variant The variant that the source speaks.
 */
export function adviceFor(
  exchange: Exchange,
  failure: Failure,
  answer: TokenResponse,
  oauthError: string | undefined,
  variant: string,
): string {
  if (failure.outcome === 'rejected' && oauthError !== undefined) return oauthServer(oauthError)
  const advice = generalAdvice(failure, answer, 'baseUrl')
  if (advice !== undefined) return advice
  if (failure.code === 'ERR_CREDENTIALS_REJECTED')
    return `check the credentials and baseUrl, and that the service speaks ${variant}`
  if (failure.code === 'ERR_REFRESH_REJECTED') return 'the refresh token was rejected'
  const { status } = answer
  const hint =
    status === 404 || status === 410
      ? `check baseUrl and its trailing slash; for an OAuth 2.0 server ${USE_OAUTH}; ${VARIANT_B} may have been retired: its support ended on 1 December 2025`
      : `check baseUrl, and that the service speaks ${variant}`
  return isGone(exchange, status)
    ? `the refresh endpoint may be gone, while the credentials may still work; ${hint}`
    : hint
}
