import type { IsLast } from '../core/acts.ts'
import type { LoginHost, Looks } from '../core/login-port.ts'
import { loginRequired } from './login-required.ts'
import type { PeopleLogins } from './logins.ts'
import type { LoginSettings } from './login-settings.ts'
import { ASK_MS } from '../core/status.ts'
import type { Looked } from '../core/token-store.ts'

/** Looks in the record whether somebody has logged in or out elsewhere. A look makes no claim and no call. */
export class LoginLooks implements Looks {
  readonly #settings: LoginSettings
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

  constructor(settings: LoginSettings, host: Pick<LoginHost, 'isIdle'>, logins: PeopleLogins) {
    this.#settings = settings
    this.#host = host
    this.#logins = logins
  }

  async look(): Promise<void> {
    const { acts, record, memory, login } = this.#settings
    // Whoever had the login before is of no interest, unless the manager still serves that login.
    this.#owesLook = !this.#host.isIdle() || (login.isPending && memory.current?.living === undefined)
    if (this.#owesLook) return
    const isLast = acts.noted()
    await acts.after(() => Promise.resolve())
    const { seenVersion } = memory
    const looked = await record.look?.(seenVersion, login.number).catch(() => 'failed' as const)
    if (!this.#host.isIdle()) this.#owesLook = true
    else if (looked === 'failed') this.#lookLater()
    else if (looked && memory.seenVersion === seenVersion) this.#learn(looked, isLast)
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
    if (this.#followers > 0) this.#cancelLook = this.#settings.clock.setTimer(() => void this.look(), ASK_MS)
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
    const { login, needsLogin } = this.#settings
    return needsLogin || looked.kind === 'cooling' || (looked.missing === 'logged-out' && login.isPresent)
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
    const { clock, memory, renewal, store } = this.#settings
    const isShared = store && !this.#isTold
    memory.noticeAt = isShared ? clock.monotonicNow() + renewal.maxStalenessMs : Infinity
  }

  /** Looks now, whenever the record may have changed, and again if the store fails. @returns stop */
  follow(): () => void {
    this.#followers += 1
    void this.look()
    const stop = this.#settings.record.watch?.(() => void this.look())
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
