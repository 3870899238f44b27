import type { Account } from '../core/account.ts'
import type { LoginWatch } from './login-watch.ts'

/** The account of a manager whose source has a login. */
export interface LoginAccount extends Account {
  readonly login: LoginWatch
}
