import type { LoginEvents, TokenEvents } from './events.ts'
import type { LogoutResult } from './login-port.ts'
import type { LoginStatus, TokenStatus } from './status.ts'
import type { AdoptedGrant } from './token-source.ts'

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
