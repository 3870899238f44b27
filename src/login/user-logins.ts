import type { IsLast } from '../core/acts.ts'
import type { LoginReason, TokenError } from '../core/errors.ts'
import { newTokens, subjectOf } from '../core/exchange.ts'
import { randomHex } from '../core/digest.ts'
import { compare, CONTINUES, type Identity } from './identity.ts'
import { clearRecord, type EndedHere, endInRecord } from './logout.ts'
import type { LoginAccount } from './login-account.ts'
import { loginRequired } from './login-required.ts'
import type { LoginHost, Logins, LogoutResult } from '../core/login-port.ts'
import { revoke, revokeAll } from './revocation.ts'
import { readAdopted } from '../core/grant.ts'
import { resetSource } from '../core/source-acts.ts'
import { type AdoptedGrant, offers, type TokenGrant } from '../core/token-source.ts'
import type { AdoptedTokens, NewTokens, StoredTokens } from '../core/token-store.ts'

/** A login that begins. */
interface LoginStart {
  readonly loginId: string
  readonly beganAt: number
  readonly isLast: IsLast
}

/** What an act ends here. */
interface Ended extends EndedHere {
  /** What the exchange in flight still brings. A refresh token that it has replaced is of no use any more. */
  readonly lateTokens: readonly NewTokens[]
  /** Who had the login. */
  readonly user: Identity
  /** The act has overtaken a login that was pending. */
  readonly wasPending: boolean
}

/** Performs the acts of one manager, and does what those of others mean for it. `LoginWatch` knows what the listeners know. */
export class UserLogins implements Logins {
  readonly #account: LoginAccount
  readonly #host: LoginHost

  constructor(account: LoginAccount, host: LoginHost) {
    this.#account = account
    this.#host = host
  }

