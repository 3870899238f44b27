import type { Exchange } from '../core/token-source.ts'
import { type Failure, failureOfStatus } from '../wire/failure.ts'
import { failureOfAnswer, isOAuthError } from '../wire/oauth-errors.ts'
import { generalAdvice } from '../wire/refusal.ts'
import { type Answered, isSuccess } from '../wire/token-call.ts'
import { documentIn, errorIn, otherProtocol } from './document.ts'

/** What a complete answer that refuses means (RFC 6749, section 5.2), and what to do about it. */
export interface Refusal {
  readonly failure: Failure
  readonly advice: string
  /** `error` of the answer. */
  readonly serviceCode: string | undefined
}

type Grant = 'client_credentials' | 'login'

/** Whether an answer refuses, whatever its status: GitHub, Slack and Zoho report errors under status 200. */
export function namesError(text: string): boolean {
  return errorIn(documentIn(text)) !== undefined
}

/** @param isSent Whether the token call sent this word. Such a word may be a secret, so no message repeats it. */
export function refusalOf(
  exchange: Exchange,
  answer: Answered,
  grant: Grant,
  isSent: (word: string) => boolean,
): Refusal {
  const document = documentIn(answer.text)
  const word = errorIn(document)
  const error = word === undefined || isSent(word) ? undefined : word
  const status = isSuccess(answer.status) ? 400 : answer.status
  const meant = meantError(exchange, status, error, !document)
  const failure = failureOf(exchange, status, meant, grant)
  const advice =
    (failure.outcome === 'rejected' ? otherProtocol(document) : undefined) ??
    generalAdvice(failure, { ...answer, status }, 'tokenEndpoint') ??
    (error === undefined ? undefined : ADVICE.get(meant)) ??
    (['refused', 'unusable'].includes(failure.refreshToken ?? '')
      ? 'the refresh token was refused'
      : 'check tokenEndpoint, and the client')
  return { failure, advice: error === undefined ? advice : `${error}: ${advice}`, serviceCode: error }
}

const TEMPORARY: readonly unknown[] = [
  ...['temporarily_unavailable', 'server_error'], // RFC 6749, section 4.1.2.1
  ...['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'ratelimited'], // Slack, under status 200
  'general_error', // Zoho
]

/** What large servers say in place of the errors of RFC 6749, section 5.2, and RFC 8707, section 2. */
const DIALECTS: ReadonlyMap<string | undefined, string> = new Map([
  ['bad_refresh_token', 'invalid_grant'], // GitHub
  ['incorrect_client_credentials', 'invalid_client'], // GitHub
  ['invalid_resource', 'invalid_target'], // Microsoft Entra
  ['invalid_token', 'invalid_grant'], // Spring Security, Cloud Foundry
])

/** The error of the two RFCs that the answer means, by its own error or by having none; else its own error. */
function meantError(exchange: Exchange, status: number, given: string | undefined, isPage: boolean) {
  const error = DIALECTS.get(given) ?? given
  const isKnown = TEMPORARY.includes(error) || (isOAuthError(error) && error !== 'unauthorized_client')
  // In RFC 6749, 401 refuses the client. Auth0 then says access_denied, Keycloak unauthorized_client, Google deleted_client.
  if (status === 401 && !isKnown) return 'invalid_client'
  // A web page, e.g. of a proxy, does not refuse the refresh token.
  return error ?? (exchange === 'refresh' && status === 400 && isPage ? 'invalid_request' : undefined)
}

function failureOf(exchange: Exchange, status: number, error: string | undefined, grant: Grant): Failure {
  const isRejected = status >= 400 && failureOfStatus(exchange, status).outcome === 'rejected'
  // Some servers answer every error with 400, temporary ones too.
  if (isRejected && TEMPORARY.includes(error)) return { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown-5xx' }
  const known = isOAuthError(error) ? error : undefined
  const failure = failureOfAnswer(exchange, status, known)
  // Only a person can obtain here. The refresh token is still good: the manager tries it again after a cool-down.
  if (grant === 'login' && failure.refreshToken === 'kept')
    return { ...failureOfAnswer('obtain', status, known), refreshToken: 'kept' }
  return failure
}

const ADVICE: ReadonlyMap<string | undefined, string> = new Map([
  ['invalid_client', 'check clientId, clientSecret and clientAuthentication; some servers accept only post'],
  ['unauthorized_client', 'the server does not allow this grant to this client'],
  ['unsupported_grant_type', 'the server does not know this grant; check tokenEndpoint'],
  ['invalid_scope', 'check scope'],
  ['invalid_target', 'check audience and resource in parameters, and scope'],
  ['invalid_request', 'check parameters and clientAuthentication'],
  ['access_denied', 'check the client, scope, and audience in parameters'],
])
