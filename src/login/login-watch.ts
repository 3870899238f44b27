import { detailsOf, type LoginReason, TokenError } from '../core/errors.ts'
import type { Events, LoginEvents } from '../core/events.ts'
import type { HeldToken } from '../core/held-token.ts'
import { LoginGenerations } from '../core/login-generations.ts'
import type { LoginView } from '../core/login-port.ts'
import type { LoginStatus } from '../core/status.ts'
import type { Exchange } from '../core/token-source.ts'
import type { KnownLogin, StoredTokens } from '../core/token-store.ts'
import { compare, CONTINUES, type Identity } from './identity.ts'
import { loginRequired } from './login-required.ts'
import { PendingLogins } from './pending-logins.ts'

type LoginChange = LoginEvents['loginChanged']
/** What stored tokens say of their login. */
type StoredIdentity = Pick<StoredTokens, 'login' | 'loginId' | 'subject'>

/** A request that began so many tokens ago has ended. */
const MOST_HELD = 8
/** Those of eight logins. */
const MOST_ENDED = 8 * MOST_HELD

/** What a manager knows of its login, and tells its listeners. */
export class LoginWatch implements LoginView {
  readonly #events: Events
  /** The number of the login in the record; undefined until the manager has seen one. */
  #number: number | undefined
  /** The record has not told the number of this login. Until then another number is that of another login. */
  #isUnreported = false
  /** A record with this id holds this login, whatever its number. */
  #id: string | undefined
  /** The fingerprint of the last person, as far as it is known. It outlives a logout. */
  #subject: string | undefined
  /** The name of whoever has the login, if it was given here: a fingerprint takes its time. */
  #name: string | undefined
  #login: LoginChange['login'] | undefined
  #reason: LoginReason | undefined
  /** Who has ended the last login, or would have to say so. */
  #requiredBy: LoginChange['by'] = 'here'
  /** The last access tokens of this login, and of those that have ended. The last one stands first. */
  #held: readonly string[] = []
  #endedTokens: readonly string[] = []
  /** The refresh token with which this login began, and the last eight since. */
  #refreshTokens: readonly string[] = []
  /** Until these logins have come, nobody hears that a login is required. */
  readonly pendingLogins = new PendingLogins()
  readonly #isAlone: boolean
  /** Whether the source can obtain without a person, as a session can. */
  readonly #mayObtain: boolean
  /** Why the login has ended, although its access token may still serve, and where. Nobody has been told yet. */
  loss: { readonly reason: LoginReason; readonly by: LoginChange['by'] } | undefined
  readonly generations = new LoginGenerations()