  /** An act of its call that takes effect when the promise settles. Until then the login is pending. */
  async adoptPromised(given: PromiseLike<AdoptedGrant | undefined>): Promise<void> {
    // Nobody may be waiting.
    const promise = Promise.resolve(given)
    promise.catch(() => undefined)
    this.#checkOpen()
    const { login } = this.#account
    // No login came: what waited for it goes on.
    const missed = () => {
      if (this.#account.isClosed) return
      login.missed()
      this.#host.resume()
    }
    await login.pendingLogins.add(promise, {
      adopt: (grant, order) => this.adopt(grant, order),
      overtaken: (grant) => this.discard(grant),
      missed,
    })
  }

  /**
   * Revokes a login that came too late. A login of the same user, or of one who is not known to be another, may have taken its place: some services end
   * the whole grant, and that login with it.
   */
  async discard(given: AdoptedGrant): Promise<void> {
    const grant = readAdopted(given)
    const { login, settings } = this.#account
    const subject = await subjectOf(settings.source, grant)
    if (login.isPresent && compare(login.user, { name: grant.subject, subject }) !== 'other') return
    void revoke(this.#account, [newTokens(grant, this.#account, 0, subject)])
  }

  #checkOpen(): void {
    if (this.#account.isClosed) throw this.#host.denial('closed')
  }

  /** @param order That of the call, if the login was promised. @throws {TypeError} naming the member. */
  adopt(given: AdoptedGrant, order?: number): Promise<void> {
    const grant = readAdopted(given)
    const account = this.#account
    const { acts, login, settings } = account
    const host = this.#host
    this.#checkOpen()
    if (login.hasHad(grant.refreshToken)) return this.#adoptSame(grant, order)
    const before = this.#ending(order)
    if (!login.isAdoptedBySame(grant.subject)) this.#makeWay()
    host.forget()
    account.spent = undefined
    account.discarded = []
    const loginId = randomHex()
    const beganAt = settings.tokenClock.now()
    const stored = acts.begin((isLast) => this.#store(grant, before, { loginId, beganAt, isLast }))
    login.began(grant.subject, loginId)
    if (grant.subject === undefined) login.named(undefined)
    const lack = settings.rules.lackOf?.(grant)
    if (lack) settings.events.anomaly(...lack)
    host.use({ ...newTokens(grant, account), version: account.seenVersion })
    return stored
  }

  /** This manager has the login already. Only a newer access token of its refresh token is news. */
  #adoptSame(grant: Readonly<TokenGrant>, order?: number): Promise<void> {
    const account = this.#account
    const { acts, login, settings } = account
    login.pendingLogins.takesEffect(order)
    const { stored } = account.current ?? {}
    const isNews = grant.accessToken !== '' && grant.accessToken !== stored?.accessToken
    if (!isNews || !stored || grant.refreshToken !== stored.refreshToken) return acts.after(() => Promise.resolve())
    const { accessToken, accessLifetimeMs, accessRemainingMs } = newTokens(grant, account)
    const tokens = { ...stored, accessToken, accessLifetimeMs, accessRemainingMs }
    this.#host.forget()
    this.#host.use(tokens)
    return acts.begin(async (isLast) =>
      login.know(await settings.record.adopt(account.seenVersion, tokens, true), isLast()),
    )
  }

  /** Stores the tokens of a login. */
  async #store(grant: Readonly<TokenGrant>, before: Ended, { loginId, beganAt, isLast }: LoginStart): Promise<void> {
    const account = this.#account
    const { login, settings } = account
    const { record, source, tokenClock } = settings
    const subject = await subjectOf(source, grant)
    if (grant.subject !== undefined && isLast()) login.named(subject)
    const replaced = await this.#replacedBy({ name: grant.subject, subject }, before)
    const tokens = { ...newTokens(grant, account, tokenClock.now() - beganAt, subject), loginId }
    let known: AdoptedTokens['known']
    try {
      const stored = await record.adopt(account.seenVersion, tokens, true)
      known = stored.known
      if (known) {
        this.#join(stored, isLast)
        return
      }
      account.seenVersion = Math.max(stored.version, account.seenVersion)
      login.know(stored, isLast())
    } finally {
      if (replaced && !known) void this.#revokeLater(replaced, before)
    }
  }

  /** The record knows the login, which is none of now: what has become of it counts here, too. */
  #join({ known, ...tokens }: AdoptedTokens, isLast: IsLast): void {
    const { login, isClosed } = this.#account
    if (!isLast() || isClosed) return
    this.#host.forget()
    if (known === 'replaced') {
      this.useStored(tokens, isLast)
      return
    }
    if (known === 'ended') return void this.lost(loginRequired('logged-out'), 'elsewhere')
    login.know(tokens)
    this.#host.use(tokens)
  }

