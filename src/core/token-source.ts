import { bare } from './whole.ts'
import type { Clock } from './clock.ts'
import type { TokenError } from './errors.ts'
import type { AnomalyKind } from './events.ts'
import type { LoginLayer } from './login-layer.ts'
import type { ResourceOptions } from './resource.ts'
import { member } from './thrown.ts'

/**
 * Makes exchanges with one service for one account. `clientCredentials`, `loginPassword` and `oauth2` return sources. Write your own for any other
 * service. A source does not retry and does not share results: the manager does both.
 */
export interface TokenSource {
  /** Identifies the service, the flow and the account. The default store key. Stores hash it, and it is never printed. */
  readonly id: string
  /** The origin of the service. Requests to it may carry the token. */
  readonly origin?: string
  /** Exchanges credentials for tokens. */
  obtain(context: ExchangeContext): Promise<TokenGrant>
  /**
   * Exchanges a refresh token for the next token set. Absent: every renewal is an obtain. If the call fails because of a bug (`ERR_TOKEN_SOURCE`, in
   * the event `retry`), a manager that can obtain does so, because the service may have spent the refresh token.
   */
  refresh?(refreshToken: string, context: ExchangeContext): Promise<TokenGrant>
  /** Discards state from earlier responses. `reset()` of the manager calls it. */
  reset?(): void
  /**
   * How the service treats a used refresh token. `single-use` (default): the service accepts it once. After a lost response, the manager sends it again
   * only within `reuseGraceMs`, or, with `login: person`, when no access token is valid. `reusable`: it stays valid, so the manager sends it again, and
   * keeps it if the response has no refresh token (RFC 6749, section 6).
   */
  readonly refreshTokens?: 'single-use' | 'reusable' | undefined
  /**
   * How long the service accepts a used refresh token, ms, according to its documentation. If a response is lost, the manager sends the refresh
   * token again within this time. Default 0.
   */
  readonly reuseGraceMs?: number | undefined
  /**
   * For tokens of users who log in: `person` or `session` of `axios-evergreen/login`. `oauth2({ grant: 'login' })` and `mcpLogin` set it. Absent:
   * `obtain` needs no user.
   */
  readonly login?: LoginLayer | undefined
  /** `id` does not distinguish users, because no account was given. A store for many accounts then requires `storeKey`. Default false. */
  readonly isUnnamed?: boolean | undefined
  /**
   * What the tokens are bound to, such as the thumbprint of a key (RFC 9449). Resolves with the same text in every process that can use the tokens.
   * Managers with different bindings do not share a store record, because they could not use each other's tokens.
   */
  readonly boundTo?: Promise<string> | undefined
  /** Whether `obtain` and `refresh` request the token that `context.resource` names, for `forResource`. Default false. */
  readonly resources?: boolean | undefined
  /**
   * Revokes these tokens at the service (RFC 7009). `logout()` of the manager calls it, up to three times while the service fails. If the service has
   * no revocation endpoint for these tokens, rejects with a `TokenError` whose details have `revocation: 'no-endpoint'`.
   */
  revoke?(
    tokens: { accessToken?: string; refreshToken?: string; context?: string },
    context: ExchangeContext,
  ): Promise<void>
}

/** Whether a source, or its class, has the method. Members of `Object.prototype` do not count (F217). */
export function offers<Method extends 'refresh' | 'reset' | 'revoke'>(
  source: TokenSource,
  method: Method,
): source is TokenSource & Required<Pick<TokenSource, Method>> {
  return member(source, method) !== undefined
}

/** A source whose users log in. Its manager is a `LoginManager`. */
export interface LoginSource extends TokenSource {
  readonly login: LoginLayer
}

/** What the manager passes to each exchange. */
export interface ExchangeContext {
  /** Aborted after `exchangeTimeoutMs`. Not aborted when a caller stops waiting or the manager is closed. */
  readonly signal: AbortSignal
  /** The manager's clock, for sources that track the service's time. */
  readonly clock: Clock
  /** Which exchange this is. Absent: a revocation. */
  readonly exchange?: 'obtain' | 'refresh'
  /** Reports a response that is usable but unexpected. The manager emits it as an `anomaly`. The message must contain no secret. */
  readonly report?: (kind: AnomalyKind, message: string) => void
  /** In `refresh` and `revoke`: the `context` of these tokens (`TokenGrant`). */
  readonly context?: string
  /** What the access token is for (`forResource`). Absent: the login's own. Only for a source with `resources: true`. */
  readonly resource?: ResourceOptions
}

/** The key of `InternalContext` on an exchange context. All copies of the package share it. */
export const INTERNAL = Symbol.for('axios-evergreen.exchange')

