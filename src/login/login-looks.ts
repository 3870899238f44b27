import type { IsLast } from '../core/acts.ts'
import type { LoginHost, Looks } from '../core/login-port.ts'
import { loginRequired } from './login-required.ts'
import type { PeopleLogins } from './logins.ts'
import type { LoginAccount } from './login-account.ts'
import { ASK_MS } from '../core/status.ts'
import type { Looked } from '../core/token-store.ts'

/** Looks in the record whether somebody has logged in or out elsewhere. A look makes no claim and no call. */
export class LoginLooks implements Looks {
  readonly #account: LoginAccount
  readonly #host: Pick<LoginHost, 'isIdle'>
  readonly #logins: Pick<PeopleLogins, 'lost' | 'useStored'>
  #noticing: Promise<void> | undefined
  /** How many follow the login. */
  #followers = 0
  /** Whether the store tells this manager of changes. */
  #isTold = false
  /** Whether nobody has looked because a renewal ran, or a login was under way. */
  #owesLook = false
  #cancelLook: (() => void) | undefined

  constructor(account: LoginAccount, host: Pick<LoginHost, 'isIdle'>, logins: PeopleLogins) {
    this.#account = account
    this.#host = host
    this.#logins = logins
  }

  async look(): Promise<void> {
    const account = this.#account
    const { acts, login } = account
    // Whoever had the login before is of no interest, unless the manager still serves that login.
    this.#owesLook = !this.#host.isIdle() || (login.isPending && account.current?.living === undefined)
    if (this.#owesLook) return
    const isLast = acts.noted()
    await acts.after(() => Promise.resolve())
    const { seenVersion } = account
    const looked = await account.settings.record.look?.(seenVersion, login.number).catch(() => 'failed' as const)
    if (!this.#host.isIdle()) this.#owesLook = true
    else if (looked === 'failed') this.#lookLater()
    else if (looked && account.seenVersion === seenVersion) this.#learn(looked, isLast)
  }

  /** What a look has waited for has ended. Nobody else would tell those who follow. */
  resume(): void {
    if (this.#owesLook && this.#followers > 0) void this.look()
  }

  close(): void {
    this.#cancelLook?.()
  }

  #lookLater(): void {
    this.#cancelLook?.()
    if (this.#followers > 0) this.#cancelLook = this.#account.settings.clock.setTimer(() => void this.look(), ASK_MS)
  }

  /** What the record has told. */
  #learn(looked: Looked, isLast: IsLast): void {
    if (looked.kind === 'newer') this.#logins.useStored(looked.tokens, isLast)
    else if (isLast() && this.#isEnd(looked))
      this.#logins.lost(
        looked.kind === 'cooling'
          ? loginRequired(looked.coolDown.loginReason ?? 'refused', looked.coolDown)
          : loginRequired(looked.missing),
        'elsewhere',
      )
  }

  /** An empty record says nothing of a session, but that somebody has logged out of the one that this manager uses. */
  #isEnd(looked: Exclude<Looked, { kind: 'newer' }>): boolean {
    const { login, settings } = this.#account
    return settings.needsLogin || looked.kind === 'cooling' || (looked.missing === 'logged-out' && login.isPresent)
  }

  /** Looks whether the login has ended elsewhere, unless a renewal asks the record. Callers wait for it, so it never rejects. */
  notice(): Promise<void> {
    return (this.#noticing ??= this.look().finally(() => {
      this.#noticing = undefined
      this.noted()
    }))
  }

  /** The manager has just learnt of its login, or has asked a store that is silent. */
  noted(): void {
    const { clock, renewal, store } = this.#account.settings
    const isShared = store && !this.#isTold
    this.#account.noticeAt = isShared ? clock.monotonicNow() + renewal.maxStalenessMs : Infinity
  }

  /** Looks now, whenever the record may have changed, and again if the store fails. @returns stop */
  follow(): () => void {
    this.#followers += 1
    void this.look()
    const stop = this.#account.settings.record.watch?.(() => void this.look())
    this.#isTold = stop !== undefined
    this.noted()
    return () => {
      stop?.()
      this.#followers -= 1
      if (this.#followers > 0) return
      this.#isTold = false
      this.#cancelLook?.()
      this.noted()
    }
  }
}
