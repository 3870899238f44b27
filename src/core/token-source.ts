import type { Clock } from './clock.ts'
import { TokenError } from './errors.ts'
import type { AnomalyKind } from './events.ts'
import { kindOf } from './option-checks.ts'
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
   * Only a person can obtain tokens, so `obtain` rejects with `ERR_LOGIN_REQUIRED`. The manager then gives up a refresh token only if the service
   * refuses it, never because of doubt. Default false. `session`: what the person has made is a session, such as a cookie, and `obtain` asks it for a
   * token. If the service refuses that (`ERR_CREDENTIALS_REJECTED`), a login is required. The manager asks again when a caller asks, at most once in
   * 10 s, and at once after `reset()`.
   */
  readonly needsLogin?: boolean | 'session' | undefined
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

export interface ExchangeContext {
  /** Aborted when `exchangeTimeoutMs` has passed; never because a caller gave up or the manager was closed. */
  readonly signal: AbortSignal
  /** `exchangeTimeoutMs`: how long the whole exchange may take, ms. */
  readonly limitMs?: number
  /** The manager's clock, for sources that must carry the service's time forward. */
  readonly clock: Clock
  /** `false`: nobody waits for this call, and it need not keep the process alive. Default true. */
  readonly holdsProcess?: boolean
  /**
   * Says what the exchange waits for before it sends anything, such as `The clientSecret function`; `undefined`: it sends now. If the deadline passes
   * meanwhile, the outcome is `not-sent`, and the message begins with these words.
   */
  readonly waitsFor?: (what: string | undefined) => void
  /**
   * Says which credentials a function has given: those of this call, or those that the service would be given now that it has refused a refresh token.
   * A refusal after a change of the credentials is no sign of theft. The manager hashes the text at once, and keeps 16 bits of the hash.
   */
  readonly hasCredentials?: (text: string) => void
  /** Which exchange this is. Absent: none, but a revocation. */
  readonly exchange?: 'obtain' | 'refresh'
  /** Says where the call of this exchange goes, for messages: origin and path. */
  readonly sendsTo?: (address: string) => void
  /** Reports an answer that is usable but odd. The manager emits it as an `anomaly`. Give no secret. */
  readonly report?: (kind: AnomalyKind, message: string) => void
  /** In `refresh` and `revoke`: the `context` that came with these tokens. */
  readonly context?: string
}

export type Exchange = 'obtain' | 'refresh'

