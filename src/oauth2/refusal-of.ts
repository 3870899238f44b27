import type { Exchange } from '../core/token-source.ts'
import { type Failure, failureOfStatus } from '../wire/failure.ts'
import { failureOfAnswer, isOAuthError } from '../wire/oauth-errors.ts'
import { generalAdvice } from '../wire/refusal.ts'
import type { Answered } from '../wire/token-call.ts'
import { documentIn, errorIn, otherProtocol } from './document.ts'

/** What a complete answer outside 2xx means (RFC 6749, section 5.2), and what to do about it. */
export interface Refusal {
  readonly failure: Failure
  readonly advice: string
  /** `error` of the answer. */
  readonly serviceCode: string | undefined
}

type Grant = 'client_credentials' | 'login'

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
  const failure = failureOf(exchange, answer.status, error ?? assumedError(exchange, answer.status, !document), grant)
  const advice =
    (failure.outcome === 'rejected' ? otherProtocol(document) : undefined) ??
    generalAdvice(failure, answer, 'tokenEndpoint') ??
    ADVICE[error ?? ''] ??
    (failure.refreshToken === 'unusable' ? REFUSED : 'check tokenEndpoint, and the client')
  return { failure, advice: error === undefined ? advice : `${error}: ${advice}`, serviceCode: error }
}

/** The error to assume for an answer that names none. 401 refuses the client. A web page, e.g. of a proxy, does not refuse the refresh token. */
function assumedError(exchange: Exchange, status: number, isPage: boolean): string | undefined {
  if (status === 401) return 'invalid_client'
  return exchange === 'refresh' && status === 400 && isPage ? 'invalid_request' : undefined
}

function failureOf(exchange: Exchange, status: number, error: string | undefined, grant: Grant): Failure {
  const isRejected = status >= 400 && failureOfStatus(exchange, status).outcome === 'rejected'
  // Some servers answer every error with 400, temporary ones too.
  if (isRejected && (error === 'temporarily_unavailable' || error === 'server_error'))
    return { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown-5xx' }
  const failure = failureOfAnswer(exchange, status, isOAuthError(error) ? error : undefined)
  // Only a person can obtain here. The refresh token is still good: the manager tries it again after a cool-down.
  if (grant === 'login' && failure.refreshToken === 'kept')
    return { ...failureOfAnswer('obtain', status, error), refreshToken: 'kept' }
  return failure
}

const REFUSED = 'the refresh token was refused'

const ADVICE: Partial<Record<string, string>> = {
  invalid_grant: REFUSED,
  invalid_client: 'check clientId, clientSecret and clientAuthentication; some servers accept only post',
  unauthorized_client: 'the server does not allow this grant to this client',
  unsupported_grant_type: 'the server does not know this grant; check tokenEndpoint',
  invalid_scope: 'check scope',
  invalid_target: 'check audience and resource in parameters',
  invalid_request: 'check parameters and clientAuthentication',
}
