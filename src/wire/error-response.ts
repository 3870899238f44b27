import { TokenError } from '../core/errors.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import type { Failure } from './failure.ts'
import type { Answered } from './answered.ts'
import { comesFromInFront } from './page.ts'

/** @returns The error of a complete answer that refuses. @param advice What to do about it, or what it means. */
export function refused(
  { address, status, retryAfterMs, proxy }: Answered,
  failure: Failure,
  advice: string,
  serviceCode: string | undefined,
): TokenError {
  const message = `${address} answered ${status}: ${advice}${proxy === undefined ? '' : `; the call went ${proxy}`}`
  return new TokenError(failure.code, message, { ...failure, status, serviceCode, retryAfterMs })
}

/**
 * What an answer that refuses means, and what to do about it, if that does not depend on the protocol.
 *
 * @param option Names the option that holds the address.
 * @returns undefined if it depends on the protocol.
 */
export function generalAdvice({ code, outcome }: Failure, answer: Answered, option: string): string | undefined {
  if (code === 'ERR_TOKEN_REQUEST' && comesFromInFront(answer))
    return 'answered by something in front of the service, such as a firewall: let the calls of this machine pass'
  if (code === 'ERR_THROTTLED') return 'too many token calls'
  if (answer.status === 511) return 'this network requires a login'
  if (code === 'ERR_TOKEN_SERVICE_UNAVAILABLE')
    return outcome === 'unknown-5xx' ? 'the token service failed' : 'the token service did not finish the call'
  if (code === 'ERR_TOKEN_RESPONSE') return 'this is no HTTP status'
  if (answer.status < 400) return adviceOnRedirect(answer, option)
  if (answer.status === 407) return 'a proxy requires credentials; check transport.proxy, or HTTPS_PROXY'
  return undefined
}

/** `Location` is not quoted: it may hold anything, a token too. */
function adviceOnRedirect({ url, headers }: Answered, option: string): string {
  const location = headers.get('location')
  const target = typeof location === 'string' ? parsedUrl(location, url.href) : undefined
  if (!target) return `a redirect without a valid target; check ${option}`
  return `a redirect ${kindOfRedirect(url, target)}; token calls follow no redirect, check ${option}`
}

function kindOfRedirect(url: URL, target: URL): string {
  const isSamePath = target.pathname.replace(/\/$/, '') === url.pathname.replace(/\/$/, '')
  if (target.origin === url.origin) return isSamePath ? 'that changes only the trailing slash' : 'to another path'
  if (target.host === url.host) return `to ${target.protocol === 'https:' ? 'https' : 'plain http'}`
  return 'to another origin'
}
