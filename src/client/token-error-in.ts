import { isTokenError as isItself, type TokenError, type TokenErrorCode } from '../core/errors.ts'
import { member } from '../core/thrown.ts'

/** Where clients keep what their fetch rejected with: ES2022, openai, @slack/web-api, @octokit/request; stripe; older @slack/web-api. */
const HOLDERS = ['cause', 'detail', 'original']
const MOST_WRAPPERS = 4

/**
 * The `TokenError` behind an error of a client: the error itself, or one that it holds in `cause`, `detail` or `original`, at most four deep. The
 * outermost one counts. A client that was given a fetch of `withBearer` takes its rejection for a broken network, and wraps it.
 *
 * @example
 * ```ts
 * import { tokenErrorIn } from 'axios-evergreen'
 *
 * await api.get('/wallet').catch((error: unknown) => {
 *   const found = tokenErrorIn(error)
 *   if (!found) throw error // the API answered, or could not be reached
 *   console.warn(found.code, found.retryable ? `again from ${new Date(found.retryAt ?? Date.now())}` : found.message)
 * })
 * ```
 * @returns undefined if there is none.
 */
export function tokenErrorIn(error: unknown): TokenError | undefined {
  let layer = [error]
  for (let wrappers = 0; wrappers <= MOST_WRAPPERS; wrappers += 1) {
    const found = layer.find((one) => isItself(one))
    if (found) return found
    layer = layer.flatMap((one) => HOLDERS.map((name) => member(one, name)))
  }
  return undefined
}

/**
 * Whether there is a `TokenError` of any copy of this package behind `value`, with this `code` if one is given. Looks as `tokenErrorIn` does, which
 * gives the error itself: a wrapper has none of its members. `instanceof TokenError` asks about `value` alone.
 *
 * @example
 * ```ts
 * import { isTokenError } from 'axios-evergreen'
 *
 * await api.get('/wallet').catch((error: unknown) => {
 *   if (isTokenError(error, 'ERR_THROTTLED')) console.warn('too many token calls')
 *   else throw error
 * })
 * ```
 */
export function isTokenError(value: unknown, code?: TokenErrorCode): value is TokenError {
  const found = tokenErrorIn(value)
  return found !== undefined && (code === undefined || found.code === code)
}
