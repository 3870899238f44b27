import type { IsLast } from '../core/acts.ts'
import type { LoginHost, LoginChecker } from '../core/login-port.ts'
import { loginRequired } from './login-required.ts'
import type { UserLogins } from './user-logins.ts'
import type { LoginAccount } from './login-account.ts'
import { ASK_MS } from '../core/status.ts'
import { type CheckResult, isOfLogin } from '../core/lease.ts'

/** Checks in the record whether a user has logged in or out elsewhere. A check takes no lease and makes no token request. */
export class RecordChecker implements LoginChecker {
  readonly #account: LoginAccount
  readonly #host: Pick<LoginHost, 'isIdle'>
  readonly #logins: Pick<UserLogins, 'lost' | 'useStored'>
  #checking: Promise<void> | undefined
  /** The number of followers of the login. */
  #followers = 0
  /** Whether the store notifies this manager of changes. */
  #isNotified = false
  /** Whether a check was skipped because a renewal was in flight or a login pending. */
  #isCheckPending = false
  #cancelCheck: (() => void) | undefined
  #stopWatching: (() => void) | undefined
  /**
   * Makes requests check the record, but not before a second has passed: a renewal causes two changes, and one check suffices. The store holds this function
   * weakly.
   */
  readonly #onChange = () => {
    const account = this.#account
    account.staleAt = Math.min(account.staleAt, account.settings.clock.monotonicNow() + ASK_MS)
  }

  constructor(account: LoginAccount, host: Pick<LoginHost, 'isIdle'>, logins: UserLogins) {
    this.#account = account
    this.#host = host
    this.#logins = logins
  }

  async check(): Promise<void> {
    const account = this.#account
    const { acts, login } = account
    // While a login is pending, the record is irrelevant unless the manager still uses the login before it.
    this.#isCheckPending = !this.#host.isIdle() || login.awaitsPending(account.current)
    if (this.#isCheckPending) return
    const isLast = acts.noted()
    await acts.after(() => Promise.resolve())
    const { seenVersion } = account
    const found = await account.settings.record.check?.(seenVersion, login.number).catch(() => 'failed' as const)
    if (!this.#host.isIdle()) this.#isCheckPending = true
    else if (found === 'failed') this.#checkLater()
    else if (found && account.seenVersion === seenVersion) this.#apply(found, isLast)
  }

  /** Runs a check that was skipped. Nothing else would notify the followers. */
  resume(): void {
    if (this.#isCheckPending && this.#followers > 0) void this.check()
  }

  close(): void {
    this.#cancelCheck?.()
    this.#stopWatching?.()
  }

  #checkLater(): void {
    this.#cancelCheck?.()
    if (this.#followers > 0) this.#cancelCheck = this.#account.settings.clock.setTimer(() => void this.check(), ASK_MS)
  }

  #apply(found: CheckResult, isLast: IsLast): void {
    if (found.kind === 'newer') this.#logins.useStored(found.tokens, isLast)
    else if (isLast() && this.#isEnd(found))
      this.#logins.lost(
        found.kind === 'cooling'
          ? loginRequired(found.coolDown.loginReason ?? 'refused', found.coolDown)
          : loginRequired(found.missing),
        'elsewhere',
      )
  }

  /** Whether a check result ends the login. For a session, an empty record counts only after a logout, and only if the manager has a login. */
  #isEnd(found: Exclude<CheckResult, { kind: 'newer' }>): boolean {
    const { login, settings } = this.#account
    return isOfLogin(settings.rules) || found.kind === 'cooling' || (found.missing === 'logged-out' && login.isPresent)
  }

  /** Checks whether the login has ended elsewhere, unless a renewal reads the record. Callers wait for it, so it never rejects. */
  checkOnce(): Promise<void> {
    return (this.#checking ??= this.check().finally(() => {
      this.#checking = undefined
      this.learned()
    }))
  }

  /** Schedules the next check. Called after the manager has read the record, or the store has failed to respond. */
  learned(): void {
    const { clock, record, renewal, store } = this.#account.settings
    // The manager's last reading may be older than its watch, so the first check is still due.
    const isWatched = this.#stopWatching !== undefined && record.isWatched?.() === true
    if (record.isWatched) this.#stopWatching ??= record.watch?.(this.#onChange)
    const needsChecks = store && !this.#isNotified && !isWatched
    this.#account.staleAt = needsChecks ? clock.monotonicNow() + renewal.maxStalenessMs : Infinity
  }

  /** Checks now, whenever the record may have changed, and again after a failure of the store. @returns A function that stops this. */
  follow(): () => void {
    this.#followers += 1
    void this.check()
    const stop = this.#account.settings.record.watch?.(() => void this.check())
    this.#isNotified = stop !== undefined
    this.learned()
    return () => {
      stop?.()
      this.#followers -= 1
      if (this.#followers > 0) return
      this.#isNotified = false
      this.#cancelCheck?.()
      this.learned()
    }
  }
}
