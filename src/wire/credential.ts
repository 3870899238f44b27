import { errorWith, isTokenError, outcomeOf, TokenError } from '../core/errors.ts'
import { checkText } from '../core/option-checks.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import { toTokenError } from './to-token-error.ts'

/**
 * Rejects values that no service issues, but that files, shells and templates produce by mistake.
 *
 * @throws {TypeError} naming the option, never its value.
 */
export function checkCredential(name: string, value: unknown): asserts value is string {
  if (value === undefined || value === '')
    throw new TypeError(
      `${name} must be given, got ${value === '' ? 'an empty string' : 'undefined'}: is the environment variable set?`,
    )
  checkText(name, value)
  if (/^\s*(undefined|null)\s*$/.test(value))
    throw new TypeError(
      `${name} must be a credential, not the word undefined or null: is the environment variable set?`,
    )
  if (/\p{Cc}/u.test(value))
    throw new TypeError(
      `${name} must have no line breaks or other control characters: trim the newline of the file that it is read from`,
    )
  // A lone surrogate has no UTF-8 form.
  if (/\p{Surrogate}/u.test(value)) throw new TypeError(`${name} must be well-formed text`)
}

/**
 * Calls a function of the user that provides a part of a token request, and checks the result.
 *
 * @param name The name of the function, for messages.
 * @param check Throws an error whose message contains no secret.
 * @param context The context of the exchange, if the exchange has not sent a request yet.
 * @throws {TokenError} as if the exchange had failed, so that a failing vault is not called again at once.
 */
export async function fromFunction<Given>(
  name: string,
  ask: () => unknown,
  check: (given: unknown) => Given,
  context?: ExchangeContext,
): Promise<Given> {
  let given: unknown
  const { waitsFor } = context ? internalOf(context) : {}
  waitsFor?.(`The ${name} function`)
  try {
    given = await ask()
  } catch (thrown) {
    throw functionFailed(name, thrown)
  } finally {
    waitsFor?.(undefined)
  }
  try {
    return check(given)
  } catch (error) {
    const message = `The ${name} function returned an unusable value: ${(error as TypeError).message}`
    throw new TokenError('ERR_TOKEN_SOURCE', message, { outcome: 'not-sent', cause: error })
  }
}

/**
 * The error of a function that failed. No token request was sent, so the refresh token stays valid, and the outcome only affects pauses and retries.
 * The function may have called another manager, whose error is about another refresh token and another login.
 */
function functionFailed(name: string, thrown: unknown): TokenError {
  const error = toTokenError(thrown, 'obtain')
  const stated = outcomeOf(error)
  // The manager respects a Retry-After only with these two outcomes.
  const outcome = stated === 'deferred' || stated === 'unknown-5xx' ? stated : 'not-sent'
  const message = isTokenError(thrown) ? error.message : `The ${name} function failed: no token request was sent`
  return errorWith(error, { message, outcome, refreshToken: 'kept', loginReason: undefined })
}
