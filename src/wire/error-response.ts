import type { TokenError } from '../core/errors.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import type { Meaning } from './meaning.ts'
import type { TokenResponse } from './token-response.ts'
import { CHECK_PROXY } from './proxy.ts'
import { toError } from './to-error.ts'

/** @returns The error of a complete response that rejects the request. @param advice What the response means, or what to do about it. */
export function rejection(
  { address, status, retryAfterMs, proxy }: TokenResponse,
  meaning: Meaning,
  advice: string,
  serviceCode: string | undefined,
): TokenError {
  const message = `${address} responded with ${status}: ${advice}${wayOf(proxy, serviceCode)}`
  return toError(meaning, message, { status, serviceCode, retryAfterMs })
}

/** @returns The error of a complete response that cannot be used. @param why Must not quote values of the response, which may be tokens. */
export function unusableResponse(
  { address, status, proxy }: Pick<TokenResponse, 'address' | 'status' | 'proxy'>,
  why: string,
): TokenError {
  return toError(UNUSABLE, `The response from ${address} cannot be used: ${why}${wayOf(proxy)}`, { status })
}
const UNUSABLE: Meaning = { code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown' }

/** Names the proxy that responded, or passed on the response. An error code comes from the service itself, so the proxy needs no check. */
function wayOf(proxy: string | undefined, serviceCode?: string): string {
  if (proxy === undefined) return ''
  return `; the request went ${proxy}${serviceCode === undefined ? `: ${CHECK_PROXY}` : ''}`
}

/** What to do if the format of the responses has changed. */
export const CHANGED = '; ask the operator of the service'

/**
 * What a response means, and what to do about it, if that does not depend on the protocol.
 *
 * @param option The name of the option that holds the address.
 * @returns undefined if it depends on the protocol.
 */
export function generalAdvice({ advice }: Meaning, response: TokenResponse, option: string): string | undefined {
  return advice ?? (response.status < 400 ? adviceOnRedirect(response, option) : undefined)
}

/** `Location` is not quoted, because it may contain anything, even a token. */
function adviceOnRedirect({ url, headers }: TokenResponse, option: string): string {
  const location = headers.get('location')
  const target = typeof location === 'string' ? parsedUrl(location, url.href) : undefined
  if (!target) return `a redirect without a valid target; check ${option}`
  return `a redirect ${kindOfRedirect(url, target)}; token requests follow no redirects, check ${option}`
}

function kindOfRedirect(url: URL, target: URL): string {
  const isSamePath = target.pathname.replace(/\/$/, '') === url.pathname.replace(/\/$/, '')
  if (target.origin === url.origin) return isSamePath ? 'that changes only the trailing slash' : 'to another path'
  if (target.host === url.host) return `to ${target.protocol === 'https:' ? 'https' : 'plain http'}`
  return 'to another origin'
}
