import { detailsOf, endOfLogin, type LoginReason, TokenError } from '../core/errors.ts'
import type { Events, LoginEvents } from '../core/events.ts'
import { compare, continues, isOther } from '../record/identity.ts'
import type { HeldToken } from '../core/held-token.ts'
import type { CoolDown } from '../core/lease.ts'
import { LoginGenerations } from '../core/login-generations.ts'
import type { LoginView } from '../core/login-port.ts'
import type { LoginStatus } from '../core/status.ts'
import type { Exchange } from '../core/token-source.ts'
import type { Identity, StoredTokens } from '../core/stored-tokens.ts'
import { loginRequired } from './login-required.ts'
import { PendingLogins } from './pending-logins.ts'

type LoginChange = LoginEvents['loginChanged']
/** The members of stored tokens that identify their login. */
type StoredIdentity = Pick<StoredTokens, 'login' | 'loginId' | 'subject'>

/** The number of access tokens, and of spent refresh tokens, kept per login. Requests with older access tokens have ended. */
const MOST_HELD = 8
/** The number of access tokens of ended logins that are kept. */
const MOST_ENDED = 8 * MOST_HELD

/** Tracks the login of one manager and emits `loginChanged`. */
export class LoginWatch implements LoginView {
  readonly #events: Events
  /** The number of the login in the record; undefined until the manager has read one. */
  #number: number | undefined
  /** The record has not reported the number of this login yet. Until then, the id, or else the user, decides whether a record holds this login. */
  #isUnreported = false
  /** The id of the last login that had one. A record with this id holds that login, whatever its number. */
  #id: string | undefined
  /** The fingerprint of the last user, if known. Survives a logout. */
  #subject: string | undefined
  /** The user's name as passed to `adopt()`. Known before its fingerprint. */
  #name: string | undefined
  /** The name of the last user, also after a logout. */
  #lastName: string | undefined
  #login: LoginChange['login'] | undefined
  #reason: LoginReason | undefined
  /** Where the last login ended: the `by` of the next `required` event. */
  #requiredBy: LoginChange['by'] = 'here'
  /** The last access tokens of this login and of ended logins, newest first. */
  #held: readonly string[] = []
  #endedTokens: readonly string[] = []
  /** The first refresh token of this login, the last eight that it has spent, and the current one. */
  #refreshTokens: readonly string[] = []
  /** While a login is pending, `required` is not emitted. */
  readonly pendingLogins = new PendingLogins()
  readonly #isAlone: boolean
  /** Whether the source can obtain without the user, as a session can. */
  readonly #mayObtain: boolean
  /** Why and where the login ended, although its access token may still be valid. Not reported yet. */
  loss: { readonly error: TokenError; readonly reason: LoginReason; readonly by: LoginChange['by'] } | undefined
  readonly generations = new LoginGenerations()

