import type { Clock } from './clock.ts'
import type { TokenError } from './errors.ts'
import type { AnomalyKind } from './events.ts'
import type { LoginLayer } from './login-layer.ts'
import { member } from './thrown.ts'

/**
 * Makes exchanges with one service for one account. A source never retries and shares nothing: the manager does both.
 * `clientCredentials`, `loginPassword` and `oauth2` return sources. Write your own for any other service.
 */
export interface TokenSource {
  /** Names the service, the variant and the account; the default store key. Stores hash it, and nothing prints it. */
  readonly id: string
  /** Origin of the service. Requests to it may carry the token. */
  readonly origin?: string
  /** Exchanges credentials for tokens. */
  obtain(context: ExchangeContext): Promise<TokenGrant>
  /** Exchanges a refresh token for the next pair. Absent: every renewal is an obtain. */
  refresh?(refreshToken: string, context: ExchangeContext): Promise<TokenGrant>
  /** Forgets what the source has learnt from answers. `reset()` of the manager calls it. */
  reset?(): void
  /**
   * What the service does with a used refresh token. `single-use` (default): the service accepts it once, so the manager never
   * sends it again if the answer is lost. `reusable`: it stays good, so the manager sends it again, and keeps it if the answer
   * has no refresh token (RFC 6749, section 6).
   */
  readonly refreshTokens?: 'single-use' | 'reusable' | undefined
  /**
   * How long the service accepts a used refresh token, ms, by its documentation. If an answer is lost, the manager sends the
   * refresh token again within this time. Default 0.
   */
  readonly reuseGraceMs?: number | undefined
  /**
   * For tokens of people who log in: `person` or `session` of `axios-evergreen/login`. Absent: `obtain` needs nobody. `oauth2({ grant: 'login' })` and
   * `mcpLogin` set it.
   */
  readonly login?: LoginLayer | undefined
  /** `id` does not tell people apart, because nobody named the account: a store for many accounts then needs `storeKey`. Default false. */
  readonly isUnnamed?: boolean | undefined
  /**
   * What the tokens are bound to, such as the thumbprint of a key (RFC 9449). Owners of something else do not share a record of a store: they would
   * hold tokens that they cannot use. Resolves with the same text in each process that can use the tokens.
   */
  readonly boundTo?: Promise<string> | undefined
  /**
   * Tells the service that these tokens are not wanted any more (RFC 7009). `logout()` of the manager calls it, up to three times while the service
   * fails. If it knows no address for these tokens, it rejects with a `TokenError` whose details have `revocation: 'no-endpoint'`.
   */
  revoke?(
    tokens: { accessToken?: string; refreshToken?: string; context?: string },
    context: ExchangeContext,
  ): Promise<void>
}

/** Whether a source has the method, of its own or of its class. What only `Object.prototype` has is no member of a source (F217). */
export function offers<Method extends 'refresh' | 'reset' | 'revoke'>(
  source: TokenSource,
  method: Method,
): source is TokenSource & Required<Pick<TokenSource, Method>> {
  return member(source, method) !== undefined
}

/** A source of people's logins. Its manager is a `LoginManager`. */
export interface LoginSource extends TokenSource {
  readonly login: LoginLayer
}

export interface ExchangeContext {
  /** Aborted when `exchangeTimeoutMs` has passed; never because a caller gave up or the manager was closed. */
  readonly signal: AbortSignal
  /** The manager's clock, for sources that must carry the service's time forward. */
  readonly clock: Clock
  /** Which exchange this is. Absent: a revocation. */
  readonly exchange?: 'obtain' | 'refresh'
  /** Reports a response that is usable but unexpected. The manager emits it as an `anomaly`. The message must contain no secret. */
  readonly report?: (kind: AnomalyKind, message: string) => void
  /** In `refresh` and `revoke`: the `context` that came with these tokens. */
  readonly context?: string
}

/** The key of `InternalContext` on an exchange context. All copies of the package share it. */
export const INTERNAL = Symbol.for('axios-evergreen.exchange')

