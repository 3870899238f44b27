import { SAYING } from '../core/token-source.ts'
import { fingerprintOf } from '../core/digest.ts'
import { detailsOf, errorWith, outcomeOf, type TokenError } from '../core/errors.ts'
import type { Answered } from '../wire/answered.ts'
import { documentIn, type Members } from './document.ts'
import { wordsIn } from './error-meaning.ts'
import { hasToken } from './error-response.ts'

/**
 * Tells the error of a login's refresh again, if the answer says nothing known of the refresh token: the manager compares such answers, and gives the
 * token up at last. An answer of status 2xx in JSON that brings no token is one of them. A web page is none: a portal shows it.
 */
export async function saidAgain(error: TokenError, { text }: Answered): Promise<TokenError> {
  const document = documentIn(text)
  const isUnclear =
    error.code === 'ERR_TOKEN_RESPONSE'
      ? document !== undefined && !hasToken(document)
      : outcomeOf(error) === 'rejected' && detailsOf(error).refreshToken === undefined
  if (!isUnclear) return error
  const told = errorWith(error, { message: `${error.message}${IF_IT_GOES_ON}` })
  // Not enumerable: nothing prints it.
  return Object.defineProperty(told, SAYING, { value: await fingerprintOf(saidIn(document)).catch(() => '') })
}

const IF_IT_GOES_ON =
  '. If it says the same for ten minutes, a login is required. The option errors of oauth2 teaches what its words mean'

/** The words, and the names of the members, not their values: one may be the number of the request. */
function saidIn(document: Members = {}): string {
  return JSON.stringify([wordsIn(document).filter(isOneWord), Object.keys(document).sort()])
}

/** A longer text may have another number in it each time. */
function isOneWord(text: string): boolean {
  return /^[\w.:-]{1,64}$/.test(text)
}
