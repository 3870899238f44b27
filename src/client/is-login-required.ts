import { member } from '../core/thrown.ts'
import type { TokenManager } from '../core/token-manager.ts'
import { isUnauthorized } from './bearer-options.ts'
import { tokenErrorIn } from './token-error-in.ts'

/**
 * Whether the user must log in. For the error handler of a server that responds with 401, or of a page that shows the login form.
 *
 * True for `ERR_LOGIN_REQUIRED`, of any copy of this package, also inside an error of a client (`tokenErrorIn`). With `tokens`, also for a 401 of the
 * API while `tokens.status().login` is `required`: the first request after a logout elsewhere may receive one. The 401 may be a response or an error of
 * axios, a `Response`, or an error of a fetch client that has the `response`. A 401 while there is a login means something else, and so does
 * `ERR_LOGIN_REPLACED`: another user is logged in.
 *
 * @param error What a request rejected or resolved with.
 * @param tokens The manager of this user.
 *
 * @example
 * ```ts
 * import { isLoginRequired } from 'axios-evergreen'
 *
 * await api.get('/wallet').catch((error: unknown) => {
 *   if (!isLoginRequired(error, tokens)) throw error
 *   console.warn('log in', tokens.status().loginReason)
 * })
 * ```
 */
export function isLoginRequired(error: unknown, tokens?: Pick<TokenManager, 'status'>): boolean {
  const found = tokenErrorIn(error)
  if (found) return found.code === 'ERR_LOGIN_REQUIRED'
  const is401 = [error, member(error, 'response')].some((one) => isUnauthorized({ status: member(one, 'status') }))
  return is401 && member(tokens?.status(), 'login') === 'required'
}
