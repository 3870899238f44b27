import type { Exchange } from '../core/token-source.ts'
import { generalAdvice } from '../wire/error-response.ts'
import { shownBy } from '../wire/intermediary.ts'
import { type Meaning, read } from '../wire/meaning.ts'
import type { TokenResponse } from '../wire/token-response.ts'
import { USE_OAUTH, oauthErrorOf, oauthServer, VARIANT_B } from './token-document.ts'

/** With these statuses for a refresh, the service does not have the endpoint, or no longer has it. The refresh token was not checked. */
const GONE = [404, 405, 410, 415, 422]

/**
 * Interprets a complete non-2xx response (specification, section 7, and the field notes), and advises what to do. The specification defines no response for
 * a removed refresh endpoint, but announces the end of Variant B (section 9). If the endpoint is gone, the refresh token is intact, and the
 * credentials may still work.
 *
 * @param variant The variant that the source uses.
 */
export function meaningOf(
  exchange: Exchange,
  response: TokenResponse,
  variant: string,
): Meaning & { readonly advice: string } {
  const { status, text } = response
  const meaning = read(exchange, shownBy(response))
  const isGone = exchange === 'refresh' && GONE.includes(status)
  const shown = meaning.outcome === 'rejected' ? oauthErrorOf(text) : undefined
  const advice =
    shown === undefined
      ? (generalAdvice(meaning, response, 'baseUrl') ?? adviceOn(meaning, status, isGone, variant))
      : oauthServer(shown)
  return { ...meaning, ...(isGone && { refreshToken: 'kept' }), advice }
}

function adviceOn({ code }: Meaning, status: number, isGone: boolean, variant: string): string {
  if (code === 'ERR_CREDENTIALS_REJECTED')
    return `check the credentials and baseUrl, and that the service uses ${variant}`
  if (code === 'ERR_REFRESH_REJECTED') return 'the refresh token was rejected'
  const hint =
    status === 404 || status === 410
      ? `check baseUrl and its trailing slash; for an OAuth 2.0 server ${USE_OAUTH}; ${VARIANT_B} may have been retired: its support ended on 1 December 2025`
      : `check baseUrl, and that the service uses ${variant}`
  return isGone ? `the refresh endpoint may be gone, while the credentials may still work; ${hint}` : hint
}
