import type { Account } from '../core/account.ts'
import type { Acts } from '../core/acts.ts'
import { LOGIN_CODE, type LoginLayer } from '../core/login-layer.ts'
import type { LoginChecker, LoginCode, LoginHost, Logins } from '../core/login-port.ts'
import type { StoredTokens } from '../core/stored-tokens.ts'
import type { TokenError } from '../core/errors.ts'
import { member } from '../core/thrown.ts'
import { bare } from '../core/whole.ts'
import { type Family, stopIn } from './family.ts'

/** Facts about the login, which its managers share: what one of them learns about a refresh token holds for all. */
const SHARED = ['spent', 'discarded', 'met5xx', 'lateTokens', 'staleAt'] as const

/** The login layer of a resource. The login, and the acts on it, are those of the manager that the resource belongs to. */
export function sharedLogin(family: Family, joined: (account: Account, host: LoginHost) => void): LoginLayer {
  const { login, settings } = family.account
  const { rules, logins } = settings
  const code: LoginCode<Account> = {
    rules,
    keepsMs: logins.keepsMs,
    view: login && (() => login),
    open(account, host) {
      share(account, family)
      joined(account, host)
      return { logins: new ResourceLogins(account, family), checker: checkerOf(family) }
    },
  }
  return Object.freeze(Object.defineProperty({ kind: 'person' as const }, LOGIN_CODE, { value: Object.freeze(code) }))
}

function share(account: Account, { account: parent, machine }: Family): void {
  for (const name of SHARED)
    Object.defineProperty(
      account,
      name,
      bare({ get: () => parent[name], set: (value: never) => void Object.assign(parent, { [name]: value }) }),
    )
  let own: Account['backoff']
  // If `onSuspicious` has stopped the manager of the login, it has stopped its resources, too.
  const backoff = { get: () => stopIn(parent) ?? own, set: (next: typeof own) => (own = next) }
  Object.defineProperty(account, 'backoff', bare(backoff))
  const { acts, work } = parent
  const shared: Pick<Acts, 'arePending' | 'noted' | 'after'> = {
    get arePending() {
      return acts.arePending
    },
    noted: () => acts.noted(),
    // One exchange at a time: each needs the refresh token that the previous one returned.
    after: (renew) => acts.after(() => machine.afterExchange(renew)),
  }
  Object.defineProperties(account, { acts: { value: shared }, work: { value: work } })
}

/** The manager of the login reports what a renewal for a resource finds out about the login. */
class ResourceLogins implements Logins {
  readonly #account: Account
  readonly #login: Account
  readonly #logins: Logins

  constructor(account: Account, { account: login, machine }: Family) {
    this.#account = account
    this.#login = login
    this.#logins = machine.logins
  }

  use(tokens: StoredTokens, by: 'here' | 'elsewhere'): void {
    this.#logins.use(tokens, by)
  }

  lost(error: TokenError, by: 'here' | 'elsewhere'): number | undefined {
    this.#logins.lost?.(error, by)
    this.concludeLoss()
    const { current } = this.#account
    return current?.validToken === undefined ? undefined : current.remainingMs
  }

  /** Drops the token if the login is lost and the API has rejected the token: no other token will follow. */
  concludeLoss(): void {
    const { current, login } = this.#account
    this.#logins.concludeLoss?.()
    const isLost = login && (!login.isPresent || member(login, 'loss') !== undefined)
    if (isLost && current?.isRejected) this.#account.current = undefined
  }

  stop(error: TokenError, by: 'here' | 'elsewhere'): void {
    const { backoff } = this.#account
    this.#login.forget()
    this.#login.backoff = backoff
    this.#logins.stop(error, by)
  }

  adopt = noAct
  adoptPromised = noAct
  logout = noAct
  reset = noAct
}

function noAct(): Promise<never> {
  return Promise.reject(new TypeError('Call adopt, reset and logout on the manager of the login'))
}

function checkerOf({ machine: { checker } }: Family): LoginChecker {
  return {
    check: async () => checker?.check(),
    checkOnce: async () => checker?.checkOnce(),
    learned: () => checker?.learned(),
    resume: () => checker?.resume(),
    follow: () => checker?.follow() ?? (() => undefined),
    close: () => undefined,
  }
}
