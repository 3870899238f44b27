import { Callers } from './callers.ts'
import { copyForCaller, isTokenError, TokenError } from './errors.ts'
import type { AnyListener, LoginEvents, TokenEvents } from './events.ts'
import { Machine } from './machine.ts'
import { INTERNALS, type ManagerInternals } from './manager-internals.ts'
import type { TokenManagerOptions } from './manager-options.ts'
import type { LoginStatus, TokenStatus } from './status.ts'
import { isPromise, member } from './thrown.ts'
import { type AdoptedGrant, SERVICE_ACCOUNT } from './token-source.ts'
import type { GivenLogin, LoginCode, LogoutResult } from './login-port.ts'
import { Account, type ReadThrown, settingsOf } from './account.ts'
import type { WaitOptions } from './waiting-room.ts'

/** Keeps the access token of one account fresh. All callers share it, and its renewals. */
export interface TokenManager {
  /**
   * A token that may be sent now. Waits for the renewal if there is none. A caller who gives up ends only its own wait.
   *
   * @throws {TokenError} see `TokenErrorCode`; `signal.reason` when the caller gives up.
   */
  getAccessToken(options?: { signal?: AbortSignal | undefined; maxWaitMs?: number | undefined }): Promise<string>
  /** The token if it may be sent right now, else undefined. Synchronous. If it is due, starts a renewal in the background. */
  peekAccessToken(): string | undefined
  /**
   * Replaces a token that the API refused. Resolves with a different one. Renews only if `refused` is still the current one.
   *
   * @throws {TokenError} `ERR_REPLACED_TOO_SOON` within the gap between forced renewals: max(2 s, a tenth of the lifetime).
   * `ERR_TOKEN_RESPONSE` if the service issued `refused` again. Else as `getAccessToken`.
   * @throws {TypeError} if `refused` is the text of a header in the place of the token.
   */
  replaceAccessToken(
    refused: string,
    options?: { signal?: AbortSignal | undefined; maxWaitMs?: number | undefined },
  ): Promise<string>
  /**
   * Renews now, however fresh the token is, or joins the renewal in flight. In a cool-down after an unreachable or failing
   * service it makes one attempt. It never breaks a `Retry-After`, the cool-down after refused credentials, or a stop.
   *
   * @throws {TokenError} as `getAccessToken`.
   */
  renew(options?: { signal?: AbortSignal | undefined; maxWaitMs?: number | undefined }): Promise<void>
  /**
   * Uses tokens that came from elsewhere: from a page that a server rendered, a vault, another program. A refresh token alone will do: the next caller
   * refreshes. Ends cool-downs and stops, outdates a renewal in flight, and stores the tokens. Takes effect at the call: `adopt` and `reset` happen in
   * the order of their calls.
   *
   * @throws {TypeError} naming the member.
   * @throws {TokenError} `ERR_CLOSED`; `ERR_STORE_UNAVAILABLE` if the store is out of reach and its `onUnavailable` is `fail`: the tokens serve here
   * all the same, and the next renewal stores them.
   */
  adopt(grant: AdoptedGrant): Promise<void>
  /**
   * Forgets tokens (in the store too), cool-downs and stops, and outdates a renewal in flight: its waiters join the next
   * one. Call it after a change of credentials.
   *
   * @throws {TokenError} `ERR_STORE_UNAVAILABLE` if the store cannot be reached.
   */
  reset(): Promise<void>
  /** The state of the manager now. Makes no call. */
  status(): TokenStatus
  /** Calls `listener` for each such event. What it throws reaches nobody. @returns a function that removes the listener. */
  on<Name extends keyof TokenEvents>(name: Name, listener: (event: TokenEvents[Name]) => void): () => void
  /** Calls `listener` for each event, for logs. @returns a function that removes the listener. */
  onAny(listener: <Name extends keyof TokenEvents>(name: Name, event: TokenEvents[Name]) => void): () => void
  /**
   * Resolves when no exchange is in flight, and what the last one brought is stored. Never rejects, and starts nothing. Await it before a machine is
   * frozen or stopped. A pause between two token calls is no exchange.
   */
  settled(): Promise<void>
  /** Ends timers, rejects waiters with `ERR_CLOSED`, and resolves when an exchange in flight has ended and is stored. */
  close(): Promise<void>
}