/** What the manager and the sources of this package share beyond the public context. Every member may be absent. */
export interface InternalContext {
  /** `exchangeTimeoutMs`: the limit for the whole exchange, ms. */
  readonly limitMs?: number
  /** `false`: no caller waits for this request, so it does not keep the process alive. Default true. */
  readonly holdsProcess?: boolean
  /**
   * Reports what the exchange waits for before it sends anything, such as `The clientSecret function`. `undefined`: it sends now. If the deadline
   * passes during this wait, the outcome is `not-sent`, and the message begins with this text.
   */
  readonly waitsFor?: (what: string | undefined) => void
  /**
   * Reports the credentials that the user's function returned for this exchange, or when it was called again after a rejected refresh. A rejection
   * after the credentials changed is no sign of theft. The manager hashes the text immediately and keeps 16 bits of the hash.
   */
  readonly hasCredentials?: ((text: string) => void) | undefined
  /** Reports the origin and path of the token request, for messages. */
  readonly sendsTo?: (address: string) => void
  /** For `forResource`: returns the source that requests the token of the resource, given the settings of the source for the login's own API. */
  readonly sourceFor?: (settings: never) => never
}

/** A context made by this package. A source must also accept a context without the symbol, which a test or a wrapping source may have made. */
export interface PackageContext extends ExchangeContext {
  readonly [INTERNAL]?: InternalContext
}

/** @returns The internal part of a context, or an empty object. */
export function internalOf(context: PackageContext): InternalContext {
  return context[INTERNAL] ?? bare({})
}

export type Exchange = 'obtain' | 'refresh'

/** The result of one exchange. Lifetimes are in ms and count from the moment when the request was sent. */
export interface TokenGrant {
  accessToken: string
  accessLifetimeMs: number
  refreshToken?: string
  refreshLifetimeMs?: number
  /** When the service asks to renew, ms. Used if it is positive and earlier than the manager's own choice. */
  refreshAfterMs?: number
  /** The user who logged in, such as `sub` of an ID token. The manager keeps only a fingerprint, and never exposes it. */
  subject?: string
  /**
   * Text that the source needs to refresh and revoke these tokens, at most 8 KiB, such as the server of the user's tenant or the client registered
   * for this login. Stored and encrypted with the tokens, and never printed. A refresh that returns none keeps it.
   */
  context?: string
}

/**
 * What `adopt()` takes: an access token, a refresh token, or both. Without an access token, or if its lifetime is 0 or less, the next caller
 * refreshes. `null` counts as absent.
 */
export interface AdoptedGrant {
  accessToken?: string | null | undefined
  /** Ms from now. */
  accessLifetimeMs?: number | null | undefined
  refreshToken?: string | null | undefined
  /** Ms from now. Absent, or 0 or less: unknown. */
  refreshLifetimeMs?: number | null | undefined
  /** As in `TokenGrant`. */
  subject?: string | null | undefined
  /** As in `TokenGrant`. Absent: clears the context of the previous login. */
  context?: string | null | undefined
}

/** The key of `GrantDetails` on a grant. All copies of the package share it. */
export const GRANT_DETAILS = Symbol.for('axios-evergreen.grant')

/** What the sources of this package report about a grant beyond its public members. */
export interface GrantDetails {
  /**
   * Why the access token cannot be used, although the response has a valid refresh token. `accessToken` is then empty, and `accessLifetimeMs` 0. If
   * the refresh token differs from the presented one, the manager stores it, treats the old one as spent, and makes one more exchange in the same
   * renewal. Otherwise the exchange has failed with this error.
   */
  readonly flaw?: TokenError | undefined
  /** The response did not say how long the access token is valid. */
  readonly isLifetimeAssumed?: boolean | undefined
}
export interface DetailedGrant extends TokenGrant {
  readonly [GRANT_DETAILS]?: GrantDetails
}

/** The key on an error for the fingerprint of an unclear response, which distinguishes it from others. Not its text, which may contain secrets. */
export const RESPONSE_FINGERPRINT = Symbol.for('axios-evergreen.response')

/**
 * The key of a function that returns the credentials of a source as text, if they are constants. The manager hashes them immediately and keeps 16
 * bits of the hash. A function, because inspection tools call getters and would show the value.
 */
export const CREDENTIALS = Symbol.for('axios-evergreen.credentials')

/** The key of `reportSecondManager` on a source of this package that obtains with credentials alone, for which one manager per process is enough. */
export const SECOND_MANAGER = Symbol.for('axios-evergreen.second-manager')

/** The key of a function on a source that receives `WWW-Authenticate` of each response of the API that rejects a token. */
export const CHALLENGED = Symbol.for('axios-evergreen.challenged')

/** The key of a function, on an error, that returns the claims which a server requires of the next login (F409). */
export const CLAIMS = Symbol.for('axios-evergreen.claims')
