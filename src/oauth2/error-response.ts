import type { TokenError } from '../core/errors.ts'
import type { Exchange, ExchangeContext } from '../core/token-source.ts'
import { generalAdvice, rejection } from '../wire/error-response.ts'
import { shownBy } from '../wire/intermediary.ts'
import { type Meaning, read } from '../wire/meaning.ts'
import { type TokenResponse, isSuccess } from '../wire/token-response.ts'
import type { CustomErrors } from './custom-meaning.ts'
import { documentIn, errorIn, holdersOfToken, memberOf, type Members, otherProtocol } from './document.ts'
import { markClaims } from './refused-claims.ts'
import { ADVICE, isKnownCode, said, type Said } from './error-words.ts'

/** A complete error response (RFC 6749, section 5.2). */
export interface ErrorResponse {
  readonly error: TokenError
  /** The error code of the RFCs that the response amounts to. */
  readonly meaning: string | undefined
}

/** The settings that decide what an error response means. */
export interface ErrorRules {
  readonly errors: CustomErrors
  readonly needsLogin: boolean
  /** Whether the client has a secret, a key or a certificate that could be wrong. */
  readonly isAuthenticated: boolean
  /** For messages: the option to check, if another function, such as `mcpLogin`, uses this source. That function has none of the options that `ADVICE` names. */
  readonly option: string | undefined
  readonly report: ExchangeContext['report']
}

/** Whether a response has an error code, whatever its status: GitHub, Slack and Zoho send errors with status 200. Some known codes contain a space. */
function hasError(document: Members | undefined, { codes }: CustomErrors): boolean {
  return errorIn(document) !== undefined || isKnownCode(memberOf(document, 'error'), codes)
}

/**
 * Reads the error codes and texts of a response, finds their row in the table of meanings, and makes the error.
 *
 * @param kind The request. Most servers respond to a revocation with a status alone.
 * @returns Undefined if the response is not an error. It may still be unusable.
 */
export function errorResponseOf(
  kind: Exchange | 'revoke',
  response: TokenResponse,
  rules: ErrorRules,
): ErrorResponse | undefined {
  const { errors, needsLogin, report } = rules
  const document = documentIn(response.text)
  const isSuccessful = isSuccess(response.status)
  const isUnnamed = isSuccessful && !hasError(document, errors)
  if (isUnnamed && (kind === 'revoke' || !document || hasToken(document))) return undefined
  const custom = errors.classify?.(response.status, document, report)
  const isOfLogin = needsLogin && kind === 'refresh'
  const words = said(document, errors.codes, kind === 'refresh')
  const status = isSuccessful ? 400 : response.status
  const call: RejectedCall = { ...rules, kind, isOfLogin, document, status, response }
  const name = custom ?? meaningOf(words, call)
  // WeChat and Withings send errors with status 200, too, with codes of their own.
  if (isUnnamed && name === undefined) return undefined
  const meaning = rowOf(call, name, custom === undefined ? response : undefined)
  const error = rejection(response, meaning, adviceOn(meaning, words.code, name, call), words.code)
  markClaims(error, document)
  return { error, meaning: meaning.error }
}

export function hasToken(document: Members): boolean {
  return holdersOfToken(document).length > 0
}

/** A request that the server rejected. */
interface RejectedCall extends ErrorRules {
  readonly kind: Exchange | 'revoke'
  readonly response: TokenResponse
  /** Errors with status 200 count as 400. */
  readonly status: number
  /** The body. Undefined: a web page, or empty. */
  readonly document: Members | undefined
  /** Whether the exchange presented a refresh token that only a new login can replace. */
  readonly isOfLogin: boolean
}

/** Statuses that reject a request, unless an error code or a text says more. */
const REJECTS: readonly number[] = [400, 401, 403]

/** @returns An error code of the RFCs, or `access_denied`. Undefined: only the status is known. */
function meaningOf(words: Said, call: RejectedCall): string | undefined {
  const { meaning } = words
  const { kind, status, document, isOfLogin } = call
  if (words.isClear) return meaning
  if (status === 401 && isOfClient(words, call)) return 'invalid_client'
  // Auth0 and Okta deny the user with this code. A source that can obtain learns more from its next obtain.
  if (isOfLogin && meaning === 'access_denied') return 'invalid_grant'
  // A web page, e.g. of a proxy, does not reject the refresh token.
  return meaning ?? (kind === 'refresh' && status === 400 && !document ? 'invalid_request' : undefined)
}

/**
 * Whether a 401 rejects the client (RFC 6749). Auth0 then sends access_denied, Keycloak unauthorized_client. In the refresh of a login, other codes and texts
 * say nothing about the client, and neither does a 401 without any if the client has nothing to authenticate with (F406).
 */
function isOfClient({ meaning, isBare }: Said, { isOfLogin, isAuthenticated }: RejectedCall): boolean {
  if (meaning === 'invalid_request') return false
  return !isOfLogin || meaning === 'unauthorized_client' || (isAuthenticated && (isBare || meaning === 'access_denied'))
}

/** @param response Undefined: the option `errors` has classified the whole response, so its status and its format do not matter. */
function rowOf(
  { kind, status, isOfLogin, isAuthenticated }: RejectedCall,
  name: string | undefined,
  response: TokenResponse | undefined,
) {
  const exchange = kind === 'revoke' ? 'obtain' : kind
  if (!response) return read(exchange, { status: 400 }, name, isOfLogin)
  // These statuses do not show whether the refresh token of a login is valid. If the client has no credentials, none can be wrong.
  const isOpen = name === undefined && isOfLogin && REJECTS.includes(status)
  const error = isOpen && !isAuthenticated ? 'invalid_request' : name
  const meaning = read(exchange, { ...shownBy(response), status: isOpen ? 403 : status }, error, isOfLogin)
  // A web page never rejects the refresh token of a login, whatever its status.
  const isPage = isOfLogin && meaning.outcome === 'rejected' && /^\s*</.test(response.text)
  return isPage ? { ...meaning, refreshToken: 'kept' as const } : meaning
}

/** @returns The error code, and what to do. */
function adviceOn(meaning: Meaning, code: string | undefined, name: string | undefined, call: RejectedCall): string {
  const option = call.option ?? (call.kind === 'revoke' ? 'revocationEndpoint' : 'tokenEndpoint')
  const other = name === undefined && meaning.outcome === 'rejected' ? otherProtocol(call.document) : undefined
  const advice =
    other ??
    (code === undefined ? undefined : adviceOnCode(meaning, call)) ??
    generalAdvice(meaning, { ...call.response, status: call.status }, option) ??
    adviceOnToken(meaning, name, call) ??
    `check ${option}, and the client`
  return code === undefined ? advice : `${code}: ${advice}`
}

function adviceOnCode({ error }: Meaning, { option, isAuthenticated }: RejectedCall): string | undefined {
  if (option !== undefined) return undefined
  return error === 'invalid_client' && !isAuthenticated ? PUBLIC_CLIENT : ADVICE.get(error)
}

function adviceOnToken(
  { refreshToken, loginReason }: Meaning,
  name: string | undefined,
  { status, document, isOfLogin }: RejectedCall,
): string | undefined {
  if (loginReason) return 'the server requires the user to log in'
  if (refreshToken && refreshToken !== 'kept') return 'the refresh token was rejected'
  return isOfLogin && document && name === undefined && REJECTS.includes(status) ? UNKNOWN_CODE : undefined
}

const UNKNOWN_CODE = 'the refresh token was rejected with an unknown error code'
const PUBLIC_CLIENT = 'check clientId, and that the server allows this grant to a public client'
