import { SAYING } from '../core/token-source.ts'
import { fingerprintOf } from '../core/digest.ts'
import { detailsOf, errorWith, outcomeOf, type TokenError } from '../core/errors.ts'
import type { TokenResponse } from '../wire/token-response.ts'
import { documentIn, type Members } from './document.ts'
import { wordsIn } from './error-meaning.ts'
import { hasToken } from './error-response.ts'

/**
 * Tells the error of a login's refresh again, if the answer says nothing known of the refresh token: the manager compares such answers, and gives the
 * token up at last. An answer of status 2xx in JSON that brings no token is one of them. A web page is none: a portal shows it.
 */
export async function saidAgain(error: TokenError, { text }: TokenResponse): Promise<TokenError> {
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

/** The words, the names of the members, and whatever may be a code (F373). */
function saidIn(document: Members = {}): string {
  return JSON.stringify([wordsIn(document).filter(isOneWord), codesIn(document)])
}

/** A longer text may have another number in it each time. */
function isOneWord(text: string): boolean {
  return /^[\w.:-]{1,64}$/.test(text)
}

/** Members with such names differ from answer to answer, whatever is wrong. */
const LABEL =
  /(^|[_.-])(id|ids|at|on|ts|ip|host|node|server|time|date|expires|elapsed|duration|took|nonce|key|sign|seq|count|retry|path|uri|url)$|(Id|ID|At|Time|Date|Ms|Url|Key)$|request|trace|span|stamp|uuid|guid|correlation|session|token|signature|hash|latency|remaining/
const DEEPEST = 4

/** @returns The members by name, with the values of those that may be codes. */
function codesIn(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return isCode(value) ? value : null
  if (depth >= DEEPEST) return null
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, inner]) => [name, LABEL.test(name) ? null : codesIn(inner, depth + 1)])
}

/** A number of at most nine digits, or a short word. Instants and random texts are longer. */
function isCode(value: unknown): boolean {
  return /^(-?\d{1,9}|true|false|[A-Za-z][\w.:-]{0,14}|[A-Za-z][A-Za-z_.:-]{0,63})$/.test(String(value))
}
