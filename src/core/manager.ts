import { Account, type ReadThrown, type Settings, settingsOf } from './account.ts'
import { checkNotAborted, withinLimit } from './deadline.ts'
import { copyForCaller, isTokenError, TokenError } from './errors.ts'
import type { AnyListener, LoginEvents, TokenEvents } from './events.ts'
import type { GivenLogin, LoginCode, LogoutResult } from './login-port.ts'
import { Machine } from './machine.ts'
import { INTERNALS, type ManagerInternals } from './manager-internals.ts'
import type { TokenManagerOptions } from './manager-options.ts'
import { ownOption } from './option-checks.ts'
import { admissionOf, serve, take, wait, waitForItself } from './serve.ts'
import type { LoginStatus } from './status.ts'
import { isPromise, member } from './thrown.ts'
import type { LoginManager } from './token-manager.ts'
import { CHALLENGED, SECOND_MANAGER } from './token-source.ts'
import { waitMsOf, type WaitOptions } from './waiting-room.ts'
import { bare } from './whole.ts'
import { isWithin } from './within-call.ts'

/** The shortest time between two renewals that rejections by the API force. Limits the load on a service whose tokens are always rejected. */
const LEAST_FORCED_GAP_MS = 2_000
const TOO_SOON = 'The API rejects access tokens faster than the manager may replace them'

/** Gives callers a token, a promise of one, or an error. The members for logins are public only in the type `LoginManager`. */
export class Manager implements LoginManager {
  readonly #account: Account
  readonly #settings: Settings
  readonly #machine: Machine
  #closing: Promise<void> | undefined

