import { RESPONSE_FINGERPRINT } from '../core/token-source.ts'
import { fingerprintOf } from '../core/digest.ts'
import { detailsOf, errorWith, outcomeOf, type TokenError } from '../core/errors.ts'
import type { TokenResponse } from '../wire/token-response.ts'
import { documentIn, type Members } from './document.ts'
import { errorCodesIn } from './error-words.ts'
import { hasToken } from './error-response.ts'

/**
 * Marks the error of a login's refresh if the response does not show whether the refresh token is valid: the manager compares such responses, and discards the
 * token if they stay the same. A JSON response of status 2xx without a token is unclear, too. A web page is not: it comes from a portal.
 *
 * @param hasErrors Whether the user can set the option `errors`.
 */
export async function markUnclear(error: TokenError, { text }: TokenResponse, hasErrors: boolean): Promise<TokenError> {
  const document = documentIn(text)
  const isUnclear =
    error.code === 'ERR_TOKEN_RESPONSE'
      ? document !== undefined && !hasToken(document)
      : outcomeOf(error) === 'rejected' && detailsOf(error).refreshToken === undefined
  if (!isUnclear) return error
  const marked = errorWith(error, { message: `${error.message}${IF_REPEATED}${hasErrors ? MAP_THEM : ''}` })
  // Not enumerable, so that it is not printed.
  return Object.defineProperty(marked, RESPONSE_FINGERPRINT, {
    value: await fingerprintOf(comparableText(document)).catch(() => ''),
  })
}

const IF_REPEATED = '. If the server returns the same for ten minutes, a login is required'
const MAP_THEM = '. The option errors of oauth2 maps its error codes'

/** The error codes, the names of the members, and all values that may be codes (F373). */
function comparableText(document: Members = {}): string {
  return JSON.stringify([errorCodesIn(document).filter(isShortCode), codesIn(document)])
}

/** A longer text may contain a number that changes each time. */
function isShortCode(text: string): boolean {
  return /^[\w.:-]{1,64}$/.test(text)
}

/** The values of members with such names differ from response to response, whatever the error. */
const LABEL =
  /(^|[_.-])(id|ids|at|on|ts|ip|host|node|server|time|date|expires|elapsed|duration|took|nonce|key|sign|seq|count|retry|path|uri|url)$|(Id|ID|At|Time|Date|Ms|Url|Key)$|request|trace|span|stamp|uuid|guid|correlation|session|token|signature|hash|latency|remaining/
const DEEPEST = 4

/** @returns The members sorted by name, with the values that may be codes. */
function codesIn(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return isCode(value) ? value : null
  if (depth >= DEEPEST) return null
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, inner]) => [name, LABEL.test(name) ? null : codesIn(inner, depth + 1)])
}

/** A number of at most nine digits, or a short code. Instants and random strings are longer. */
function isCode(value: unknown): boolean {
  return /^(-?\d{1,9}|true|false|[A-Za-z][\w.:-]{0,14}|[A-Za-z][A-Za-z_.:-]{0,63})$/.test(String(value))
}
