import type { LoginEvents, TokenEvents } from './events.ts'
import type { LogoutResult } from './login-port.ts'
import type { LoginStatus, TokenStatus } from './status.ts'
import type { AdoptedGrant } from './token-source.ts'

/** Keeps the access token of one account fresh. All callers share the token and its renewals. */
export interface TokenManager {
  /**
   * Returns a token that is valid now. Waits for a renewal if there is none. An abort or a timeout ends only the wait of this caller.
   *
   * @throws {TokenError} See `TokenErrorCode`. After an abort: `signal.reason`.
   */
  getAccessToken(options?: { signal?: AbortSignal | undefined; maxWaitMs?: number | undefined }): Promise<string>
  /**
   * Returns the token if it is valid now, else undefined. Synchronous. If renewal is due, starts it in the background, or
   * with `renewal.background: false` returns undefined.
   */
  peekAccessToken(): string | undefined
  /**
   * Replaces a token that the API rejected, and resolves with a different one. Renews only if `refused` is still the current token.
   *
   * @throws {TokenError} `ERR_REPLACED_TOO_SOON` if the last renewal after a rejection began less than max(2 s, a tenth of the lifetime) ago.
   * `ERR_TOKEN_RESPONSE` if the service issued `refused` again. Otherwise as `getAccessToken`.
   * @throws {TypeError} If `refused` is a header value instead of a token.
   */
  replaceAccessToken(
    refused: string,
    options?: { signal?: AbortSignal | undefined; maxWaitMs?: number | undefined },
  ): Promise<string>
  /**
   * Renews the token even if it is fresh, or joins the renewal in flight. Makes one attempt during a cool-down that an unreachable or failing
   * service caused. Always respects `Retry-After`, the cool-down after rejected credentials, and a stop.
   *
   * @throws {TokenError} As `getAccessToken`.
   */
  renew(options?: { signal?: AbortSignal | undefined; maxWaitMs?: number | undefined }): Promise<void>
  /**
   * Uses and stores tokens from elsewhere, such as a server-rendered page, a vault or another program. A refresh token alone is enough: the next
   * caller refreshes. Ends a cool-down or a stop, and supersedes a renewal in flight. Takes effect immediately. The store receives the changes of
   * `adopt` and `reset` in the order of the calls.
   *
   * @throws {TypeError} Naming the member.
   * @throws {TokenError} `ERR_CLOSED`. `ERR_STORE_UNAVAILABLE` if the store is unreachable and its `onUnavailable` is `fail`: this manager uses the
   * tokens anyway, and stores them with the next renewal.
   */
  adopt(grant: AdoptedGrant): Promise<void>
  /**
   * Deletes the tokens (in the store too), ends a cool-down or a stop, and supersedes a renewal in flight, whose callers wait for the next one. Call
   * it after the credentials have changed.
   *
   * @throws {TokenError} `ERR_STORE_UNAVAILABLE` if the store is unreachable.
   */
  reset(): Promise<void>
  /** Returns the current state. Makes no request. */
  status(): TokenStatus
  /**
   * Calls `listener` for each event of this name. If it throws or rejects, that is reported once, as a process warning or in the console of a page.
   *
   * @returns A function that removes the listener.
   */
  on<Name extends keyof TokenEvents>(name: Name, listener: (event: TokenEvents[Name]) => void): () => void
  /** Calls `listener` for every event, for logs. @returns A function that removes the listener. */
  onAny(listener: <Name extends keyof TokenEvents>(name: Name, event: TokenEvents[Name]) => void): () => void
  /**
   * Resolves when no exchange is in flight and the last result is stored. Never rejects, and starts nothing. Await it before a machine is frozen or
   * stopped. Does not wait for the pause between two token requests.
   */
  settled(): Promise<void>
  /** Stops all timers, rejects waiting callers with `ERR_CLOSED`, and resolves when an exchange in flight has ended and its result is stored. */
  close(): Promise<void>
}

/** The manager of a source with `login`, whose user logs in and out. */
export interface LoginManager extends TokenManager {
  /**
   * Uses and stores tokens from elsewhere, such as a login, a server-rendered page or a vault. A refresh token alone is enough: the next caller
   * refreshes. Ends a cool-down or a stop, and supersedes a renewal in flight. Takes effect immediately. The store receives the changes of `adopt`,
   * `logout` and `reset` in the order of the calls.
   *
   * Requests of the previous login do not receive these tokens, unless this manager adopted both logins and they have the same `subject`. Requests
   * that began after `loginChanged` reported `required` wait for this login. If the subjects differ, the source revokes the previous tokens in the
   * background.
   *
   * With a promise, the login is pending until the promise settles. Until then, `status().login` is `pending`, the manager does not report
   * `required`, and callers without a token wait within their own limits. A promise that never settles blocks nothing else. If it resolves with
   * `undefined` or rejects, there was no login: the state from before the call is restored, and `loginChanged` reports `required` if that applies.
   *
   * @throws {TypeError} Naming the member. If the promise rejects: its reason.
   * @throws {TokenError} `ERR_CLOSED`. `ERR_STORE_UNAVAILABLE` if the store is unreachable, whatever its `onUnavailable`: this manager uses the tokens
   * anyway, and stores them with the next renewal.
   */
  adopt(grant: AdoptedGrant | PromiseLike<AdoptedGrant | undefined>): Promise<void>
  /**
   * Logs the user out. Ends the login immediately for all callers of this manager. Waits for an exchange in flight, deletes the tokens (in the store
   * too), then has the source revoke them (RFC 7009). The logout succeeds even if the service is unreachable. A newer login in the store is kept.
   * Without `revoke` in the source, it acts as `reset()`.
   *
   * The source tries to revoke up to three times within `exchangeTimeoutMs`. If the result is `unavailable`, the manager keeps the tokens of the
   * last 8 such logins in memory, and the next `logout()` tries again. The anomaly `not-revoked` reports why a revocation failed.
   *
   * @returns Whether the service confirmed the revocation, and if not, why.
   * @throws {TokenError} `ERR_STORE_UNAVAILABLE` if the store is unreachable.
   */
  logout(): Promise<LogoutResult>
  /**
   * Resets the manager as `TokenManager.reset` does, and ends the login: waiting callers reject with `ERR_LOGIN_REQUIRED`. Another user's login in
   * the store is kept.
   *
   * @throws {TokenError} `ERR_STORE_UNAVAILABLE` if the store is unreachable.
   */
  reset(): Promise<void>
  status(): LoginStatus
  on<Name extends keyof LoginEvents>(name: Name, listener: (event: LoginEvents[Name]) => void): () => void
  onAny(listener: <Name extends keyof LoginEvents>(name: Name, event: LoginEvents[Name]) => void): () => void
  /** For code that takes any manager. */
  // eslint-disable-next-line @typescript-eslint/unified-signatures -- a union of both would leave the parameters of a listener without types
  onAny(listener: <Name extends keyof TokenEvents>(name: Name, event: TokenEvents[Name]) => void): () => void
}

/**
 * The tokens of one API (`forResource`): a token manager without `adopt`, `reset` and `logout`, which only the manager of the login has. Attachments
 * take it like a token manager.
 */
export type ResourceTokens = Omit<TokenManager, 'adopt' | 'reset' | 'logout'>