/** What one exchange brought. Lifetimes, ms, count from the moment the request was sent. */
export interface TokenGrant {
  accessToken: string
  accessLifetimeMs: number
  refreshToken?: string
  refreshLifetimeMs?: number
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

/** A member of a grant is missing or of the wrong kind: the maker of the grant is at fault, not the service. */
class BrokenGrant extends TypeError {}
/** A member of a grant has a value that cannot be used. */
class UnusableGrant extends TypeError {}

/**
 * Checks what a source gave. The outcome of an unusable grant is `unknown`: the service may have rotated the refresh token all the same.
 *
 * @throws {TokenError} `ERR_TOKEN_SOURCE` when a member is missing or of the wrong kind: the source is broken. `ERR_TOKEN_RESPONSE` when
 * a value cannot be used.
 */
export function checkedGrant(given: TokenGrant | undefined): Readonly<TokenGrant> {
  try {
    return readGrant(given)
  } catch (flaw) {
    const details = { outcome: 'unknown' } as const
    if (flaw instanceof BrokenGrant)
      throw new TokenError('ERR_TOKEN_SOURCE', `The token source is broken: ${flaw.message}`, details)
    if (flaw instanceof UnusableGrant)
      throw new TokenError('ERR_TOKEN_RESPONSE', `The token source gave unusable tokens: ${flaw.message}`, details)
    throw flaw
  }
}

/** @returns A frozen copy with only the members of a grant. @throws {BrokenGrant | UnusableGrant} naming the member */
export function readGrant(grant: TokenGrant | undefined): Readonly<TokenGrant> {
  const members = membersOf(grant)
  if (members.accessToken === undefined)
    throw missing('accessToken', grant as object, ['access_token', 'access', 'token'], '')
  if (members.accessLifetimeMs === undefined)
    throw missing('accessLifetimeMs', grant as object, ['expires_in', 'expiresIn'], ' Give ms')
  return Object.freeze({ ...accessIn(members), ...refreshIn(members), ...subjectIn(members), ...contextIn(members) })
}

/**
 * Reads what `adopt()` takes. An access token without a lifetime left counts as absent: nobody may be given it.
 *
 * @returns A grant; its `accessToken` is empty if only the refresh token is of use.
 * @throws {TypeError} naming the member.
 */
export function readAdopted(given: AdoptedGrant | undefined): Readonly<TokenGrant> {
  const members = membersOf(given, true)
  const { accessToken, accessLifetimeMs, refreshLifetimeMs } = members
  const isUnknown = typeof refreshLifetimeMs === 'number' && refreshLifetimeMs <= 0
  const refresh = refreshIn(isUnknown ? { ...members, refreshLifetimeMs: undefined } : members)
  if (accessToken === undefined && !('refreshToken' in refresh)) throw nothingToAdopt(given as object)
  const isEnded = typeof accessLifetimeMs === 'number' && accessLifetimeMs <= 0
  const isUseless = accessToken === undefined || (isEnded && 'refreshToken' in refresh)
  if (!isUseless && accessLifetimeMs === undefined)
    throw new BrokenGrant('accessLifetimeMs is missing: give ms from now')
  const access = isUseless ? NO_ACCESS_TOKEN : accessIn(members)
  return Object.freeze({ ...access, ...refresh, ...subjectIn(members), ...contextIn(members) })
}

const NO_ACCESS_TOKEN = { accessToken: '', accessLifetimeMs: 0 }

type Members = Readonly<Record<keyof TokenGrant, unknown>>

/** @param nullIsAbsent Databases give null for what is absent. */
function membersOf(grant: object | undefined, nullIsAbsent = false): Members {
  if (typeof grant !== 'object' || (grant as unknown) === null)
    throw new BrokenGrant(`got ${kindOf(grant)} in place of { accessToken, accessLifetimeMs }`)
  const read = (name: keyof TokenGrant) => {
    const value = member(grant, name)
    return nullIsAbsent && value === null ? undefined : value
  }
  return {
    accessToken: read('accessToken'),
    accessLifetimeMs: read('accessLifetimeMs'),
    refreshToken: read('refreshToken'),
    refreshLifetimeMs: read('refreshLifetimeMs'),
    subject: read('subject'),
    context: read('context'),
  }
}

function accessIn({ accessToken, accessLifetimeMs }: Members) {
  if (typeof accessToken !== 'string') throw new BrokenGrant(`accessToken must be a string, got ${kindOf(accessToken)}`)
  // axios strips other characters silently, and a different token would be sent.
  if (!/^[\x21-\x7e]+$/.test(accessToken)) throw new UnusableGrant('accessToken must be visible ASCII characters')
  checkLifetime('accessLifetimeMs', accessLifetimeMs)
  return { accessToken, accessLifetimeMs }
}

function refreshIn({ refreshToken, refreshLifetimeMs }: Members) {
  if (refreshToken === undefined) return {}
  if (typeof refreshToken !== 'string')
    throw new BrokenGrant(`refreshToken must be a string, got ${kindOf(refreshToken)}`)
  if (refreshToken === '' || /[\p{Cc}\p{Cs}]/u.test(refreshToken))
    throw new UnusableGrant('refreshToken must be well-formed text without control characters, and not empty')
  if (refreshLifetimeMs === undefined) return { refreshToken }
  checkLifetime('refreshLifetimeMs', refreshLifetimeMs)
  return { refreshToken, refreshLifetimeMs }
}

function subjectIn({ subject }: Members) {
  if (subject === undefined) return {}
  if (typeof subject !== 'string') throw new BrokenGrant(`subject must be a string, got ${kindOf(subject)}`)
  if (subject === '') throw new UnusableGrant('subject must not be empty')
  return { subject }
}

const LONGEST_CONTEXT = 8_192

function contextIn({ context }: Members) {
  if (context === undefined) return {}
  if (typeof context !== 'string') throw new BrokenGrant(`context must be a string, got ${kindOf(context)}`)
  const bytes = new TextEncoder().encode(context).length
  if (bytes > LONGEST_CONTEXT)
    throw new BrokenGrant(`context must have at most ${LONGEST_CONTEXT} bytes in UTF-8, got ${bytes}`)
  return { context }
}

function nothingToAdopt(given: object): BrokenGrant {
  const isRaw = ['access_token', 'refresh_token'].some((name) => name in given)
  const advice = isRaw
    ? 'pass the answer of a token endpoint through grantOf() of axios-evergreen/oauth2'
    : 'give one of them'
  return new BrokenGrant(`accessToken is missing, and so is refreshToken: ${advice}`)
}

function checkLifetime(name: string, value: unknown): asserts value is number {
  if (typeof value !== 'number') throw new BrokenGrant(`${name} must be a number of milliseconds, got ${kindOf(value)}`)
  if (Number.isNaN(value)) throw new BrokenGrant(`${name} must be a number of milliseconds, got NaN`)
  if (value <= 0 || value === Infinity) throw new UnusableGrant(`${name} must be positive and finite, got ${value}`)
}

/** @param others Names that other libraries give to the member. @param unit What to say of its unit. */
function missing(name: string, grant: object, others: readonly string[], unit: string): BrokenGrant {
  const found = others.find((other) => other in grant)
  const hint = found === undefined ? '' : `; did you mean ${found}?${unit}`
  return new BrokenGrant(`${name} is missing${hint}`)
}

/** The key under which a source may put on an error what tells one unclear answer from another: a fingerprint, because its words may be secrets. */
export const SAYING = Symbol.for('axios-evergreen.saying')
