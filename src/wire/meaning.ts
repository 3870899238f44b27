import type { ExchangeOutcome, TokenErrorCode, TokenErrorDetails } from '../core/errors.ts'
import type { Exchange } from '../core/token-source.ts'
import { isOfIntermediary, type Shown } from './intermediary.ts'

/** What a failed exchange means. */
export interface Meaning extends Pick<TokenErrorDetails, 'refreshToken' | 'loginReason'> {
  readonly code: TokenErrorCode
  readonly outcome: ExchangeOutcome
  /** What the failure means, or what to do about it, if that does not depend on the protocol. */
  readonly advice?: string | undefined
  /** The OAuth error code that decided the meaning. Undefined if the status did. */
  readonly error?: string | undefined
}

const FAILED = { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown-5xx' } as const
const REQUEST = { code: 'ERR_TOKEN_REQUEST', outcome: 'rejected' } as const
const REFRESH = { code: 'ERR_REFRESH_REJECTED', outcome: 'rejected' } as const
/** The service may have acted on the request. */
export const UNFINISHED = {
  ...FAILED,
  outcome: 'unknown',
  advice: 'the token service did not complete the request',
} as const satisfies Meaning

const THROTTLED = 'too many token requests: let all processes of the account share a store'
const PROXY = 'a proxy requires credentials; check transport.proxy, or HTTPS_PROXY'
/** The advice if the response is a web page. */
export const STRANGER =
  'a web page from something in front of the service, such as a firewall: allow the requests of this machine'

const NO_STATUS = { code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown', advice: 'this is not an HTTP status' } as const

/** The meanings, by letter. The same letter in upper case has the same meaning, but the refresh token is kept. */
const MEANINGS: ReadonlyMap<string, Meaning> = /* @__PURE__ */ new Map<string, Meaning>([
  ['c', { ...REQUEST, code: 'ERR_CREDENTIALS_REJECTED' }],
  ['q', REQUEST],
  ['r', { ...REFRESH, refreshToken: 'refused' }],
  // Not suspicious. The source can obtain, and does so.
  ['u', { ...REFRESH, refreshToken: 'unusable' }],
  // Not suspicious. The service requires the user, so the login has ended.
  ['i', { ...REFRESH, refreshToken: 'refused', loginReason: 'interaction' }],
  // The response rejects this kind of request: an obtain with the credentials may still succeed.
  ['k', { ...REFRESH, refreshToken: 'kept' }],
  ['f', { ...FAILED, advice: 'the token service failed' }],
  ['n', UNFINISHED],
  ['t', { code: 'ERR_THROTTLED', outcome: 'deferred', advice: THROTTLED }],
  ['p', { ...REQUEST, advice: PROXY }],
  ['o', { ...FAILED, advice: 'this network requires a login' }],
])

/**
 * The rows. Each begins with three letters: the meaning for an obtain, for a refresh by a source that can obtain, and for the refresh of a login. The
 * OAuth error codes and statuses with these meanings follow. `page`: a web page.
 *
 * Error codes: RFC 6749, sections 4.1.2.1 and 5.2; 8707, section 2; 7009, section 2.2.1; 9449, sections 5 and 8; 8628, section 3.5; OpenID Connect Core,
 * section 3.1.2.6. If a code says nothing about the refresh token of a login, the manager keeps the token, and discards it if the service returns the same code
 * for ten minutes. Some servers report their own failures with a code: the manager retries as after a 5xx. A login has been granted its scopes, so if the
 * server rejects a refresh without `scope`, the settings of the server are wrong, and not the refresh token (F427).
 *
 * Statuses: the specification of the payment service, section 7, and what it does in practice. Other servers use 400 and 403 for any error. With 3xx, 407,
 * 425 and 503, the service has not processed the request (RFC 8470, section 5.2; RFC 9110, section 15.6.4).
 */
const ROWS = [
  'crr invalid_grant 401',
  'cCC invalid_client',
  'qQq invalid_request',
  'ckC unauthorized_client',
  'ckc 403',
  'qkq unsupported_grant_type invalid_target unsupported_token_type',
  'qkF invalid_scope',
  'fFF temporarily_unavailable server_error use_dpop_nonce',
  'qQQ invalid_dpop_proof page',
  'tTT slow_down',
  'cui interaction_required login_required consent_required account_selection_required',
  'cuc 400',
  'ppP 407',
  'nnn 408',
  'nnN 425',
  'ttt 429',
  'ffF 503',
  'ooo 511',
  'qqQ 3xx',
  'qqq 4xx',
  'fff 5xx',
] as const

/** The letters of each error code and status. */
const LETTERS: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ ROWS.flatMap((row) => {
    const [letters = '', ...keys] = row.split(' ')
    return keys.map((key) => [key, letters] as const)
  }),
)

/** Whether this is one of the OAuth error codes in the table. */
export function isOAuthError(code: unknown): code is string {
  return typeof code === 'string' && code.includes('_') && LETTERS.has(code)
}

/**
 * Finds the meaning of an error response in the table. If the status rejects the request, an OAuth error code is more specific than the status.
 *
 * @param error The OAuth error code in the response. Unknown codes are ignored.
 * @param needsLogin Whether only the user can obtain. If so, no status alone ends the login, except a 401 from a custom source.
 */
export function read(exchange: Exchange, shown: Shown, error?: string, needsLogin = false): Meaning {
  const { status = 400 } = shown
  const isPage = isOfIntermediary(shown)
  const kind = exchange === 'obtain' ? 0 : needsLogin ? 2 : 1
  const meaningOf = (...keys: string[]) => {
    const letter = keys.map((key) => LETTERS.get(key)).find(Boolean)?.[kind] ?? ''
    const meaning = MEANINGS.get(letter.toLowerCase()) ?? NO_STATUS
    return /[A-Z]/.test(letter) ? { ...meaning, refreshToken: 'kept' as const } : meaning
  }
  // A page comes from something in front of the service, and says nothing about the credentials or the refresh token. A 429 means a pause, whoever throttles.
  const byStatus = isPage
    ? { ...meaningOf(status === 429 ? '429' : 'page'), advice: STRANGER }
    : meaningOf(String(status), `${Math.floor(status / 100)}xx`)
  // An error code in a redirect is not about the request.
  const isMoreSpecific = byStatus.outcome === 'rejected' && status >= 400 && !isPage && isOAuthError(error)
  return isMoreSpecific ? { ...meaningOf(error), error } : byStatus
}
