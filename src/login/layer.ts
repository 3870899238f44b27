import type { Account } from '../core/account.ts'
import { isOfLogin } from '../core/lease.ts'
import { LOGIN_CODE, type LoginLayer } from '../core/login-layer.ts'
import type { LoginCode } from '../core/login-port.ts'
import type { Rules } from '../core/situation.ts'
import { RecordChecker } from './record-checker.ts'
import type { LoginAccount } from './login-account.ts'
import { LoginWatch } from './login-watch.ts'
import { UserLogins } from './user-logins.ts'

/** Creates a login layer. Only its `kind` is public. @param keepsMs See `LoginCode`. */
export function loginLayer(kind: LoginLayer['kind'], rules: Rules, keepsMs: number): LoginLayer {
  const code: LoginCode<Account> = {
    rules,
    keepsMs,
    view: (events, isAlone) => new LoginWatch(events, !isOfLogin(rules), isAlone),
    open(account, host) {
      const own = account as LoginAccount
      const logins = new UserLogins(own, host)
      return { logins, checker: new RecordChecker(own, host, logins) }
    },
  }
  return Object.freeze(Object.defineProperty({ kind }, LOGIN_CODE, { value: Object.freeze(code) }))
}
