import { type Clock, systemClock } from './clock.ts'
import { TokenError } from './errors.ts'
import { isLoginLayer, type LoginLayer } from './login-layer.ts'
import {
  checkChoice,
  checkedDuration,
  checkedFlag,
  checkedName,
  checkFunction,
  checkNumber,
  checkObject,
  checkText,
  kindOf,
  type Readers,
  readOptions,
  shown,
  wrong,
} from './option-checks.ts'
import { parsedUrl } from './secure-origin.ts'
import { member } from './thrown.ts'
import type { TokenSource } from './token-source.ts'
import type { OpenableStore, TokenStore } from './token-store.ts'

/** The options of `createTokenManager`. */
export interface TokenManagerOptions {
  /** Makes the token requests, for one account at one service. */
  source: TokenSource
  /** Where the manager keeps its tokens. Default: its own memory. `redisStore` and `postgresStore` share them among processes. */
  store?: TokenStore | undefined
  /** The account's name in the store. Default `source.id`. */
  storeKey?: string | undefined
  /** When tokens are renewed, and how long callers wait. */
  renewal?: RenewalOptions | undefined
  /** How failed token requests are repeated. */
  retry?: RetryOptions | undefined
  /** Timeout of one token request, ms, from connecting to the last byte of the body. Default 10 000. */
  exchangeTimeoutMs?: number | undefined
  /**
   * What the manager does if a refresh token is suspicious: rejected before it expired. `obtain` (default): it obtains a new token set with the
   * credentials. `stop`: it discards the access token, even if it is still valid, and rejects with `ERR_SUSPICIOUS_REFRESH_TOKEN` until `reset()` or
   * `adopt()`.
   */
  onSuspicious?: 'obtain' | 'stop' | undefined
  /** For tests. Default: this machine's clocks and timers. */
  clock?: Clock | undefined
  /** Random numbers for jitter and pauses, uniform in [0, 1). Default `Math.random`. */
  random?: (() => number) | undefined
}

/** When tokens are renewed, and how long callers wait. */
export interface RenewalOptions {
  /**
   * Renewal is due this many ms before expiry. Requests use the old token during the renewal. Default: a quarter of the lifetime, but
   * at least 2 s and at most 5 min. Never more than half of the lifetime.
   */
  skewMs?: number | undefined
  /**
   * From this many ms before expiry, callers wait for the renewal. Default: a twentieth of the lifetime, but at least 1 s
   * and at most 10 s. Never more than a quarter of the lifetime. Use less than `skewMs`: otherwise requests wait for each renewal.
   */
  hardSkewMs?: number | undefined
  /** Renewal is due earlier by up to this share of the skew (0 to 1), drawn once per token. Default 0.2. */
  jitter?: number | undefined
  /**
   * When a timer renews the token. `while-used` (default): only if a caller has used the token; an unused token expires. `always`: every
   * token. `never`: there is no timer, and only callers start renewals.
   */
  keepWarm?: 'while-used' | 'always' | 'never' | undefined
  /** The maximum time that one caller waits for a token, ms; then `ERR_WAIT_TIMEOUT`. Default 30 000. */
  maxWaitMs?: number | undefined
  /**
   * The maximum age of the login state when a request is sent, ms. Only for a source that has a `login`, with a store. If the state is older, the caller
   * waits for a check of the store, at most for the store's timeout, and proceeds if the store does not respond. Until the check, `peekAccessToken()`
   * returns undefined. A manager whose store reports changes (`followPage`) makes no checks. Default 30 000. Infinity: never.
   */
  maxStalenessMs?: number | undefined
  /**
   * Whether the manager renews in the background. `false`, for functions that are frozen between requests: there are no timers, and no token request
   * outlives the request that needs it. The next caller renews a token that is due, and waits for the new one for at most `exchangeTimeoutMs`; then it
   * uses the old token. If that caller gives up, an exchange in flight completes, and no other follows. Default true.
   */
  background?: boolean | undefined
}

/** How failed token requests are repeated. */
export interface RetryOptions {
  /** Maximum number of token requests in one renewal: refreshes and obtains together, including the first. Default 4. */
  maxAttempts?: number | undefined
  /**
   * The backoff step before the second request, ms; later steps double. The pause is a random time between half of the step and the whole
   * step. After a 429 the step is twice as long. Default 500.
   */
  baseDelayMs?: number | undefined
  /** Longest step, ms. Default 20 000. */
  maxDelayMs?: number | undefined
  /** Upper limit of a `Retry-After`, ms. Default 300 000. */
  maxRetryAfterMs?: number | undefined
}

/** The options of `retry`, with their defaults. */
export type RetryPolicy = Readonly<Record<keyof RetryOptions, number>>

export type ManagerSettings = ReturnType<typeof managerSettings>

const RENEWAL = {
  skewMs: (name, given) => (given === undefined ? undefined : checkedDuration(name, given)),
  hardSkewMs: (name, given) => (given === undefined ? undefined : checkedDuration(name, given)),
  jitter: (name, given = 0.2) => checkNumber(name, given, 0, 1),
  keepWarm: (name, given = 'while-used') => checkChoice(name, given, ['while-used', 'always', 'never']),
  maxWaitMs: (name, given = 30_000) => checkedDuration(name, given),
  maxStalenessMs: (name, given = 30_000) => (given === Infinity ? Infinity : checkNumber(name, given, 0)),
  background: (name, given = true) => checkedFlag(name, given),
} satisfies Readers<RenewalOptions>

const RETRY = {
  maxAttempts: (name, given = 4) => checkedCount(name, given),
  baseDelayMs: (name, given = 500) => checkedDuration(name, given),
  maxDelayMs: (name, given = 20_000) => checkedDuration(name, given),
  maxRetryAfterMs: (name, given = 300_000) => checkedDuration(name, given),
} satisfies Readers<RetryOptions>