/** What the manager and the sources of this package exchange beside the public context. Every member may be absent. */
export interface InternalContext {
  /** `exchangeTimeoutMs`: how long the whole exchange may take, ms. */
  readonly limitMs?: number
  /** `false`: no caller waits for this request, so it need not keep the process alive. Default true. */
  readonly holdsProcess?: boolean
  /**
   * Reports what the exchange waits for before it sends anything, such as `The clientSecret function`; `undefined`: it sends now. If the deadline
   * passes meanwhile, the outcome is `not-sent`, and the message begins with this text.
   */
  readonly waitsFor?: (what: string | undefined) => void
  /**
   * Reports the credentials that a function has returned: those of this exchange, or, after a rejected refresh, those that the function returns now.
   * A rejection after a change of the credentials is no sign of theft. The manager hashes the text at once, and keeps 16 bits of the hash.
   */
  readonly hasCredentials?: (text: string) => void
  /** Reports where the request of this exchange goes, for messages: origin and path. */
  readonly sendsTo?: (address: string) => void
}

/** A context as this package makes it. A source must also accept one without the symbol: a test or a source of the user may have made it. */
export interface PackageContext extends ExchangeContext {
  readonly [INTERNAL]?: InternalContext
}

/** @returns The internal part of a context; empty if it has none. */
export function internalOf(context: PackageContext): InternalContext {
  return context[INTERNAL] ?? {}
}

export type Exchange = 'obtain' | 'refresh'

/** What one exchange brought. Lifetimes, ms, count from the moment the request was sent. */
export interface TokenGrant {
  accessToken: string
  accessLifetimeMs: number
  refreshToken?: string
  refreshLifetimeMs?: number
  /** The service asks to renew after this time, ms. Counts if it is positive, and earlier than the instant that the manager would choose. */
  refreshAfterMs?: number
  /** Who has logged in, such as `sub` of an ID token. The manager keeps only its fingerprint, and tells it to nobody. */
  subject?: string
  /**
   * What the source needs to refresh and revoke these very tokens, as text of its own, at most 8 KiB: the server of this person's tenant, the client
   * that was registered for this login. Kept with the tokens, sealed with them, and never printed. A refresh that brings none keeps it.
   */
  context?: string
}

/**
 * What `adopt()` takes. Without an access token, or if its lifetime is 0 or less, the next caller refreshes. At least one of the two tokens must be
 * there. `null` counts as absent.
 */
export interface AdoptedGrant {
  accessToken?: string | null | undefined
  /** Ms from now. */
  accessLifetimeMs?: number | null | undefined
  refreshToken?: string | null | undefined
  /** Ms from now. 0 or less, and absent: not known. */
  refreshLifetimeMs?: number | null | undefined
  /** As in `TokenGrant`. */
  subject?: string | null | undefined
  /** As in `TokenGrant`. Absent: that of an earlier login is cleared. */
  context?: string | null | undefined
}

/** The key of `GrantRemarks` on a grant. All copies of the package share it. */
export const REMARKS = Symbol.for('axios-evergreen.grant')

/** What the sources of this package say of a grant beside its public members. */
export interface GrantRemarks {
  /**
   * The answer has a good refresh token, but an access token that cannot be used: why. `accessToken` is then empty, and `accessLifetimeMs` 0. If the refresh
   * token is another one than that which was presented, the manager stores it, counts the old one as spent, and makes one more exchange in the same
   * renewal. Else the exchange has failed with this error.
   */
  readonly flaw?: TokenError | undefined
  /** The answer did not say how long the access token lives. */
  readonly isLifetimeAssumed?: boolean | undefined
}
export interface RemarkedGrant extends TokenGrant {
  readonly [REMARKS]?: GrantRemarks
}

/** The key under which a source may put on an error what tells one unclear answer from another: a fingerprint, because its words may be secrets. */
export const SAYING = Symbol.for('axios-evergreen.saying')

/**
 * The key of a function that gives the credentials of a source, if they are constants, as text. Its manager hashes them at once, and keeps 16 bits of the hash.
 * A function, because an inspection calls getters, and would show them.
 */
export const CREDENTIALS = Symbol.for('axios-evergreen.credentials')

/** The key of `meetOthers` in a source of this package whose credentials alone obtain tokens: one manager in a process will do. */
export const SERVICE_ACCOUNT = Symbol.for('axios-evergreen.service-account')
