import { isTokenError as isItself, type TokenError, type TokenErrorCode } from '../core/errors.ts'
import { member } from '../core/thrown.ts'

/** Where clients put the error of their fetch: `cause` (openai, @slack/web-api, @octokit/request), `detail` (stripe), `original` (older @slack/web-api). */
const HOLDERS = ['cause', 'detail', 'original']
const MOST_WRAPPERS = 4

/**
 * Finds the `TokenError` in an error of a client: the error itself, or one in its `cause`, `detail` or `original`, at most four levels deep. The
 * outermost one is returned. A client that uses the fetch of `withBearer` treats its rejection as a network error, and wraps it.
 *
 * @example
 * ```ts
 * import { tokenErrorIn } from 'axios-evergreen'
 *
 * await api.get('/wallet').catch((error: unknown) => {
 *   const found = tokenErrorIn(error)
 *   if (!found) throw error // the API responded, or could not be reached
 *   console.warn(found.code, found.retryable ? `again from ${new Date(found.retryAt ?? Date.now())}` : found.message)
 * })
 * ```
 * @returns undefined if there is none.
 */
export function tokenErrorIn(error: unknown): TokenError | undefined {
  return firstIn(error, (one) => (isItself(one) ? one : undefined))
}

/** @returns The first result of `find` that is not undefined, for the error itself, then for the errors that it wraps. */
export function firstIn<Found>(error: unknown, find: (one: unknown) => Found | undefined): Found | undefined {
  let layer = [error]
  for (let wrappers = 0; wrappers <= MOST_WRAPPERS; wrappers += 1) {
    for (const one of layer) {
      const found = find(one)
      if (found !== undefined) return found
    }
    layer = layer.flatMap((one) => HOLDERS.map((name) => member(one, name)))
  }
  return undefined
}

/**
 * Whether `value` is or wraps a `TokenError` of any copy of this package, with this `code` if one is given. It searches like `tokenErrorIn`, which
 * returns the error itself: a wrapper has none of its members. `instanceof TokenError` checks `value` alone.
 *
 * @example
 * ```ts
 * import { isTokenError } from 'axios-evergreen'
 *
 * await api.get('/wallet').catch((error: unknown) => {
 *   if (isTokenError(error, 'ERR_THROTTLED')) console.warn('too many token requests')
 *   else throw error
 * })
 * ```
 */
export function isTokenError(value: unknown, code?: TokenErrorCode): value is TokenError {
  const found = tokenErrorIn(value)
  return found !== undefined && (code === undefined || found.code === code)
}