/** The manager of a source with `login`: its person logs in and out. */
export interface LoginManager extends TokenManager {
  /**
   * Uses tokens that came from elsewhere: from a login, a page that a server rendered, a vault. A refresh token alone will do: the next caller
   * refreshes. Ends cool-downs and stops, outdates a renewal in flight, and stores the tokens. Requests of an earlier login get no token of this one,
   * unless both were adopted here and name the same `subject`. Those that began after `loginChanged` told that a login is required wait for this one. If
   * both name a `subject`, and another one, the source revokes the tokens of the earlier login in the background. Takes effect at the call: `adopt`,
   * `logout` and `reset` happen in the order of their calls.
   *
   * Of a promise: a login is under way, and the act happens when the promise settles. Until then `status().login` is `pending`, nobody is told that a
   * login is required, and callers without a token wait, each within its own limits. A promise that never settles holds nothing else. If the promise
   * brings `undefined`, there was no login: all is as before the call, and listeners hear `required` if that is so. If it rejects, that is so, too.
   *
   * @throws {TypeError} naming the member. What the promise rejects with.
   * @throws {TokenError} `ERR_CLOSED`; `ERR_STORE_UNAVAILABLE` if the store is out of reach and its `onUnavailable` is `fail`: the tokens serve here
   * all the same, and the next renewal stores them.
   */
  adopt(grant: AdoptedGrant | PromiseLike<AdoptedGrant | undefined>): Promise<void>
  /**
   * The logout. Ends the login of this manager at once for all callers here. Waits for an exchange in flight, forgets the tokens (in the store too),
   * then lets the source revoke them (RFC 7009). A service that cannot be reached makes no difference to that. If the store has another login by now,
   * that one stays. Without `revoke` in the source: as `reset()`. The revocation is tried up to three times within `exchangeTimeoutMs`. What is then
   * `unavailable` is kept in memory (the last 8 logins), and the next `logout()` tries again. The anomaly `not-revoked` says why a revocation failed.
   *
   * @returns Whether the service confirmed the revocation, and if not, why.
   * @throws {TokenError} `ERR_STORE_UNAVAILABLE` if the store cannot be reached.
   */
  logout(): Promise<LogoutResult>
  /**
   * As for every manager, and the login ends: its waiters reject with `ERR_LOGIN_REQUIRED`. The login of somebody else in the store stays.
   *
   * @throws {TokenError} `ERR_STORE_UNAVAILABLE` if the store cannot be reached.
   */
  reset(): Promise<void>
  status(): LoginStatus
  on<Name extends keyof LoginEvents>(name: Name, listener: (event: LoginEvents[Name]) => void): () => void
  onAny(listener: <Name extends keyof LoginEvents>(name: Name, event: LoginEvents[Name]) => void): () => void
  /** For code that takes any manager. */
  // eslint-disable-next-line @typescript-eslint/unified-signatures -- a union of both would leave the parameters of a listener without types
  onAny(listener: <Name extends keyof TokenEvents>(name: Name, event: TokenEvents[Name]) => void): () => void
}

/** The public interface of the machine and of what callers get of it. What has to do with logins is in the types of a `LoginManager` only. */
export class Manager implements LoginManager {
  readonly #account: Account
  readonly #machine: Machine
  #closing: Promise<void> | undefined
  readonly #callers: Callers

