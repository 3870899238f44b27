import { member } from '../core/thrown.ts'
import type { TokenManager } from '../core/token-manager.ts'
import { tokenErrorIn } from './token-error-in.ts'

/**
 * Whether the person must log in. For the one handler of a server or a page that answers with 401, or shows the login.
 *
 * True for `ERR_LOGIN_REQUIRED`, of any copy of this package, also behind an error of a client (`tokenErrorIn`). With `tokens` also for an answer 401 of the API, while `tokens.status().login` is
 * `required`: the first request after a logout elsewhere may meet that. The answer may be a response or an error of axios, a `Response`, or an error
 * of a fetch client that has the `response`. A 401 while there is a login means something else.
 *
 * @param error What a request rejected with, or was answered.
 * @param tokens The manager of this person.
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
  const isRejected = [error, member(error, 'response')].some((answer) => member(answer, 'status') === 401)
  return isRejected && member(tokens?.status(), 'login') === 'required'
}
