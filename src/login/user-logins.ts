import type { Act, IsLast } from '../core/acts.ts'
import { endOfLogin, type TokenError } from '../core/errors.ts'
import { newTokens, subjectOf } from '../core/exchange.ts'
import { randomHex } from '../core/digest.ts'
import { continues } from '../record/identity.ts'
import { clearRecord, type EndedHere, endInRecord } from './logout.ts'
import type { LoginAccount } from './login-account.ts'
import { loginRequired } from './login-required.ts'
import type { LoginHost, Logins, LogoutResult } from '../core/login-port.ts'
import type { Call } from './pending-logins.ts'
import { revoke, revokeAll } from './revocation.ts'
import { readAdopted } from '../core/grant.ts'
import { resetSource } from '../core/source-acts.ts'
import { type AdoptedGrant, offers, type TokenGrant } from '../core/token-source.ts'
import { type AdoptedTokens, areSame, type Identity, type NewTokens, type StoredTokens } from '../core/stored-tokens.ts'

/** A login that begins. */
interface LoginStart {
  readonly loginId: string
  readonly beganAt: number
  /** The fingerprint of its user. */
  readonly subject: Promise<string | undefined>
}

/** What an act ends in this manager. */
interface Ended extends EndedHere {
  /** Tokens that the exchange in flight may still return. They supersede the refresh token that it presented. */
  readonly lateTokens: readonly NewTokens[]
  /** The user of the login that ends. */
  readonly user: Identity
  /** Whether the act superseded a pending login. */
  readonly wasPending: boolean
}

/** Performs the acts of one manager, and applies the acts of other owners. `LoginWatch` tracks what listeners were notified of. */
export class UserLogins implements Logins {
  readonly #account: LoginAccount
  readonly #host: LoginHost

  constructor(account: LoginAccount, host: LoginHost) {
    this.#account = account
    this.#host = host
  }

