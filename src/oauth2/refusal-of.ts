import type { Exchange } from '../core/token-source.ts'
import { type Failure, failureOfStatus } from '../wire/failure.ts'
import { failureOfAnswer } from '../wire/oauth-errors.ts'
import { generalAdvice } from '../wire/refusal.ts'
import { type Answered, isSuccess } from '../wire/answered.ts'
import { documentIn, errorIn, memberOf, otherProtocol } from './document.ts'
import { type ErrorMeanings, errorMeaning, isKnownWord } from './error-meaning.ts'

/** What a complete answer that refuses means (RFC 6749, section 5.2), and what to do about it. */
export interface Refusal {
  readonly failure: Failure
  readonly advice: string
  /** The error word of the answer, if it is known. */
  readonly serviceCode: string | undefined
}

/** Whether an answer refuses, whatever its status: GitHub, Slack and Zoho report errors under status 200. Some known errors are two words. */
export function namesError(text: string, errors: ErrorMeanings): boolean {
  const document = documentIn(text)
  return errorIn(document) !== undefined || isKnownWord(memberOf(document, 'error'), errors)
}

/** @param option The option that holds the address, for the advice. */
export function refusalOf(
  exchange: Exchange,
  answer: Answered,
  { errors, needsLogin }: { readonly errors: ErrorMeanings; readonly needsLogin: boolean },
  option = 'tokenEndpoint',
): Refusal {
  const document = documentIn(answer.text)
  const status = isSuccess(answer.status) ? 400 : answer.status
  const isRejected = status >= 400 && failureOfStatus(exchange, status).outcome === 'rejected'
  const isOfLogin = needsLogin && exchange === 'refresh'
  const { word, meaning } = errorMeaning(exchange, status, document, errors, isOfLogin)
  // The words of a gateway that fails, or of a redirect, say nothing about the refresh token.
  const meant = failureOfAnswer(exchange, status, isRejected ? meaning : undefined, needsLogin)
  const isPage = isOfLogin && isRejected && /^\s*</.test(answer.text)
  // A web page comes from a server in between, which has not seen the refresh token.
  const failure: Failure = isPage ? { ...meant, refreshToken: 'kept' } : meant
  const advice =
    (meaning === undefined && failure.outcome === 'rejected' ? otherProtocol(document) : undefined) ??
    (meaning === undefined ? undefined : PROOF_ADVICE.get(meaning)) ??
    generalAdvice(failure, { ...answer, status }, option) ??
    (failure.loginReason && 'the server wants the person to log in') ??
    (['refused', 'unusable'].includes(failure.refreshToken ?? '') ? 'the refresh token was refused' : undefined) ??
    (word === undefined ? undefined : ADVICE.get(meaning)) ??
    `check ${option}, and the client`
  return { failure, advice: word === undefined ? advice : `${word}: ${advice}`, serviceCode: word }
}

/** RFC 9449, sections 5 and 8. */
const PROOF_ADVICE: ReadonlyMap<string, string> = new Map([
  ['use_dpop_nonce', 'the server refused the nonce that it had sent, or wants a proof: give dpop'],
  ['invalid_dpop_proof', 'the server refused the proof; check its algorithms, and the clock of this machine'],
])

const ADVICE: ReadonlyMap<string | undefined, string> = new Map([
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