function checkedCount(name: string, value: unknown): number {
  const count = checkNumber(name, value, 1)
  if (!Number.isInteger(count)) throw new RangeError(wrong(name, 'a whole number', String(count)).message)
  return count
}

const OPTIONS = {
  source: (_, given) => checkedSource(given as TokenSource),
  store: (_, given) => checkedStore(given as TokenStore | undefined),
  storeKey: (_, given) => given as string | undefined,
  onSuspicious: (name, given = 'obtain') => checkChoice(name, given, ['obtain', 'stop']),
  clock: (_, given = systemClock) => checkedClock(given as Clock),
  random: (name, given = Math.random) => checkedRandom(name, given as () => number),
  exchangeTimeoutMs: (name, given = 10_000) => checkedDuration(name, given, 1),
  renewal: (name, given) => (given === undefined ? USUAL_RENEWAL : readOptions(name, given as object, RENEWAL)),
  retry: (name, given) => (given === undefined ? USUAL_RETRY : readOptions(name, given as object, RETRY)),
} satisfies Readers<TokenManagerOptions>

/** @returns The options, checked and with their defaults. @throws {TypeError | RangeError} naming the option. */
export function managerSettings(options: TokenManagerOptions) {
  if (member(options, 'obtain') !== undefined) throw new TypeError(NO_SOURCE)
  const own = readOptions('The options of createTokenManager', options, OPTIONS, '')
  const { source, store, storeKey = source.id } = own
  if (store && (storeKey === '' || (own.storeKey === undefined && isUnnamed(source, store))))
    throw new TypeError('With a store, pass storeKey, or account to the source: two accounts must not share a key')
  if (storeKey !== '') checkedName('storeKey', storeKey)
  const graceMs = graceOf(source)
  return Object.freeze({ ...own, storeKey, graceMs, layer: layerOf(source) })
}

const NO_SOURCE = 'source must be given: createTokenManager({ source })'

/** Created once: a process may have thousands of managers. */
const USUAL_RENEWAL = /* @__PURE__ */ readOptions('renewal', {}, RENEWAL)
const USUAL_RETRY = /* @__PURE__ */ readOptions('retry', {}, RETRY)

function checkedClock(clock: Clock): Clock {
  checkObject('clock', clock)
  for (const method of ['wallNow', 'monotonicNow', 'setTimer'])
    checkFunction(`clock.${method}`, Reflect.get(clock, method))
  return clock
}

/** A broken generator makes the first renewal that uses it fail. After that, each invalid value counts as 0. */
function checkedRandom(name: string, random: () => number): () => number {
  checkFunction(name, random)
  if (random === Math.random) return random
  let isReported = false
  const broken = (why: string, cause?: unknown): number => {
    if (isReported) return 0
    isReported = true
    const message = `random must return a number from 0 to less than 1, ${why}`
    throw new TokenError('ERR_TOKEN_SOURCE', message, { cause: cause ?? new RangeError(message) })
  }
  return () => {
    let drawn: unknown
    try {
      drawn = random()
    } catch (cause) {
      return broken('and it threw', cause)
    }
    return typeof drawn === 'number' && drawn >= 0 && drawn < 1 ? drawn : broken(`got ${shown(drawn)}`)
  }
}

function checkedSource(source: TokenSource): TokenSource {
  if ((source as unknown) === undefined) throw new TypeError(NO_SOURCE)
  checkObject('source', source)
  // `member` ignores what is only on Object.prototype (F217).
  const [id, origin] = [member(source, 'id'), member(source, 'origin')]
  if (id !== '') checkedName('source.id', id)
  checkFunction('source.obtain', member(source, 'obtain'))
  for (const method of ['refresh', 'reset', 'revoke']) {
    const given = member(source, method)
    if (given !== undefined) checkFunction(`source.${method}`, given)
  }
  if (origin === undefined) return source
  checkText('source.origin', origin)
  if (!parsedUrl(origin))
    throw wrong('source.origin', 'an absolute URL, such as https://payments.example.com', 'another string')
  return source
}

/** @returns How long the service accepts a used refresh token, in ms. Infinity: until the token expires. */
function graceOf(source: TokenSource): number {
  const refreshTokens = member(source, 'refreshTokens') ?? 'single-use'
  const reuseGraceMs = member(source, 'reuseGraceMs') ?? 0
  checkChoice('source.refreshTokens', refreshTokens, ['single-use', 'reusable'])
  return refreshTokens === 'reusable' ? Infinity : checkedDuration('source.reuseGraceMs', reuseGraceMs)
}

/** Whether two users could share one key of the store. */
function isUnnamed(source: TokenSource, store: OpenableStore): boolean {
  return member(source, 'isUnnamed') === true && member(store, 'singleUser') !== true
}

/** @throws {TypeError} naming the fix. */
function layerOf(source: TokenSource): LoginLayer | undefined {
  if (member(source, 'needsLogin') !== undefined) throw new TypeError(NO_NEEDS_LOGIN)
  const layer = member(source, 'login')
  if (layer === undefined || isLoginLayer(layer)) return layer
  throw wrong('source.login', 'person or session of axios-evergreen/login', shown(layer))
}

const NO_NEEDS_LOGIN = 'source.needsLogin is now source.login: person or session of axios-evergreen/login'

function checkedStore(store: TokenStore | undefined): OpenableStore | undefined {
  if (store !== undefined && typeof (store as Partial<OpenableStore> | null)?.open !== 'function')
    throw wrong('store', 'memoryStore() or another store', kindOf(store))
  return store as OpenableStore | undefined
}