  /** Adopts a login when its promise resolves. The act counts from its call, and the login is pending until then. */
  async adoptPromised(given: PromiseLike<AdoptedGrant | undefined>): Promise<void> {
    // The caller may ignore the result.
    const promise = Promise.resolve(given)
    promise.catch(() => undefined)
    this.#checkOpen()
    const { login } = this.#account
    // No user has logged in: resumes the callers that waited.
    const abandoned = () => {
      if (this.#account.isClosed) return
      login.abandoned()
      this.#host.resume()
    }
    await login.pendingLogins.add(promise, {
      adopt: (grant, call) => this.adopt(grant, call),
      superseded: (grant) => this.discard(grant),
      abandoned,
    })
  }

  /**
   * Revokes a login that came too late, unless the current login belongs to the same user or an unknown one: some services then end the whole
   * grant, and the current login with it.
   */
  async discard(given: AdoptedGrant): Promise<void> {
    const grant = readAdopted(given)
    const { login, settings } = this.#account
    const subject = await subjectOf(settings.source, grant)
    if (login.isPresent && continues(login.user, 'replaced', { name: grant.subject, subject })) return
    void revoke(this.#account, [newTokens(grant, this.#account, 0, subject)])
  }

  #checkOpen(): void {
    if (this.#account.isClosed) throw this.#host.denial('closed')
  }

  /** @param call The call, if the login was promised. @throws {TypeError} naming the member. */
  adopt(given: AdoptedGrant, call?: Call): Promise<void> {
    const grant = readAdopted(given)
    const account = this.#account
    const { acts, login, settings } = account
    const host = this.#host
    this.#checkOpen()
    if (login.hasHad(grant.refreshToken)) return this.#adoptSame(grant, call)
    const before = this.#ending(call)
    if (!continues(login.user, 'adopted', { name: grant.subject })) this.#supersede()
    host.forget()
    account.spent = undefined
    account.discarded = []
    const subject = subjectOf(settings.source, grant)
    const start: LoginStart = { loginId: randomHex(), beganAt: settings.tokenClock.now(), subject }
    const stored = acts.begin(account.seenVersion, (...act) => this.#store(grant, before, start, ...act))
    login.began(grant.subject, start.loginId, subject)
    const lack = settings.rules.anomalyOf?.(grant)
    if (lack) settings.events.anomaly(...lack)
    host.use({ ...newTokens(grant, account), version: account.seenVersion })
    return stored
  }

  /** Adopts a login that this manager already has. Only a newer access token for the same refresh token changes anything. */
  #adoptSame(grant: Readonly<TokenGrant>, call?: Call): Promise<void> {
    const account = this.#account
    const { acts, login, settings } = account
    login.pendingLogins.takesEffect(call)
    const { stored } = account.current ?? {}
    const isNews = grant.accessToken !== '' && grant.accessToken !== stored?.accessToken
    if (!isNews || !stored || grant.refreshToken !== stored.refreshToken) return acts.after(() => Promise.resolve())
    const { accessToken, accessLifetimeMs, accessRemainingMs } = newTokens(grant, account)
    const tokens = { ...stored, accessToken, accessLifetimeMs, accessRemainingMs }
    // What the exchange in flight returns belongs to this login, which does not end.
    account.lateTokens = []
    this.#host.forget()
    this.#host.use(tokens)
    return acts.begin(account.seenVersion, async (act, isLast) =>
      login.noteStored(await settings.record.adopt(account.seenVersion, tokens, act, true), isLast()),
    )
  }

  /** Stores the tokens of a login. */
  async #store(
    grant: Readonly<TokenGrant>,
    before: Ended,
    { loginId, beganAt, ...start }: LoginStart,
    act: Act,
    isLast: IsLast,
  ): Promise<void> {
    const account = this.#account
    const { login, settings } = account
    const { record, tokenClock } = settings
    const subject = await start.subject
    const replaced = await this.#replacedBy({ name: grant.subject, subject }, before)
    const tokens = { ...newTokens(grant, account, tokenClock.now() - beganAt, subject), loginId }
    let known: AdoptedTokens['known']
    try {
      const stored = await record.adopt(account.seenVersion, tokens, act, true)
      known = stored.known
      if (known) {
        this.#join(stored, isLast)
        return
      }
      account.seenVersion = Math.max(stored.version, account.seenVersion)
      login.noteStored(stored, isLast())
    } finally {
      if (replaced && !known) void this.#revokeLater(replaced, before)
    }
  }

  /** Applies what has become of an adopted login that the record already knew. */
  #join({ known, ...tokens }: AdoptedTokens, isLast: IsLast): void {
    const { login, isClosed } = this.#account
    if (!isLast() || isClosed) return
    this.#host.forget()
    if (known === 'replaced') {
      this.useStored(tokens, isLast)
      return
    }
    if (known === 'ended') return void this.lost(loginRequired('logged-out'), 'elsewhere')
    login.noteStored(tokens)
    this.#host.use(tokens)
  }

