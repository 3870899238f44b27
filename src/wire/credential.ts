import { errorWith, isTokenError, outcomeOf, TokenError } from '../core/errors.ts'
import { checkText } from '../core/option-checks.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import { toTokenError } from './to-token-error.ts'

/**
 * Refuses values that no service issues, but that files, shells and templates produce by mistake.
 *
 * @throws {TypeError} naming the option, never its value.
 */
export function checkCredential(name: string, value: unknown): asserts value is string {
  if (value === undefined || value === '')
    throw new TypeError(
      `${name} must be given, got ${value === '' ? 'an empty text' : 'undefined'}: is the environment variable set?`,
    )
  checkText(name, value)
  if (/^\s*(undefined|null)\s*$/.test(value))
    throw new TypeError(
      `${name} must be a credential, not the word undefined or null: is the environment variable set?`,
    )
  if (/\p{Cc}/u.test(value))
    throw new TypeError(
      `${name} must have no line break and no other control character: trim the newline of the file that it is read from`,
    )
  // A lone surrogate has no UTF-8 form.
  if (/\p{Surrogate}/u.test(value)) throw new TypeError(`${name} must be well-formed text`)
}

/**
 * Calls a user's function for what a token call needs, and checks the result.
 *
 * @param name The name of the function, for messages.
 * @param check Throws an error whose message holds no secret.
 * @param context Of the exchange, if nothing has been sent in it.
 * @throws {TokenError} as if the exchange had failed, so that a vault that refuses is not asked again at once.
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
    const message = `The ${name} function gave an unusable value: ${(error as TypeError).message}`
    throw new TokenError('ERR_TOKEN_SOURCE', message, { outcome: 'not-sent', cause: error })
  }
}

/**
 * No token call was made, so the refresh token of that call stays good. The status counts only for pauses and retries. The function may have asked
 * another manager: its verdict is about another refresh token, and about another login.
 */
function functionFailed(name: string, thrown: unknown): TokenError {
  const error = toTokenError(thrown, 'obtain')
  const stated = outcomeOf(error)
  // Only with these two outcomes the manager respects a Retry-After.
  const outcome = stated === 'deferred' || stated === 'unknown-5xx' ? stated : 'not-sent'
  const message = isTokenError(thrown) ? error.message : `The ${name} function failed: no token call was made`
  return errorWith(error, { message, outcome, refreshToken: 'kept', loginReason: undefined })
}