  /** @param isAlone Whether there is no store that may hold a login. */
  constructor(events: Events, mayObtain: boolean, isAlone: boolean) {
    this.#events = events
    this.#mayObtain = mayObtain
    this.#isAlone = isAlone
    if (!isAlone || this.#mayObtain) return
    this.#login = 'required'
    this.#reason = 'none-yet'
  }

  /** What `status()` says of the login. Nothing: it is not known yet. @param held The last tokens. */
  statusWith(held?: Pick<HeldToken, 'living' | 'stored' | 'isRejected'>): Pick<LoginStatus, 'login' | 'loginReason'> {
    if (this.isPending) return { login: 'pending' }
    if (this.#login === undefined) return {}
    const reason = this.#login === 'required' ? this.#reason : this.#reasonOfEnd(held)
    return this.#login === 'required' || reason !== undefined
      ? { login: 'required', ...(reason && { loginReason: reason }) }
      : { login: 'present' }
  }

  /** Why the login is at its end, although the listeners are told only when the next caller asks. */
  #reasonOfEnd(held?: Pick<HeldToken, 'living' | 'stored' | 'isRejected'>): LoginReason | undefined {
    if (held?.living !== undefined) return undefined
    if (this.loss) return this.loss.reason
    // Nothing can renew the token.
    if (this.#mayObtain || !held || held.stored.refreshToken !== undefined) return undefined
    return held.isRejected ? 'refused' : 'expired'
  }

  get isPresent(): boolean {
    return this.#login === 'present'
  }

  /** Why a login is required if the service refuses the session. */
  get #reasonOfRefusal(): LoginReason {
    return this.isPresent ? 'refused' : (this.#reason ?? 'none-yet')
  }

  errorOfLoss(reason = this.#reasonOfRefusal, failure?: Pick<TokenError, 'status' | 'serviceCode'>): TokenError {
    return loginRequired(reason, failure)
  }

  /** The service refuses a session: whoever had it must log in. */
  errorOf(error: TokenError, exchange: Exchange): TokenError {
    const isRejected = error.code === 'ERR_CREDENTIALS_REJECTED' || error.code === 'ERR_LOGIN_REQUIRED'
    if (!this.#mayObtain || exchange === 'refresh' || !isRejected) return error
    return sessionRejected(detailsOf(error).loginReason ?? this.#reasonOfRefusal, error)
  }

  get isPending(): boolean {
    return this.pendingLogins.isPending
  }

  /** The last login that the record has told this manager of. */
  get last(): number | undefined {
    return this.#number
  }

  /** The number of the login that the manager has, if the record has told it. */
  get number(): number | undefined {
    return this.#isUnreported ? undefined : this.last
  }

  /** That of the last login with an id that the manager had. */
  get id(): string | undefined {
    return this.#id
  }

  /**
   * The login of this manager as an act names it. A manager that has been told that a login is required has none, and names none: 0. One that has been
   * told nothing means whatever the record holds (F362).
   */
  get known(): KnownLogin {
    return { login: this.number ?? (this.#login === 'required' ? 0 : undefined), loginId: this.id }
  }

  /** Whether the manager has been told whether there is a login. */
  get isKnown(): boolean {
    return this.#login !== undefined
  }

  get user(): Identity {
    return { name: this.#name, subject: this.#subject }
  }

  /** Whether tokens that `adopt()` brings belong to the login of now, or to the last one, as far as that is known at once. */
  isAdoptedBySame(name: string | undefined): boolean {
    return CONTINUES.adopted[compare({ name: this.#name }, { name })]
  }

  /**
   * Whether tokens that come into use belong to another login than the one that the manager knows. An adopted login has a number. What is obtained has none:
   * there the person decides.
   */
  isNext(tokens: StoredIdentity): boolean {
    if (this.isOther(tokens)) return true
    const row = this.generations.isAwaited ? CONTINUES.obtainedAfterEnd : CONTINUES.obtained
    return this.#mayObtain && !row[compare({ subject: this.#subject }, { subject: tokens.subject })]
  }

  /** Whether tokens of the record are those of another login than the one that the manager knows. Tokens of no number are private. */
  isOther({ login = 0, loginId, subject }: StoredIdentity): boolean {
    if (login === 0) return false
    if (!this.#isUnreported)
      return !CONTINUES.found[compare({ loginId: this.#id, login: this.#number }, { loginId, login })]
    // Somebody has logged in elsewhere since.
    const mine = this.#login === 'required' ? {} : { subject: this.#subject }
    return !CONTINUES.foundUnreported[compare({ loginId: this.#id, ...mine }, { loginId, subject })]
  }

  /** The login ends, and its name with it: while that has no fingerprint, nothing would tell that the next login is of somebody else. */
  end(): void {
    this.generations.end()
    this.#name = undefined
    this.#passTokens()
  }

  /** Another login takes its place. */
  next(): void {
    this.generations.replaced()
    this.#passTokens()
  }

  #passTokens(): void {
    this.#endedTokens = [...this.#held, ...this.#endedTokens].slice(0, MOST_ENDED)
    this.#held = []
    this.#refreshTokens = []
  }

  /** The login has these tokens from now on. */
  held(accessToken: string, refreshToken?: string): void {
    this.#held = [accessToken, ...this.#held].slice(0, MOST_HELD)
    if (refreshToken === undefined || this.#refreshTokens.includes(refreshToken)) return
    const [first = refreshToken, ...spent] = this.#refreshTokens
    this.#refreshTokens = first === refreshToken ? [first] : [first, ...spent.slice(1 - MOST_HELD), refreshToken]
  }

  /** Whether a refresh token is that of the login that the manager has, or one that this login has spent. */
  hasHad(refreshToken: string | undefined): boolean {
    return this.isPresent && !this.loss && refreshToken !== undefined && this.#refreshTokens.includes(refreshToken)
  }

  /** Whether this access token belongs to a login that has ended. The same tokens may have been adopted again. */
  isOfEndedLogin(token: string): boolean {
    return this.#endedTokens.includes(token) && !this.#held.includes(token)
  }

  /** Somebody has logged in through `adopt()`. */
  began(name: string | undefined, loginId?: string): void {
    this.#isUnreported = true
    this.#id = loginId
    this.#name = name
    this.#present()
  }

  /** The fingerprint of the person who has logged in is known: listeners hear of the login. */
  named(subject: string | undefined): void {
    const account = compare({ subject: this.#subject }, { subject })
    this.#subject = subject
    this.#emit({ login: 'present', by: 'here', account })
  }

  /** The record has this login. @param isOwn Whether it is the one that the manager has, as far as it knows. */
  know({ login = 0, loginId }: StoredIdentity, isOwn = true): void {
    // The first login of a session has no number: later ones have.
    if (login === 0 && this.#mayObtain) this.#number ??= 0
    if (login === 0) return
    this.#number = login
    if (!isOwn) return
    this.#id = loginId ?? this.#id
    this.#isUnreported = false
  }

  /** The manager uses tokens of the record. @param isOther Whether they belong to another login than before. */
  seen(tokens: StoredIdentity, isOther: boolean, by: LoginChange['by'] = 'elsewhere'): void {
    const found = this.#foundBy(by)
    const isNews = isOther || this.#login !== 'present'
    this.know(tokens)
    this.#present()
    const subject = tokens.subject ?? (isNews ? undefined : this.#subject)
    const account = compare({ subject: this.#subject }, { subject })
    if (isNews && account !== 'same') this.#name = undefined
    this.#subject = subject
    if (isNews) this.#emit({ login: 'present', by: found, account })
  }

  /** Nobody has just logged in or out if this manager finds in its store what it had not known (F386). */
  #foundBy(by: LoginChange['by']): LoginChange['by'] {
    return by === 'elsewhere' && !this.isKnown ? 'store' : by
  }

  /** The login has ended, as this manager hears now. Without a store nobody else can have ended it. */
  lost(reason: LoginReason, by: LoginChange['by']): void {
    // The first `by` stays: the manager may later read in the record that its own login has ended. Nobody elsewhere has ended it then.
    this.loss = { reason, by: this.loss?.by ?? (this.#isAlone ? 'here' : by) }
  }

  /**
   * The record holds tokens of this login that will not do for this renewal. If they can be refreshed, there is a login, and the manager may not have heard
   * of one before; but a session may be that of somebody else by now. The next claim names it by its number: otherwise the record would give the same tokens
   * again (F332).
   */
  skipped(tokens: StoredTokens): void {
    const isLogin = !this.#mayObtain && tokens.refreshToken !== undefined
    if (this.#login === undefined && isLogin) this.seen(tokens, false)
    else this.know(tokens)
  }

  /** A login is required from now on. @param isAgain Whoever has seen that a login is pending is told again. */
  required(reason: LoginReason, by: LoginChange['by'], isAgain = false): void {
    const isNews = isAgain || this.#login !== 'required'
    const found = this.#foundBy(by)
    this.#login = 'required'
    this.#reason = reason
    this.loss = undefined
    if (isNews) this.#requiredBy = found
    if (isNews && !this.isPending) this.#reportRequired(reason)
  }

  /** The login that was under way did not come. Whoever has seen that it is pending hears that it is required, if it is. */
  missed(): void {
    if (this.#login === 'required' && this.#reason) this.#reportRequired(this.#reason)
  }

  #reportRequired(reason: LoginReason): void {
    // Before the first login there is none that could be lost.
    if (reason !== 'none-yet') this.generations.lossReported()
    this.#emit({ login: 'required', by: this.#requiredBy, account: 'unknown', reason })
  }

  #present(): void {
    this.#login = 'present'
    this.#reason = undefined
    this.loss = undefined
    this.generations.started()
  }

  #emit(change: LoginChange): void {
    this.#events.emit('loginChanged', change)
  }
}

/** A session obtains by itself again once somebody has logged in. */
function sessionRejected(reason: LoginReason, { status, serviceCode }: TokenError): TokenError {
  const message = `A login is required (${reason}: the service gives this session no token): log in, then call reset()`
  return new TokenError('ERR_LOGIN_REQUIRED', message, { loginReason: reason, status, serviceCode })
}
