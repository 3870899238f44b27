import type { LoginReason } from './errors.ts'
import type { Events, TokenEvents } from './events.ts'
import type { StoredTokens } from './token-store.ts'

type LoginChange = TokenEvents['loginChanged']
type LoginTokens = Pick<StoredTokens, 'login' | 'loginId' | 'subject'>

/** A request that began so many logins ago has ended. */
const MOST_PAST = 8

/** What a manager knows of its login, and tells its listeners. */
export class LoginWatch {
  readonly #events: Events
  readonly #needsLogin: boolean
  /** The number of the login in the record; undefined until the manager has seen one. */
  #number: number | undefined
  /** The record has not told the number of this login. Until then another number is that of another login. */
  #isUntold = false
  /** A record with this id holds this login, whatever its number. */
  #id: string | undefined
  /** The fingerprint of the last person, as far as it is known. It outlives a logout. */
  #subject: string | undefined
  #login: LoginChange['login'] | undefined
  #reason: LoginReason | undefined
  #past: readonly string[] = []
  readonly #isAlone: boolean
  /** Where the login has ended. The first word counts: its access token may outlive it, and the manager later reads the same end in the record. */
  #endedBy: LoginChange['by'] | undefined
  /** Changes whenever a login ends. A request that began under another mark must not get a token of this login (R10). */
  mark = 0

  /** @param isAlone Whether there is no store that may hold a login. */
  constructor(events: Events, needsLogin: boolean, isAlone: boolean) {
    this.#events = events
    this.#needsLogin = needsLogin
    this.#isAlone = isAlone
    if (!isAlone) return
    this.#login = 'required'
    this.#reason = 'none-yet'
  }

  /** Undefined: not known yet, or the source can obtain without a person. */
  get status(): { readonly login?: LoginChange['login']; readonly loginReason?: LoginReason } {
    if (!this.#needsLogin || this.#login === undefined) return {}
    return { login: this.#login, ...(this.#login === 'required' && this.#reason && { loginReason: this.#reason }) }
  }

  /** Whether tokens of this person belong to the login that the manager has. */
  isSame(subject: string | undefined): boolean {
    return this.#login !== 'required' && subject !== undefined && subject === this.#subject
  }

  /** Whether tokens of the record belong to another login than the one that the manager knows. Numbers only grow. Tokens of no number are private. */
  isOther({ login = 0, loginId, subject }: LoginTokens): boolean {
    if (loginId !== undefined && loginId === this.#id) return false
    if (this.#isUntold) return login > 0 && !this.isSame(subject)
    return this.#number !== undefined && login > this.#number
  }

  /** The login ends: later requests belong to another one. @param token The last access token of this login. */
  end(token: string | undefined): void {
    this.mark += 1
    if (token !== undefined) this.#past = [token, ...this.#past].slice(0, MOST_PAST)
  }

  /** Whether this access token belongs to a login that has ended. */
  isPast(token: string): boolean {
    return this.#needsLogin && this.#past.includes(token)
  }

  /** Somebody has logged in through `adopt()`. */
  began(subject: string | undefined, loginId?: string): void {
    this.#isUntold = true
    this.#id = loginId
    this.#present('here', subject)
  }

  /** The record knows the login of this manager under this number. */
  know({ login = 0, loginId }: LoginTokens): void {
    this.#number = Math.max(login, this.#number ?? 0)
    this.#id = loginId ?? this.#id
    if (login > 0) this.#isUntold = false
  }

  /** The manager uses tokens of the record. @param isOther Whether they belong to another login than before. */
  seen(tokens: LoginTokens, isOther: boolean): void {
    const isNews = isOther || this.#login !== 'present'
    this.#endedBy = undefined
    this.know(tokens)
    if (isNews) this.#present('elsewhere', tokens.subject)
    else this.#subject = tokens.subject ?? this.#subject
  }

  /** The login has ended, as this manager hears now. @returns where. Without a store nobody else can have ended it. */
  ended(by: LoginChange['by']): LoginChange['by'] {
    return (this.#endedBy ??= this.#isAlone ? 'here' : by)
  }

  /** The record holds tokens that no longer serve. If they can be refreshed, there is a login, and the manager may not have heard of one before. */
  found(tokens: StoredTokens): void {
    if (this.#login === undefined && tokens.refreshToken !== undefined) this.seen(tokens, false)
  }

  /** A login is required from now on. */
  required(reason: LoginReason, by: LoginChange['by']): void {
    const isNews = this.#login !== 'required'
    this.#login = 'required'
    this.#reason = reason
    if (isNews) this.#emit({ login: 'required', by, account: 'unknown', reason })
  }

  #present(by: LoginChange['by'], subject: string | undefined): void {
    const isKnown = subject !== undefined && this.#subject !== undefined
    const account = !isKnown ? 'unknown' : subject === this.#subject ? 'same' : 'other'
    this.#login = 'present'
    this.#reason = undefined
    this.#endedBy = undefined
    this.#subject = subject
    this.#emit({ login: 'present', by, account })
  }

  #emit(change: LoginChange): void {
    if (this.#needsLogin) this.#events.emit('loginChanged', change)
  }
}