  /** The tokens that a login of another known person replaces. The record may have newer ones than the manager, or has them alone. */
  async #replacedBy(user: Identity, { held, user: before }: Ended): Promise<NewTokens | undefined> {
    const { login, seenVersion, settings } = this.#account
    if (held && !isReplaced(before, user)) return undefined
    if (user.subject === undefined) return held
    const looked = await settings.record.check?.(seenVersion, login.last).catch(() => undefined)
    if (looked?.kind !== 'newer') return held
    return isReplaced(looked.tokens, user) ? looked.tokens : undefined
  }

  /** Nobody waits for it. The exchange in flight may still bring tokens of the login that was replaced. */
  async #revokeLater(replaced: NewTokens, { lateTokens }: Ended): Promise<void> {
    await this.#host.afterExchange(() => Promise.resolve())
    await revoke(this.#account, lateTokens.length > 0 ? lateTokens : [replaced])
  }

  /** An act begins: what the exchange in flight brings belongs to the login before it. */
  #ending(order?: number): Ended {
    const account = this.#account
    const { login, current, lateTokens } = account
    const wasPending = login.pendingLogins.takesEffect(order)
    account.lateTokens = []
    return { held: current?.stored, ...login.known, lateTokens, user: login.user, wasPending }
  }

  /** Ends the login here, at once. */
  #forget(): Ended {
    const { login } = this.#account
    const ended = this.#ending()
    this.#account.discardRefreshToken()
    this.#end('logged-out')
    login.required('logged-out', 'here', ended.wasPending)
    this.#host.forget()
    return ended
  }

  async reset(): Promise<void> {
    const { acts } = this.#account
    const ended = this.#forget()
    const cleared = acts.begin(async (isLast) => this.useStored(await clearRecord(this.#account, ended), isLast))
    await resetSource(this.#account, this.#host, cleared)
  }

  /** In the record and at the service the login ends as soon as no exchange is in flight. */
  async logout(): Promise<LogoutResult> {
    const { acts, settings } = this.#account
    const { source } = settings
    const ended = this.#forget()
    const inRecord = acts.begin(async (isLast) => {
      const end = await this.#host.afterExchange(() => endInRecord(this.#account, ended))
      this.useStored(end.other, isLast)
      return end
    })
    this.#host.renewIfAwaited()
    const { tokens, thrown } = await inRecord
    const last = ended.lateTokens.length > 0 ? ended.lateTokens : [tokens].filter((one) => one !== undefined)
    const result = await revokeAll(this.#account, last)
    if (offers(source, 'reset')) source.reset()
    if (thrown !== undefined) throw thrown as Error
    return result
  }

  /** Tokens of the record came. Listeners learn of a login elsewhere before any caller gets its token. */
  use(tokens: StoredTokens, by: 'here' | 'elsewhere' = 'elsewhere'): void {
    const { login, current } = this.#account
    // The store may have our own login only now, because it was unreachable.
    const isOther = !current?.isOf(tokens) && login.isNext(tokens)
    if (isOther) this.#makeWay()
    login.seen(tokens, isOther, by)
  }

  /**
   * A login is required. An access token that still serves is kept, unless the API has refused it, or the person has logged out.
   *
   * @returns For how long an access token still serves, ms; undefined: none does.
   */
  lost({ loginReason = 'refused' }: TokenError, by: 'here' | 'elsewhere'): number | undefined {
    this.#account.login.lost(loginReason, by)
    this.concludeLoss()
    const { current } = this.#account
    return current?.living === undefined ? undefined : current.remainingMs
  }

  /** Of a login that is lost: ends it if nobody may use its access token any more, and tells the listeners as soon as that token serves no longer. */
  concludeLoss(): void {
    const account = this.#account
    const { login } = account
    const { loss } = login
    if (!loss) return
    const { hasStarted: hasBegun, isAwaited } = login.generations
    const isEnd = account.current?.isRejected === true || loss.reason === 'logged-out'
    // If everybody has heard of the loss already, who has asked since waits for the next login.
    if (isEnd && hasBegun && !isAwaited) this.#end(loss.reason)
    if (account.current?.living === undefined) login.required(loss.reason, loss.by)
  }

  /** The manager has stopped: the access token is dropped, even if it still lives. Requests that carry it get none of a later login. */
  stop(by: 'here' | 'elsewhere'): void {
    const { login } = this.#account
    login.end()
    this.#account.current = undefined
    login.required('refused', by)
  }

  /** Uses the tokens of a login that the record has, unless an act came since the manager asked. */
  useStored(tokens: StoredTokens | undefined, isLast: IsLast): void {
    if (!tokens || !isLast() || this.#account.isClosed) return
    this.use(tokens)
    this.#host.use(tokens)
  }

  #end(reason: LoginReason): void {
    this.#account.login.end()
    this.#leave(reason)
  }

  /** Another login comes. Nothing makes way for the first one that this manager hears of: whoever has asked gets it. */
  #makeWay(): void {
    const { login } = this.#account
    if (!login.generations.hasStarted) return
    login.next()
    this.#leave('logged-out')
  }

  /** Requests of the login that has ended must get no token of a later one. Its callers wait no longer. */
  #leave(reason: LoginReason): void {
    this.#account.current = undefined
    this.#host.room.dismiss(loginRequired(reason), Infinity, this.#account.login.generations.first)
  }
}

/** Whether one login makes way for that of somebody else: then its tokens are revoked. */
function isReplaced({ name, subject }: Identity, by: Identity): boolean {
  return !CONTINUES.replaced[compare({ name, subject }, by)]
}
