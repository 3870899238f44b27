import { withinLimit } from '../core/deadline.ts'
import { errorWith, TokenError } from '../core/errors.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import { isSuccess } from '../wire/token-response.ts'
import type { TokenCalls } from '../wire/token-call.ts'
import { documentIn, type Members } from './document.ts'

/** The default of `exchangeTimeoutMs`, for a context that names no limit. */
const LIMIT_MS = 10_000

/**
 * Reads the metadata at one address, with the limits of a token call. Each address has a third of the time, so that a third is left for the token call: if
 * that were cut off, the refresh token would be in doubt.
 *
 * @param of What the metadata describe, for messages.
 * @throws {TokenError} if the metadata cannot be had. Nothing was sent then, so the refresh token is untouched.
 */
export async function metadataAt(calls: TokenCalls, url: URL, context: ExchangeContext, of: string): Promise<Members> {
  const { exchange: _, ...about } = context
  const { clock, signal } = about
  const { holdsProcess = true, limitMs = LIMIT_MS } = internalOf(about)
  const ms = Math.floor(limitMs / 3)
  const ending = new AbortController()
  const unavailable = (message: string, status?: number) => {
    const details = { outcome: 'not-sent', status } as const
    return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', `The metadata of ${of} cannot be had: ${message}`, details)
  }
  const notHad = (error: TokenError): never => {
    // A certificate that is not trusted is no outage.
    throw error.code === 'ERR_TOKEN_REQUEST'
      ? errorWith(error, { outcome: 'not-sent' })
      : unavailable(error.message, error.status)
  }
  const atLimit = () => unavailable(`${url.origin}${url.pathname} gave no answer within ${ms} ms`)
  const call = { url, headers: { Accept: 'application/json' } }
  const pending = calls.send(call, { ...about, signal: ending.signal }).catch(notHad)
  try {
    const { status, text, address } = await withinLimit(pending, { clock, ms, holdsProcess, signal, atLimit })
    const metadata = isSuccess(status) ? documentIn(text) : undefined
    if (metadata) return metadata
    throw unavailable(`${address} answered ${status} without them; check ${of}`, status)
  } finally {
    ending.abort()
  }
}
