import { withinLimit } from '../core/deadline.ts'
import { errorWith, TokenError } from '../core/errors.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import { isSuccess } from '../wire/token-response.ts'
import type { TokenCalls } from '../wire/token-call.ts'
import { documentIn, type Members } from './document.ts'

/** The default of `exchangeTimeoutMs`, for a context without a limit. */
const LIMIT_MS = 10_000

/**
 * Fetches the metadata at one address, with the limits of a token request. An issuer has two addresses, and each may take a third of the time. The last
 * third is left for the token request: if that were aborted, the refresh token would be in doubt.
 *
 * @param of What the metadata describe, for messages.
 * @throws {TokenError} if the metadata could not be fetched. No token request was sent then, so the refresh token is intact.
 */
export async function metadataAt(calls: TokenCalls, url: URL, context: ExchangeContext, of: string): Promise<Members> {
  const { exchange: _, ...about } = context
  const { clock, signal } = about
  const { holdsProcess = true, limitMs = LIMIT_MS } = internalOf(about)
  const ms = Math.floor(limitMs / 3)
  const ending = new AbortController()
  const unavailable = (message: string, status?: number) => {
    const details = { outcome: 'not-sent', status } as const
    return new TokenError(
      'ERR_TOKEN_SERVICE_UNAVAILABLE',
      `The metadata of ${of} could not be fetched: ${message}`,
      details,
    )
  }
  const asTokenError = (error: TokenError): never => {
    // An untrusted certificate is not an outage.
    throw error.code === 'ERR_TOKEN_REQUEST'
      ? errorWith(error, { outcome: 'not-sent' })
      : unavailable(error.message, error.status)
  }
  const atLimit = () => unavailable(`${url.origin}${url.pathname} did not respond within ${ms} ms`)
  const call = { url, headers: { Accept: 'application/json' } }
  const pending = calls.send(call, { ...about, signal: ending.signal }).catch(asTokenError)
  try {
    const { status, text, address } = await withinLimit(pending, { clock, ms, holdsProcess, signal, atLimit })
    const metadata = isSuccess(status) ? documentIn(text) : undefined
    if (metadata) return metadata
    throw unavailable(`${address} responded with ${status} and no metadata; check ${of}`, status)
  } finally {
    ending.abort()
  }
}
