import { TokenError } from './errors.ts'
import type { Account, Settings } from './account.ts'
import type { CoolDown, Lease } from './lease.ts'

/** The error for callers while the record cools down. The failure may be that of another owner (F224). */
export function coolingError(
  coolDown: CoolDown,
  { login, settings: { store } }: Pick<Account, 'login'> & { readonly settings: Pick<Settings, 'store'> },
): TokenError {
  const { code, loginReason = 'refused' } = coolDown
  if (login && code === 'ERR_LOGIN_REQUIRED') return login.errorOfLoss(loginReason, coolDown)
  return new TokenError(code, store?.others.failure(coolDown) ?? `The last renewal failed (${code})`, coolDown)
}

/** Replaces `ERR_LOGIN_REQUIRED` while the store is unavailable: without it, a process cannot see whether a user has logged in elsewhere. */
export function errorIfPrivate({ isPrivate }: Lease, error: TokenError): TokenError {
  if (!isPrivate || error.code !== 'ERR_LOGIN_REQUIRED') return error
  const message = 'The shared token store is unavailable, and only the store may hold the tokens of a login'
  return new TokenError('ERR_STORE_UNAVAILABLE', message, { outcome: 'not-sent' })
}
