import type { TokenError } from '../core/errors.ts'
import type { Exchange, ExchangeContext } from '../core/token-source.ts'
import { type Failure, failureOfStatus } from '../wire/failure.ts'
import { failureOfResponse } from '../wire/oauth-errors.ts'
import { generalAdvice, rejection } from '../wire/error-response.ts'
import { type TokenResponse, isSuccess } from '../wire/token-response.ts'
import { isFromIntermediary, failureAtIntermediary } from '../wire/intermediary.ts'
import { documentIn, errorIn, holdersOfToken, memberOf, type Members, otherProtocol } from './document.ts'
import { errorMeaning, isKnownCode, type Classified, type RejectedCall, type CustomErrors } from './error-meaning.ts'
import { customMeaning } from './custom-meaning.ts'

/** A complete error response (RFC 6749, section 5.2). */
export interface ErrorResponse {
  readonly error: TokenError
  /** The error of the RFCs that the response amounts to. */
  readonly meaning: string | undefined
}

/** The settings that decide what an error response means. */
export interface ErrorRules {
  readonly errors: CustomErrors
  readonly needsLogin: boolean
  readonly report: ExchangeContext['report']
}

/** Whether a response has an error code, whatever its status: GitHub, Slack and Zoho send errors with status 200. Some known codes have two words. */
function hasError(document: Members | undefined, { codes }: CustomErrors): boolean {
  return errorIn(document) !== undefined || isKnownCode(memberOf(document, 'error'), codes)
}

/**
 * @param kind The request. Most servers answer a revocation with a status alone.
 * @returns Undefined if the response is no error. It may still be unusable.
 */
export function errorResponseOf(
  kind: Exchange | 'revoke',
  response: TokenResponse,
  rules: ErrorRules,
): ErrorResponse | undefined {
  const { errors, needsLogin, report } = rules
  const document = documentIn(response.text)
  const isSuccessful = isSuccess(response.status)
  const isNamed = hasError(document, errors)
  if (isSuccessful && !isNamed && (kind === 'revoke' || !document || hasToken(document))) return undefined
  const custom = customMeaning(errors.classify, response.status, document, report)
  const call: RejectedCall = {
    exchange: kind === 'revoke' ? 'obtain' : kind,
    status: isSuccessful ? 400 : response.status,
    document,
    isOfLogin: needsLogin && kind === 'refresh',
  }
  const meant = errorMeaning(call, errors.codes, custom)
  // WeChat and Withings send errors with status 200, too, with codes of their own.
  if (isSuccessful && !isNamed && meant.meaning === undefined) return undefined
  const option = kind === 'revoke' ? 'revocationEndpoint' : 'tokenEndpoint'
  return errorResponseFor(call, meant, custom !== undefined, response, option)
}

export function hasToken(document: Members): boolean {
  return holdersOfToken(document).length > 0
}

function errorResponseFor(
  { exchange, status, document, isOfLogin }: RejectedCall,
  { code, meaning }: Classified,
  isCustom: boolean,
  response: TokenResponse,
  option: string,
): ErrorResponse {
  const isRejected = status >= 400 && failureOfStatus(exchange, status).outcome === 'rejected'
  // The error code of a failing gateway or of a redirect is not about the refresh token, unless the option `errors` has classified the whole response.
  const applied = isRejected || isCustom ? meaning : undefined
  const meant = failureOfResponse(exchange, isCustom ? 400 : status, applied, isOfLogin)
  // A web page never rejects the refresh token of a login, whatever its status.
  const isPage = isOfLogin && isRejected && !isCustom && /^\s*</.test(response.text)
  const byServer: Failure = isPage ? { ...meant, refreshToken: 'kept' } : meant
  const failure = !isCustom && isFromIntermediary(response) ? failureAtIntermediary(exchange) : byServer
  const other = meaning === undefined && failure.outcome === 'rejected' ? otherProtocol(document) : undefined
  const specific = other ?? (code && ADVICE.get(applied))
  const advice =
    specific ??
    generalAdvice(failure, { ...response, status }, option) ??
    adviceOn(failure) ??
    (isOfLogin && document && meaning === undefined && failure.code === 'ERR_CREDENTIALS_REJECTED'
      ? UNKNOWN_CODE
      : `check ${option}, and the client`)
  const named = code === undefined ? advice : `${code}: ${advice}`
  return { error: rejection(response, failure, named, code), meaning: applied }
}

function adviceOn({ refreshToken, loginReason }: Failure): string | undefined {
  if (loginReason) return 'the server requires the user to log in'
  return refreshToken && refreshToken !== 'kept' ? 'the refresh token was rejected' : undefined
}

const UNKNOWN_CODE = 'the server rejects the refresh token with an unknown error code'

/** A map, because a record inherits members from a polluted `Object.prototype` (F365). */
const ADVICE: ReadonlyMap<string | undefined, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ Object.entries({
    // RFC 9449, sections 5 and 8
    use_dpop_nonce: 'the server rejected the nonce that it had sent, or requires a proof: set dpop',
    invalid_dpop_proof: 'the server rejected the proof; check its algorithms, and the clock of this machine',
    invalid_client:
      'check clientId, clientSecret and clientAuthentication; some servers accept only post, or do not allow this grant to this client',
    unauthorized_client: 'the server does not allow this grant to this client',
    unsupported_grant_type: 'the server does not support this grant; check tokenEndpoint',
    unsupported_token_type: 'the server does not revoke tokens of this type',
    invalid_scope: 'check scope',
    invalid_target: 'check audience and resource in parameters, and scope',
    invalid_request: 'check parameters and clientAuthentication',
    access_denied: 'check the client, scope, and audience in parameters',
  }),
)