  /** @param plain Stands in the place of a layer if the source has none. */
  constructor(options: TokenManagerOptions, readThrown: ReadThrown, plain: LoginCode<Account>) {
    this.#account = new Account(settingsOf(options, readThrown, plain))
    this.#machine = new Machine(this.#account)
    this.#callers = new Callers(this.#account, this.#machine)
    const meetOthers = member(options.source, SERVICE_ACCOUNT) as ((account: Account) => void) | undefined
    meetOthers?.(this.#account)
    // Not a computed member of the class: bundlers would keep the class for an application that imports only a token source.
    if (!Object.hasOwn(Manager.prototype, INTERNALS))
      Object.defineProperty(Manager.prototype, INTERNALS, {
        get(this: Manager) {
          return this.#internals
        },
      })
  }

  async getAccessToken(options?: WaitOptions): Promise<string> {
    try {
      return await this.#callers.get(options)
    } catch (error) {
      throw ownError(this, 'getAccessToken', error)
    }
  }

  peekAccessToken(): string | undefined {
    return this.#callers.peek()
  }

  async replaceAccessToken(refused: string, options?: WaitOptions): Promise<string> {
    try {
      const token = await this.#callers.replace(refused, options)
      if (token !== refused) return token
      const message = 'The service issued the refused access token again'
      const advice = `${message}: check that the API and the token service belong together`
      this.#account.settings.events.anomaly('new-tokens-refused', advice)
      throw new TokenError('ERR_TOKEN_RESPONSE', message)
    } catch (error) {
      throw ownError(this, 'replaceAccessToken', error)
    }
  }

  async renew(options?: WaitOptions): Promise<void> {
    try {
      await this.#callers.renew(options)
    } catch (error) {
      throw ownError(this, 'renew', error)
    }
  }

  async adopt(grant: GivenLogin): Promise<void> {
    const { logins } = this.#machine
    // Its reason is the caller's own, and goes back as it is.
    if (isPromise(grant)) return logins.adoptPromised(grant)
    try {
      await logins.adopt(grant)
    } catch (error) {
      throw ownError(this, 'adopt', error)
    }
  }

  async logout(): Promise<LogoutResult> {
    try {
      return await this.#machine.logins.logout()
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
    return this.#account.settings.events.on(name, listener)
  }

  onAny(listener: AnyListener | AnyListener<TokenEvents>): () => void {
    return this.#account.settings.events.onAny(listener)
  }

  settled(): Promise<void> {
    return this.#account.work.ended()
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#machine.close())
  }

  get #internals(): ManagerInternals {
    const { login, settings } = this.#account
    const { source, clock, renewal, events, layer } = settings
    return {
      needsLogin: layer !== undefined,
      currentGeneration: () => login.generations.current,
      firstGeneration: () => login.generations.first,
      isLoginAwaited: () => login.generations.isAwaited,
      followLogin: () => this.#machine.checker.follow(),
      checkLogin: () => this.#machine.checker.check(),
      origin: member(source, 'origin') as string | undefined,
      boundTo: member(source, 'boundTo'),
      clock,
      maxWaitMs: renewal.maxWaitMs,
      anomaly: (kind, message) => events.anomaly(kind, message),
      awaitToken: (options) => this.#callers.get(options),
      hasEnded: (token) => this.#callers.hasEnded(token),
      renewInBackground: (token) => this.#callers.renewInBackground(token),
      succeeded: (token) => this.#callers.succeeded(token),
      discard: async (grant) => this.#machine.logins.discard?.(grant),
      watch(watcher) {
        if (events.watcher)
          throw new TypeError('The token manager is instrumented already: call what instrument() returned')
        events.watcher = watcher
        return () => {
          if (events.watcher === watcher) events.watcher = undefined
        }
      },
    }
  }
}

/** Each caller gets an error of its own, whose stack begins where the caller asked. */
function ownError(manager: Manager, method: keyof LoginManager, error: unknown): unknown {
  return isTokenError(error) ? copyForCaller(Reflect.get(manager, method), error) : error
}
