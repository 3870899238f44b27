import type { IsLast } from '../core/acts.ts'
import type { LoginHost, LoginChecker } from '../core/login-port.ts'
import { loginRequired } from './login-required.ts'
import type { UserLogins } from './user-logins.ts'
import type { LoginAccount } from './login-account.ts'
import { ASK_MS } from '../core/status.ts'
import type { CheckResult } from '../core/token-store.ts'

/** Looks in the record whether somebody has logged in or out elsewhere. A look makes no claim and no call. */
export class RecordChecker implements LoginChecker {
  readonly #account: LoginAccount
  readonly #host: Pick<LoginHost, 'isIdle'>
  readonly #logins: Pick<UserLogins, 'lost' | 'useStored'>
  #noticing: Promise<void> | undefined
  /** How many follow the login. */
  #followers = 0
  /** Whether the store tells this manager of changes. */
  #isNotified = false
  /** Whether nobody has looked because a renewal ran, or a login was under way. */
  #isCheckPending = false
  #cancelCheck: (() => void) | undefined
  #stopWatching: (() => void) | undefined
  /** The next request checks. One check a second is enough: a renewal is two changes. The store holds this function weakly. */
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
    // Whoever had the login before is of no interest, unless the manager still serves that login.
    this.#isCheckPending = !this.#host.isIdle() || (login.isPending && account.current?.living === undefined)
    if (this.#isCheckPending) return
    const isLast = acts.noted()
    await acts.after(() => Promise.resolve())
    const { seenVersion } = account
    const found = await account.settings.record.check?.(seenVersion, login.number).catch(() => 'failed' as const)
    if (!this.#host.isIdle()) this.#isCheckPending = true
    else if (found === 'failed') this.#checkLater()
    else if (found && account.seenVersion === seenVersion) this.#learn(found, isLast)
  }

  /** What a look has waited for has ended. Nobody else would tell those who follow. */
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

  /** What the record has told. */
  #learn(found: CheckResult, isLast: IsLast): void {
    if (found.kind === 'newer') this.#logins.useStored(found.tokens, isLast)
    else if (isLast() && this.#isEnd(found))
      this.#logins.lost(
        found.kind === 'cooling'
          ? loginRequired(found.coolDown.loginReason ?? 'refused', found.coolDown)
          : loginRequired(found.missing),
        'elsewhere',
      )
  }

  /** An empty record says nothing of a session, but that somebody has logged out of the one that this manager uses. */
  #isEnd(found: Exclude<CheckResult, { kind: 'newer' }>): boolean {
    const { login, settings } = this.#account
    return settings.needsLogin || found.kind === 'cooling' || (found.missing === 'logged-out' && login.isPresent)
  }

  /** Looks whether the login has ended elsewhere, unless a renewal asks the record. Callers wait for it, so it never rejects. */
  checkOnce(): Promise<void> {
    return (this.#noticing ??= this.check().finally(() => {
      this.#noticing = undefined
      this.learned()
    }))
  }

  /** The manager has just learnt of its login, or has asked a store that is silent. */
  learned(): void {
    const { clock, record, renewal, store } = this.#account.settings
    // What the manager has learned may be older than its watch: the first check is due all the same.
    const isWatched = this.#stopWatching !== undefined && record.isWatched?.() === true
    if (record.isWatched) this.#stopWatching ??= record.watch?.(this.#onChange)
    const needsChecks = store && !this.#isNotified && !isWatched
    this.#account.staleAt = needsChecks ? clock.monotonicNow() + renewal.maxStalenessMs : Infinity
  }

  /** Looks now, whenever the record may have changed, and again if the store fails. @returns stop */
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