  /** The tokens that the new login replaces, if they are known to be another user's. The record may have newer ones than the manager, or the only ones. */
  async #replacedBy(user: Identity, { held, user: before }: Ended): Promise<NewTokens | undefined> {
    const { login, seenVersion, settings } = this.#account
    if (held && continues(before, 'replaced', user)) return undefined
    if (user.subject === undefined) return held
    const checked = await settings.record.check?.(seenVersion, login.last).catch(() => undefined)
    if (checked?.kind !== 'newer') return held
    return continues(checked.tokens, 'replaced', user) ? undefined : checked.tokens
  }

  /** Revokes in the background. The exchange in flight may still return tokens of the replaced login. */
  async #revokeLater(replaced: NewTokens, { lateTokens }: Ended): Promise<void> {
    await this.#host.afterExchange(() => Promise.resolve())
    await revoke(this.#account, lateTokens.length > 0 ? lateTokens : [replaced])
  }

  /** Begins an act. What the exchange in flight returns belongs to the login before the act. */
  #ending(call?: Call): Ended {
    const account = this.#account
    const { login, current, lateTokens } = account
    const wasPending = login.pendingLogins.takesEffect(call)
    account.lateTokens = []
    return { held: current?.stored, known: login.known, lateTokens, user: login.user, wasPending }
  }

  /** Ends the login in this manager, synchronously. */
  #forget(): Ended {
    const { login } = this.#account
    const ended = this.#ending()
    this.#account.discard()
    this.#end(loginRequired('logged-out'))
    login.required('logged-out', 'here', ended.wasPending)
    this.#host.forget()
    return ended
  }

  async reset(): Promise<void> {
    const { acts, seenVersion } = this.#account
    const ended = this.#forget()
    const cleared = acts.begin(seenVersion, async (act, isLast) =>
      this.useStored(await clearRecord(this.#account, ended, act), isLast),
    )
    await resetSource(this.#account, this.#host, cleared)
  }

  /** Ends the login. In the record and at the service, it ends as soon as no exchange is in flight. */
  async logout(): Promise<LogoutResult> {
    const { acts, seenVersion, settings } = this.#account
    const { source } = settings
    const ended = this.#forget()
    const inRecord = acts.begin(seenVersion, async (act, isLast) => {
      const end = await this.#host.afterExchange(() => endInRecord(this.#account, ended, act))
      this.useStored(end.other, isLast)
      return end
    })
    this.#host.renewIfAwaited()
    const { tokens, thrown } = await inRecord
    // The record has the late tokens, or later ones, unless it could not be written.
    const areLate = ended.lateTokens.length > 0 && (!tokens || areSame(tokens, ended.held ?? tokens))
    const last = areLate ? ended.lateTokens : [tokens].filter((one) => one !== undefined)
    const result = await revokeAll(this.#account, last)
    if (offers(source, 'reset')) source.reset()
    if (thrown !== undefined) throw thrown as Error
    return result
  }

  /** Notes tokens of the record. Listeners are notified of a login elsewhere before any caller gets its token. */
  use(tokens: StoredTokens, by?: 'here' | 'elsewhere'): void {
    const { login, current } = this.#account
    // The store may return our own login only now, because it was unavailable.
    const isOther = !current?.isOf(tokens) && login.isNext(tokens)
    if (isOther) this.#supersede()
    login.seen(tokens, isOther, by)
  }

  /**
   * The login is lost. A valid access token stays in use, unless the API has rejected it, or the user has logged out.
   *
   * @returns How long an access token remains valid, ms; undefined: none is valid.
   */
  lost(error: TokenError, by: 'here' | 'elsewhere'): number | undefined {
    this.#account.login.lost(error, by)
    this.concludeLoss()
    const { current } = this.#account
    return current?.validToken === undefined ? undefined : current.remainingMs
  }

  /** Ends a lost login if the API has rejected its access token, or the user has logged out. Notifies the listeners once no access token is valid. */
  concludeLoss(): void {
    const account = this.#account
    const { login } = account
    const { loss } = login
    if (!loss) return
    const { hasStarted, isAwaited } = login.generations
    const isEnd = account.current?.isRejected === true || loss.reason === 'logged-out'
    // If the loss was already reported, callers since then wait for the next login.
    if (isEnd && hasStarted && !isAwaited) this.#end(loss.error)
    if (account.current?.validToken === undefined) login.required(loss.reason, loss.by)
  }

  /** The manager has stopped. Drops the access token, even a valid one. Requests that carry it get no token of a later login. */
  stop(error: TokenError, by: 'here' | 'elsewhere'): void {
    this.#end(error)
    this.#account.login.required('refused', by)
  }

  /** Uses a login found in the record, unless an act came after the check. */
  useStored(tokens: StoredTokens | undefined, isLast: IsLast): void {
    if (!tokens || !isLast() || this.#account.isClosed) return
    this.use(tokens)
    this.#host.use(tokens)
  }

  /** Another login replaces the current one. The first login that this manager learns of replaces none, so pending callers get it. */
  #supersede(): void {
    const { login } = this.#account
    if (!login.generations.hasStarted) return
    login.next()
    this.#dismissCallers(endOfLogin(true))
  }

  #end(error: TokenError): void {
    this.#account.login.end()
    this.#dismissCallers(error)
  }

  /** Requests of the ended login must get no token of a later one. Its callers are rejected. */
  #dismissCallers(error: TokenError): void {
    this.#account.current = undefined
    this.#host.room.dismiss(error, Infinity, this.#account.login.generations.first)
  }
}
