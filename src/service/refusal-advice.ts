import type { Failure } from '../wire/failure.ts'
import { generalAdvice } from '../wire/refusal.ts'
import type { Answered } from '../wire/token-call.ts'
import { oauthServer, VARIANT_B } from './token-document.ts'

/**
 * What an answer outside 2xx means (specification, section 7, and the field notes), and what to do about it.
 *
 * @param oauthError What shows that it is an answer of OAuth 2.0, if it is one.
 * @param variant The variant that the source speaks.
 */
export function adviceFor(failure: Failure, answer: Answered, oauthError: string | undefined, variant: string): string {
  if (failure.outcome === 'rejected' && oauthError !== undefined) return oauthServer(oauthError)
  const advice = generalAdvice(failure, answer, 'baseUrl')
  if (advice !== undefined) return advice
  if (failure.code === 'ERR_CREDENTIALS_REJECTED')
    return `check the credentials, and that the service speaks ${variant}`
  if (failure.code === 'ERR_REFRESH_REJECTED') return 'the refresh token was refused'
  if (answer.status === 404 || answer.status === 410)
    return `check baseUrl and its trailing slash; an OAuth 2.0 server needs oauth2 of axios-evergreen/oauth2; ${VARIANT_B} may have been retired: its support ended on 1 December 2025`
  return `check baseUrl, and that the service speaks ${variant}`
}
