import { type ExchangeOutcome, TokenError, type TokenErrorCode } from '../core/errors.ts'

export type Exchange = 'obtain' | 'refresh'

/** What a complete answer outside 2xx means (specification, section 7, and the field notes). */
export function refusal(
  exchange: Exchange,
  status: number,
  url: URL,
  location: unknown,
): { code: TokenErrorCode; outcome: ExchangeOutcome; advice: string } {
  if (status === 429) return { code: 'ERR_THROTTLED', outcome: 'deferred', advice: 'too many token calls' }
  if (status >= 500 && status <= 599)
    return { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown-5xx', advice: 'the token service failed' }
  if (status === 408 || status === 425)
    return { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown', advice: 'the token service gave up' }
  if (status === 400 || status === 401 || status === 403)
    return exchange === 'obtain'
      ? { code: 'ERR_CREDENTIALS_REJECTED', outcome: 'rejected', advice: 'check the credentials' }
      : { code: 'ERR_REFRESH_REJECTED', outcome: 'rejected', advice: 'the refresh token was refused' }
  if (status >= 300 && status <= 499)
    return { code: 'ERR_TOKEN_REQUEST', outcome: 'rejected', advice: misdirected(status, url, location) }
  return { code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown', advice: 'no status that HTTP knows' }
}

function misdirected(status: number, url: URL, location: unknown): string {
  if (status >= 400) {
    if (status === 404 || status === 410)
      return 'check baseUrl and its trailing slash; Variant B (login and password) may have been retired'
    if (status === 407) return 'a proxy wants to know who calls; check transport.proxy, or HTTPS_PROXY'
    return 'check baseUrl and the variant'
  }
  const target = typeof location === 'string' && URL.canParse(location, url.href) ? new URL(location, url) : undefined
  if (!target) return 'a redirect to nowhere; check baseUrl'
  if (target.origin === url.origin && target.pathname.replace(/\/$/, '') === url.pathname.replace(/\/$/, ''))
    return 'a redirect that changes only the trailing slash; token calls follow none, check baseUrl'
  return `a redirect to ${target.origin}; token calls follow none, check baseUrl`
}

/** Failures of which it is certain that no request byte left. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_INVALID_URL',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])

/**
 * What is known when there is no complete answer. Only the code of the failure is kept: an axios error carries the whole
 * request, and messages of mocking libraries do too.
 */
export function brokenOff(thrown: unknown, address: string, status: number | undefined): TokenError {
  const chain = causes(thrown)
  const notSent =
    status === undefined && chain.some(({ code, syscall }) => NOT_SENT.has(String(code)) || syscall === 'connect')
  const code = chain.map((link) => link.code).findLast((found) => typeof found === 'string')
  const what = notSent ? 'could not be reached' : status === undefined ? 'gave no answer' : 'broke off its answer'
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', `${address} ${what} (${code ?? 'no error code'})`, {
    outcome: notSent ? 'not-sent' : 'unknown',
    status,
  })
}

/** The deadline passed before the call, e.g. in waiting for credentials. */
export function tooLate(address: string): TokenError {
  const message = `The deadline had passed before ${address} was called`
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', message, { outcome: 'not-sent' })
}

/** The error and its causes: axios and fetch wrap the one that knows; of several addresses each has its own. */
function causes(thrown: unknown): { code?: unknown; syscall?: unknown }[] {
  const chain: object[] = []
  for (let link = thrown; typeof link === 'object' && link !== null && chain.length < 4; link = (link as Error).cause)
    chain.push(link, ...((link as { errors?: object[] }).errors ?? []))
  return chain
}