  /** @param isAlone Whether no store can hold a login. */
  constructor(events: Events, mayObtain: boolean, isAlone: boolean) {
    this.#events = events
    this.#mayObtain = mayObtain
    this.#isAlone = isAlone
    if (!isAlone || this.#mayObtain) return
    this.#login = 'required'
    this.#reason = 'none-yet'
  }

  /** The login members of `status()`. Empty: not known yet. @param held The last tokens. */
  statusWith(
    held?: Pick<HeldToken, 'validToken' | 'stored' | 'isRejected'>,
  ): Pick<LoginStatus, 'login' | 'loginReason'> {
    if (this.isPending) return { login: 'pending' }
    if (this.#login === undefined) return {}
    const reason = this.#login === 'required' ? this.#reason : this.#reasonOfEnd(held)
    return this.#login === 'required' || reason !== undefined
      ? { login: 'required', ...(reason && { loginReason: reason }) }
      : { login: 'present' }
  }

  /** Why the login has ended, although listeners are notified only when the next caller needs a token. */
  #reasonOfEnd(held?: Pick<HeldToken, 'validToken' | 'stored' | 'isRejected'>): LoginReason | undefined {
    if (held?.validToken !== undefined) return undefined
    if (this.loss) return this.loss.reason
    if (this.#mayObtain || !held || held.stored.refreshToken !== undefined) return undefined
    return held.isRejected ? 'refused' : 'expired'
  }

  get isPresent(): boolean {
    return this.#login === 'present'
  }

  /** The reason of `ERR_LOGIN_REQUIRED` if the service rejects the session. */
  get #reasonOfRefusal(): LoginReason {
    return this.isPresent ? 'refused' : (this.#reason ?? 'none-yet')
  }

  errorOfLoss(reason = this.#reasonOfRefusal, failure?: Pick<CoolDown, 'status' | 'serviceCode'>): TokenError {
    return loginRequired(reason, failure)
  }

  errorOfEnd(): TokenError {
    return endOfLogin(this.isPresent)
  }

  /** Maps the rejection of a session to `ERR_LOGIN_REQUIRED`. */
  errorOf(error: TokenError, exchange: Exchange): TokenError {
    const isRejected = error.code === 'ERR_CREDENTIALS_REJECTED' || error.code === 'ERR_LOGIN_REQUIRED'
    if (!this.#mayObtain || exchange === 'refresh' || !isRejected) return error
    return sessionRejected(detailsOf(error).loginReason ?? this.#reasonOfRefusal, error)
  }

  get isPending(): boolean {
    return this.pendingLogins.isPending
  }

  /** While a login is pending, the login before it stays in use, and is renewed, until it ends (F426). */
  awaitsPending(held?: Pick<HeldToken, 'validToken' | 'stored' | 'isRejected'>): boolean {
    const continues = held?.validToken !== undefined || (this.isPresent && this.#reasonOfEnd(held) === undefined)
    return this.isPending && !continues
  }

  /** The last login number that the manager read in the record. */
  get last(): number | undefined {
    return this.#number
  }

  /** The number of the current login, if the record has reported it. */
  get number(): number | undefined {
    return this.#isUnreported ? undefined : this.last
  }

  /**
   * The current login, as acts name it. `login` is 0 if a user must log in: by now the last number may be that of a later login elsewhere. With a session,
   * `login` stays the last number, if there is one. If the manager does not know whether there is a login, `login` is undefined, and the act ends any login
   * that the record holds (F362).
   */
  get known(): Identity {
    const isNamed = this.#login !== 'required' || (this.#mayObtain && this.number !== undefined)
    return { login: isNamed ? this.number : 0, loginId: this.#id, subject: this.#subject }
  }

  /** Whether the manager knows if there is a login. */
  get isKnown(): boolean {
    return this.#login !== undefined
  }

  get user(): Identity {
    return { name: this.#name, subject: this.#subject }
  }

  /**
   * Whether tokens about to be used belong to a login other than the manager's. Adopted logins have a number. Tokens that a session obtains may have none, so
   * their users are compared, too.
   */
  isNext(tokens: StoredIdentity): boolean {
    if (this.isOther(tokens)) return true
    const arrival = this.generations.isAwaited ? 'obtainedAfterEnd' : 'obtained'
    return this.#mayObtain && !continues(this.user, arrival, tokens)
  }

  /**
   * Whether tokens of the record belong to a login other than the manager's. Tokens without a number never do: they are private, or of the first login of a
   * session.
   */
  isOther(tokens: StoredIdentity): boolean {
    // If a login is required, the same user may have logged in again elsewhere, which is another login.
    const subject = this.#login === 'required' ? undefined : this.#subject
    return (tokens.login ?? 0) > 0 && isOther({ loginId: this.#id, login: this.number, subject }, tokens)
  }

  /** Ends the login. The user's name ends with it: the next login may be another user's (F342). */
  end(): void {
    this.generations.end()
    this.#name = undefined
    this.#retireTokens()
  }

  /** Another login replaces the current one. */
  next(): void {
    this.generations.replaced()
    this.#retireTokens()
  }

  #retireTokens(): void {
    this.#endedTokens = [...this.#held, ...this.#endedTokens].slice(0, MOST_ENDED)
    this.#held = []
    this.#refreshTokens = []
  }

  /** Adds tokens to the current login. */
  held(accessToken: string, refreshToken?: string): void {
    this.#held = [accessToken, ...this.#held].slice(0, MOST_HELD)
    if (refreshToken === undefined || this.#refreshTokens.includes(refreshToken)) return
    const [first = refreshToken, ...spent] = this.#refreshTokens
    this.#refreshTokens = first === refreshToken ? [first] : [first, ...spent.slice(-MOST_HELD), refreshToken]
  }

  /** Whether the current login has, or has spent, this refresh token. */
  hasHad(refreshToken: string | undefined): boolean {
    return this.isPresent && !this.loss && refreshToken !== undefined && this.#refreshTokens.includes(refreshToken)
  }

  /** Whether this access token belongs only to an ended login. If the same tokens were adopted again, it also belongs to the current one. */
  isOfEndedLogin(token: string): boolean {
    return this.#endedTokens.includes(token) && !this.#held.includes(token)
  }

  /**
   * A user logged in through `adopt()`. Reported at once, unless only the fingerprints can tell whether it is another user: then as soon as the
   * fingerprint of this user is known.
   *
   * @param digest The fingerprint of the user.
   */
  began(name: string | undefined, loginId: string, digest: Promise<string | undefined>): void {
    const before = { name: this.#lastName, subject: this.#subject }
    const known = compare(before, { name })
    const isKnown = known !== 'unknown' || name === undefined || before.subject === undefined
    const emit = (account: LoginChange['account']) => this.#emit({ login: 'present', by: 'here', account })
    this.#isUnreported = true
    this.#id = loginId
    this.#name = this.#lastName = name
    this.#subject = undefined
    this.#present()
    if (isKnown) emit(known)
    const withSubject = (subject?: string) => {
      // A later login has its own event.
      if (this.#id !== loginId || !this.isPresent) return
      this.#subject = subject
      if (!isKnown) emit(compare(before, { subject }))
    }
    if (name !== undefined) digest.then(withSubject, () => withSubject())
  }

  /** Notes that the record has this login. @param isOwn Whether it is the manager's, as far as the manager knows. */
  noteStored({ login = 0, loginId }: StoredIdentity, isOwn = true): void {
    // The first login of a session has no number. Later ones have one.
    if (login === 0 && this.#mayObtain) this.#number ??= 0
    if (login === 0) return
    this.#number = login
    if (!isOwn) return
    this.#id = loginId ?? this.#id
    this.#isUnreported = false
  }

  /** The manager uses tokens of the record. @param isOther Whether they belong to a different login than before. */
  seen(tokens: StoredIdentity, isOther: boolean, by: LoginChange['by'] = 'elsewhere'): void {
    const found = this.#foundBy(by)
    const isNews = isOther || this.#login !== 'present'
    this.noteStored(tokens)
    this.#present()
    const subject = tokens.subject ?? (isNews ? undefined : this.#subject)
    const account = compare({ subject: this.#subject }, { subject })
    if (isNews && account !== 'same') this.#name = this.#lastName = undefined
    this.#subject = subject
    if (isNews) this.#emit({ login: 'present', by: found, account })
  }

  /** A manager that reads its store for the first time has not observed a login or logout, so the event is `by: 'store'` (F386). */
  #foundBy(by: LoginChange['by']): LoginChange['by'] {
    return by === 'elsewhere' && !this.isKnown ? 'store' : by
  }

  /** Notes that the login has ended. Without a store, only this manager can have ended it. */
  lost(error: TokenError, by: LoginChange['by']): void {
    // The first `by` stays. The manager may later read in the record that its login has ended, which is not an end elsewhere.
    this.loss = { error, reason: error.loginReason ?? 'refused', by: this.loss?.by ?? (this.#isAlone ? 'here' : by) }
  }

  /**
   * Notes tokens of the record that are unfit for this renewal. If they can be refreshed, there is a login, which may be news to the manager. For a
   * session, this is not certain: its user may have changed. The next lease request names the login by its number: otherwise the record would return the same
   * tokens again (F332).
   */
  skipped(tokens: StoredTokens): void {
    const isLogin = !this.#mayObtain && tokens.refreshToken !== undefined
    // The login that has ended here is no news. Any other one is reported before an act can end it (F362).
    const isNews = this.#login === undefined || (this.#login === 'required' && tokens.login !== this.#number)
    if (isNews && isLogin) this.seen(tokens, false)
    else this.noteStored(tokens, this.#login !== 'required')
  }

  /** A login is required. @param isAgain Whether to report it again, to listeners that saw a pending login. */
  required(reason: LoginReason, by: LoginChange['by'], isAgain = false): void {
    const isNews = isAgain || this.#login !== 'required'
    if (isNews) this.#requiredBy = this.#foundBy(by)
    this.#login = 'required'
    this.#reason = reason
    this.loss = undefined
    if (isNews && !this.isPending) this.#reportRequired(reason)
  }

  /** The pending login was not completed. Listeners that saw it pending are notified if a login is still required. */
  abandoned(): void {
    if (this.#login === 'required' && this.#reason) this.#reportRequired(this.#reason)
  }

  #reportRequired(reason: LoginReason): void {
    // Before the first login, no login can be lost.
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

/** The message asks for `reset()`, not `adopt()`: after the user has logged in, the session can obtain again. */
function sessionRejected(reason: LoginReason, { status, serviceCode }: TokenError): TokenError {
  const message = `A login is required (${reason}: the service issued no token for this session): log in, then call reset()`
  return new TokenError('ERR_LOGIN_REQUIRED', message, { loginReason: reason, status, serviceCode })
}
