import type { Exchange, ExchangeContext } from '../core/token-source.ts'
import { type Failure, failureOfStatus } from '../wire/failure.ts'
import { failureOfResponse } from '../wire/oauth-errors.ts'
import { generalAdvice } from '../wire/error-response.ts'
import { type TokenResponse, isSuccess } from '../wire/token-response.ts'
import { isFromIntermediary, failureAtIntermediary } from '../wire/intermediary.ts'
import { documentIn, errorIn, holdersOfToken, memberOf, type Members, otherProtocol } from './document.ts'
import { errorMeaning, isKnownWord, type Meant, type Refusing, type Taught } from './error-meaning.ts'
import { judgedBy } from './judged.ts'

/** What a complete answer that refuses means (RFC 6749, section 5.2), and what to do about it. */
export interface ErrorResponse {
  readonly failure: Failure
  readonly advice: string
  /** The error of the RFCs that the answer means. */
  readonly meaning: string | undefined
  /** The error word of the answer, if it is known. */
  readonly serviceCode: string | undefined
}

/** What an answer is judged by, beside itself. */
export interface Judging {
  readonly errors: Taught
  readonly needsLogin: boolean
  readonly report: ExchangeContext['report']
}

/** Whether an answer names an error, whatever its status: GitHub, Slack and Zoho report errors under status 200. Some known errors are two words. */
function namesError(document: Members | undefined, { words }: Taught): boolean {
  return errorIn(document) !== undefined || isKnownWord(memberOf(document, 'error'), words)
}

/**
 * @param call What was asked. Most servers answer a revocation with a status alone.
 * @returns Undefined if the answer refuses nothing. It may still be of no use.
 */
export function errorResponseOf(
  call: Exchange | 'revoke',
  answer: TokenResponse,
  judging: Judging,
): ErrorResponse | undefined {
  const { errors, needsLogin, report } = judging
  const document = documentIn(answer.text)
  const isSuccessful = isSuccess(answer.status)
  const isNamed = namesError(document, errors)
  if (isSuccessful && !isNamed && (call === 'revoke' || !document || hasToken(document))) return undefined
  const judged = judgedBy(errors.judge, answer.status, document, report)
  const refusing: Refusing = {
    exchange: call === 'revoke' ? 'obtain' : call,
    status: isSuccessful ? 400 : answer.status,
    document,
    isOfLogin: needsLogin && call === 'refresh',
  }
  const meant = errorMeaning(refusing, errors.words, judged)
  // WeChat and Withings report errors under status 200, too, in words of their own.
  if (isSuccessful && !isNamed && meant.meaning === undefined) return undefined
  const option = call === 'revoke' ? 'revocationEndpoint' : 'tokenEndpoint'
  return errorResponseFor(refusing, meant, judged !== undefined, answer, option)
}

export function hasToken(document: Members): boolean {
  return holdersOfToken(document).length > 0
}

function errorResponseFor(
  { exchange, status, document, isOfLogin }: Refusing,
  { word, meaning }: Meant,
  isJudged: boolean,
  answer: TokenResponse,
  option: string,
): ErrorResponse {
  const isRejected = status >= 400 && failureOfStatus(exchange, status).outcome === 'rejected'
  const isPage = isRejected && !isJudged && /^\s*</.test(answer.text)
  // The words of a gateway that fails, or of a redirect, say nothing about the refresh token, unless somebody has judged the whole answer.
  const told = isRejected || isJudged ? meaning : undefined
  const meant = failureOfResponse(exchange, isJudged ? 400 : status, told, isOfLogin)
  // Whatever the status of a page is, it does not refuse the refresh token of a login.
  const ofPage: Failure = isPage && isOfLogin ? { ...meant, refreshToken: 'kept' } : meant
  const failure = !isJudged && isFromIntermediary(answer) ? failureAtIntermediary(exchange) : ofPage
  const other = meaning === undefined && failure.outcome === 'rejected' ? otherProtocol(document) : undefined
  const ofAnswer = other ?? (word && ADVICE.get(told))
  const advice =
    ofAnswer ??
    generalAdvice(failure, { ...answer, status }, option) ??
    adviceOn(failure) ??
    (isOfLogin && document && meaning === undefined && failure.code === 'ERR_CREDENTIALS_REJECTED'
      ? UNKNOWN_WORDS
      : `check ${option}, and the client`)
  return { failure, meaning: told, advice: word === undefined ? advice : `${word}: ${advice}`, serviceCode: word }
}

function adviceOn({ refreshToken, loginReason }: Failure): string | undefined {
  if (loginReason) return 'the server wants the person to log in'
  return refreshToken && refreshToken !== 'kept' ? 'the refresh token was refused' : undefined
}

const UNKNOWN_WORDS = 'the server refuses the refresh token in words that are not known'

const ADVICE: ReadonlyMap<string | undefined, string> = /* @__PURE__ */ new Map([
  // RFC 9449, sections 5 and 8
  ['use_dpop_nonce', 'the server refused the nonce that it had sent, or wants a proof: give dpop'],
  ['invalid_dpop_proof', 'the server refused the proof; check its algorithms, and the clock of this machine'],
  [
    'invalid_client',
    'check clientId, clientSecret and clientAuthentication; some servers accept only post, or do not allow this grant to this client',
  ],
  ['unauthorized_client', 'the server does not allow this grant to this client'],
  ['unsupported_grant_type', 'the server does not know this grant; check tokenEndpoint'],
  ['unsupported_token_type', 'the server does not revoke such a token'],
  ['invalid_scope', 'check scope'],
  ['invalid_target', 'check audience and resource in parameters, and scope'],
  ['invalid_request', 'check parameters and clientAuthentication'],
  ['access_denied', 'check the client, scope, and audience in parameters'],
])