  /** @param plain Used instead of a login layer if the source has none. */
  constructor(options: TokenManagerOptions, readThrown: ReadThrown, plain: LoginCode<Account>) {
    this.#settings = settingsOf(options, readThrown, plain)
    this.#account = new Account(this.#settings)
    this.#machine = new Machine(this.#account)
    const reportSecondManager = member(options.source, SECOND_MANAGER) as ((account: Account) => void) | undefined
    reportSecondManager?.(this.#account)
    // Not a computed member of the class, because bundlers would then keep the class in an application that imports only a token source.
    if (!Object.hasOwn(Manager.prototype, INTERNALS))
      Object.defineProperty(
        Manager.prototype,
        INTERNALS,
        bare({
          get(this: Manager) {
            return this.#internals
          },
        }),
      )
  }

  async getAccessToken(options?: WaitOptions): Promise<string> {
    try {
      return await this.#get(options)
    } catch (error) {
      throw ownError(this, 'getAccessToken', error)
    }
  }

  async replaceAccessToken(refused: string, options?: WaitOptions): Promise<string> {
    try {
      const token = await this.#replace(refused, options)
      if (token !== refused) return token
      this.#noteRejection(refused)
      const message = 'The service issued the rejected access token again'
      const advice = `${message}: check that the API and the token service belong together`
      this.#settings.events.anomaly('new-tokens-refused', advice)
      throw new TokenError('ERR_TOKEN_RESPONSE', message)
    } catch (error) {
      throw ownError(this, 'replaceAccessToken', error)
    }
  }

  async renew(options?: WaitOptions): Promise<void> {
    try {
      await this.#renew(options)
    } catch (error) {
      throw ownError(this, 'renew', error)
    }
  }

  async adopt(grant: GivenLogin): Promise<void> {
    const { logins } = this.#machine
    // The given promise may reject with an error of the caller's own, which is passed on unchanged.
    if (isPromise(grant)) return logins.adoptPromised(grant)
    try {
      await logins.adopt(grant)
    } catch (error) {
      throw ownError(this, 'adopt', error)
    }
  }

  async logout(): Promise<LogoutResult> {
    try {
      return await this.#outsideOfSource(() => this.#machine.logins.logout())
    } catch (error) {
      throw ownError(this, 'logout', error)
    }
  }

  reset(): Promise<void> {
    return this.#machine.logins.reset()
  }

  status(): LoginStatus {
    return this.#machine.status()
  }

  on<Name extends keyof LoginEvents>(name: Name, listener: (event: LoginEvents[Name]) => void): () => void {
    return this.#settings.events.on(name, listener)
  }

  onAny(listener: AnyListener | AnyListener<TokenEvents>): () => void {
    return this.#settings.events.onAny(listener)
  }

  settled(): Promise<void> {
    return this.#outsideOfSource(() => this.#account.work.ended())
  }

  close(): Promise<void> {
    return this.#outsideOfSource(() => (this.#closing ??= this.#machine.close()))
  }

  /** Runs a method that waits for the token request in flight. @throws {TokenError} If that request calls it: the request would wait for itself (F404). */
  async #outsideOfSource<Result>(act: () => Promise<Result>): Promise<Result> {
    return isWithin(this.#account) ? waitForItself() : act()
  }

  /**
   * Returns the token if it is valid now. If renewal is due, starts it in the background; without `background`, returns undefined, and the next caller who
   * waits starts it.
   */
  peekAccessToken(): string | undefined {
    const taken = () => take(this.#account, this.#machine)
    if (!this.#mustCheck()) return taken()
    // A due renewal begins after the check: no check is made while a renewal reads the record.
    void this.#machine.checker?.checkOnce().then(taken)
    return undefined
  }

  /** Returns a valid token, or a promise of one. @throws {TokenError} If waiting cannot help. */
  #get(options?: WaitOptions): Promise<string> | string {
    checkNotAborted(ownOption(options, 'signal'))
    return this.#getFor(this.#account.generations.current, options)
  }

  #getFor(generation: number, options: WaitOptions | undefined): Promise<string> | string {
    return this.#mustCheck()
      ? this.#afterCheck(generation, options)
      : serve(this.#account, this.#machine, generation, options)
  }

  /**
   * Whether the record must be checked first, because the login may have ended elsewhere. Not if the token has expired, because a renewal reads the record
   * anyway, and not before the acts of this manager have reached the record.
   */
  #mustCheck(): boolean {
    const { staleAt, current, acts } = this.#account
    const isStale = staleAt < Infinity && this.#machine.now >= staleAt
    return isStale && current?.freshness !== 'expired' && !acts.arePending
  }

  /** Checks the record, then takes or waits for a token. Concurrent callers share one check. */
  async #afterCheck(generation: number, options: WaitOptions | undefined): Promise<string> {
    const { clock, renewal } = this.#settings
    const { login } = this.#account
    const { checker, now } = this.#machine
    const signal = ownOption(options, 'signal')
    const maxWaitMs = waitMsOf(options, renewal.maxWaitMs)
    const limit = { clock, ms: maxWaitMs, holdsProcess: true, signal, atLimit: () => undefined }
    // If the store does not respond within the caller's limit, the caller still gets the token if it is valid.
    await withinLimit(Promise.resolve(checker?.checkOnce()), limit).catch(() => checkNotAborted(signal))
    if (login && generation < login.generations.first) throw login.errorOfEnd()
    const leftMs = Math.max(0, maxWaitMs - (this.#machine.now - now))
    return serve(this.#account, this.#machine, generation, { signal, maxWaitMs: leftMs })
  }

  /** Returns a token other than `refused`. Forces no renewal if the manager has already replaced `refused`. */
  #replace(refused: string, options?: WaitOptions): Promise<string> | string {
    checkNotAborted(ownOption(options, 'signal'))
    checkIsToken(refused)
    const { generations, login } = this.#account
    // Read before the rejection is noted, which may end the login: the caller must not receive a token of the next login.
    const generation = generations.first
    if (!this.#noteRejection(refused)) {
      if (login?.isOfEndedLogin(refused)) throw login.errorOfEnd()
      return this.#getFor(generation, options)
    }
    if (login && generation < generations.first)
      throw this.#settings.events.refused(login.errorOfLoss(undefined, this.#account.backoff?.error), 'refused')
    const isExpired = this.#account.current?.freshness === 'expired'
    if (!isExpired && admissionOf(this.#account, this.#machine) === 'start') {
      const tooSoon = this.#beginForced()
      if (tooSoon) throw this.#machine.denial(tooSoon)
    }
    return wait(this.#account, this.#machine, isExpired ? 'expired' : 'refused', generation, options)
  }

  /** Starts the replacement of `refused` for later callers. No caller waits for it, and it does not keep the process alive. */
  #renewInBackground(refused: string): void {
    if (!this.#noteRejection(refused)) return
    if (admissionOf(this.#account, this.#machine) !== 'start' || this.#beginForced()) return
    const { current } = this.#account
    if (this.#settings.renewal.background) this.#machine.renew('refused', false)
    else if (current) current.mustRenew = true
  }

  #renew(options?: WaitOptions): Promise<string> | string {
    checkNotAborted(ownOption(options, 'signal'))
    return wait(this.#account, this.#machine, 'forced', this.#account.generations.current, options)
  }

  #isCurrent(token: string): boolean {
    return this.#account.current?.stored.accessToken === token
  }

  /**
   * Notes that the API rejected `refused`, if that is the current token. If the service has rejected the refresh token of its login too, the login ends, and
   * no caller receives the access token again (F206).
   *
   * @returns Whether it is the current token.
   */
  #noteRejection(refused: string): boolean {
    const isCurrent = this.#isCurrent(refused)
    if (isCurrent) {
      this.#account.current?.rejected()
      this.#machine.logins.concludeLoss?.()
    }
    return isCurrent
  }

  /**
   * Decides whether a renewal after a rejection by the API may begin now. If so, notes the time.
   *
   * @returns Undefined if it may; otherwise when it may, and the error.
   */
  #beginForced(): { until: number; error: TokenError } | undefined {
    const account = this.#account
    const { now } = this.#machine
    const { accessLifetimeMs = 0 } = account.current?.stored ?? {}
    const until = account.forcedAt + Math.max(LEAST_FORCED_GAP_MS, accessLifetimeMs / 10)
    if (now < until) return { until, error: new TokenError('ERR_REPLACED_TOO_SOON', TOO_SOON) }
    account.forcedAt = now
    return undefined
  }

  get #internals(): ManagerInternals {
    const { generations, login } = this.#account
    const { checker } = this.#machine
    const { source, clock, renewal, events, layer } = this.#settings
    return bare<ManagerInternals>({
      hasLogins: layer !== undefined,
      currentGeneration: () => generations.current,
      firstGeneration: () => generations.first,
      isLoginAwaited: () => generations.isAwaited,
      isLoginPresent: () => login?.isPresent,
      ...(checker && { followLogin: () => checker.follow(), checkLogin: () => checker.check() }),
      origin: member(source, 'origin') as string | undefined,
      boundTo: member(source, 'boundTo'),
      clock,
      maxWaitMs: renewal.maxWaitMs,
      anomaly: (kind, message) => events.anomaly(kind, message),
      awaitToken: (options) => this.#get(options),
      hasEnded: (token) => this.#isCurrent(token) && this.#account.current?.validToken === undefined,
      renewInBackground: (token) => this.#renewInBackground(token),
      challenged: member(source, CHALLENGED) as ManagerInternals['challenged'],
      succeeded: (token) => void (this.#isCurrent(token) && this.#account.current?.succeeded()),
      parts: () => ({ account: this.#account, machine: this.#machine, Manager }),
      discard: async (grant) => this.#machine.logins.discard?.(grant),
      watch: (watcher) => events.watchedBy(watcher),
    })
  }
}

/** Copies the error, so that each caller receives its own, with the stack of its own call. */
function ownError(manager: Manager, method: keyof LoginManager, error: unknown): unknown {
  return isTokenError(error) ? copyForCaller(Reflect.get(manager, method), error) : error
}

/** @throws {TypeError} If `refused` is a header value: the manager would not recognize its token, and the caller would receive that token again. */
function checkIsToken(refused: string): void {
  if (/^(bearer|dpop) /i.test(refused))
    throw new TypeError('refused must be the access token itself, not a header value')
}
