import { type Clock, systemClock } from './clock.ts'
import { TokenError } from './errors.ts'
import {
  checkChoice,
  checkedDuration,
  checkFunction,
  checkNumber,
  checkObject,
  checkText,
  ownOptions,
  shown,
} from './option-checks.ts'
import type { RetryPolicy } from './renewal-plan.ts'
import { parsedUrl } from './secure-origin.ts'
import type { TokenSource } from './token-source.ts'
import type { OpenableStore, TokenStore } from './token-store.ts'

export interface TokenManagerOptions {
  source: TokenSource
  /** Where tokens live. Default: this manager's memory. `redisStore` shares them among processes. */
  store?: TokenStore | undefined
  /** Default `source.id`. */
  storeKey?: string | undefined
  renewal?: RenewalOptions | undefined
  retry?: RetryOptions | undefined
  /** One whole token call, from connecting to the last body byte. Default 10 000. */
  exchangeTimeoutMs?: number | undefined
  /**
   * After a suspicious refresh token: `obtain` a new pair with the credentials, or `stop` at once (the live access token is
   * dropped too) until `reset()`. Default `obtain`.
   */
  onSuspicious?: 'obtain' | 'stop' | undefined
  clock?: Clock | undefined
  /** Uniform in [0, 1). Default `Math.random`. */
  random?: (() => number) | undefined
}

export interface RenewalOptions {
  /**
   * Renewal is due this long before expiry; the old token serves meanwhile. Default a quarter of the lifetime, 2 s to 5 min;
   * never more than half the lifetime.
   */
  skewMs?: number | undefined
  /**
   * With no more than this left callers wait for the renewal. Default a twentieth of the lifetime, 1 s to 10 s; never more
   * than a quarter of the lifetime.
   */
  hardSkewMs?: number | undefined
  /** Renewal comes earlier by up to this share of the skew, drawn once per token. Default 0.2. */
  jitter?: number | undefined
  /**
   * `while-used`: a timer renews a token that has been used since it was got, and lets an idle one lapse; `always` renews it
   * in any case. Default `while-used`.
   */
  keepWarm?: 'while-used' | 'always' | 'never' | undefined
  /** Longest time one caller waits for a token. Default 30 000. */
  maxWaitMs?: number | undefined
}

export interface RetryOptions {
  /** Token calls in one renewal, refreshes and obtains together, the first included. Default 4. */
  maxAttempts?: number | undefined
  /**
   * Step before the second call; later steps double. The pause is a random time between half of the step and the whole step. Default 500. After
   * 429: twice this.
   */
  baseDelayMs?: number | undefined
  /** Default 20 000. */
  maxDelayMs?: number | undefined
  /** Longest `Retry-After` that is believed. Default 300 000. */
  maxRetryAfterMs?: number | undefined
}

export type ManagerSettings = ReturnType<typeof managerSettings>

const OPTIONS = [
  'source',
  'store',
  'storeKey',
  'renewal',
  'retry',
  'exchangeTimeoutMs',
  'onSuspicious',
  'clock',
  'random',
] as const satisfies readonly (keyof TokenManagerOptions)[]

/** The options with their defaults, checked. @throws {TypeError | RangeError} naming the option and its value. */
export function managerSettings(options: TokenManagerOptions) {
  const own = ownOptions('The options of createTokenManager', options, OPTIONS)
  const { source, exchangeTimeoutMs = 10_000, onSuspicious = 'obtain' } = own
  const { store, clock = systemClock, random = Math.random } = own
  checkSource(source)
  const { storeKey = source.id } = own
  if (store && storeKey === '')
    throw new TypeError(
      'storeKey must be given with a store (or account with credentials): two accounts must not share it',
    )
  if (storeKey !== '') checkText('storeKey', storeKey)
  if (store !== undefined && !isOpenable(store))
    throw new TypeError('store must be made by memoryStore() or another store function')
  checkChoice('onSuspicious', onSuspicious, ['obtain', 'stop'])
  checkObject('clock', clock)
  for (const method of ['wallNow', 'monotonicNow', 'setTimer'])
    checkFunction(`clock.${method}`, Reflect.get(clock, method))
  checkFunction('random', random)
  return Object.freeze({
    source,
    graceMs: graceOf(source),
    store,
    storeKey,
    onSuspicious,
    clock,
    random: random === Math.random ? random : checkedRandom(random),
    exchangeTimeoutMs: checkedTimeout(exchangeTimeoutMs),
    renewal: own.renewal === undefined ? USUAL_RENEWAL : renewalSettings(own.renewal),
    retry: own.retry === undefined ? USUAL_RETRY : retrySettings(own.retry),
  })
}

function renewalSettings(renewal: RenewalOptions) {
  const own = ownOptions('renewal', renewal, ['skewMs', 'hardSkewMs', 'jitter', 'keepWarm', 'maxWaitMs'])
  const { skewMs, hardSkewMs, jitter = 0.2, keepWarm = 'while-used', maxWaitMs = 30_000 } = own
  checkNumber('renewal.jitter', jitter, 0, 1)
  checkChoice('renewal.keepWarm', keepWarm, ['while-used', 'always', 'never'])
  return Object.freeze({
    skewMs: skewMs === undefined ? undefined : checkedDuration('renewal.skewMs', skewMs),
    hardSkewMs: hardSkewMs === undefined ? undefined : checkedDuration('renewal.hardSkewMs', hardSkewMs),
    jitter,
    keepWarm,
    maxWaitMs: checkedDuration('renewal.maxWaitMs', maxWaitMs),
  })
}

function retrySettings(retry: RetryOptions): RetryPolicy {
  const own = ownOptions('retry', retry, ['maxAttempts', 'baseDelayMs', 'maxDelayMs', 'maxRetryAfterMs'])
  const { maxAttempts = 4, baseDelayMs = 500, maxDelayMs = 20_000, maxRetryAfterMs = 300_000 } = own
  checkNumber('retry.maxAttempts', maxAttempts, 1)
  if (!Number.isInteger(maxAttempts))
    throw new RangeError(`retry.maxAttempts must be a whole number, got ${maxAttempts}`)
  return Object.freeze({
    maxAttempts,
    baseDelayMs: checkedDuration('retry.baseDelayMs', baseDelayMs),
    maxDelayMs: checkedDuration('retry.maxDelayMs', maxDelayMs),
    maxRetryAfterMs: checkedDuration('retry.maxRetryAfterMs', maxRetryAfterMs),
  })
}

/** Made once: there may be thousands of managers. */
const USUAL_RENEWAL = /* @__PURE__ */ renewalSettings({})
const USUAL_RETRY = /* @__PURE__ */ retrySettings({})

/** A broken generator fails the renewal that draws first; from then on 0 takes the place of what it gives. */
function checkedRandom(random: () => number): () => number {
  let isTold = false
  const broken = (why: string, cause?: unknown): number => {
    if (isTold) return 0
    isTold = true
    const message = `random must give a number from 0 to less than 1, ${why}`
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

function checkedTimeout(exchangeTimeoutMs: number): number {
  checkNumber('exchangeTimeoutMs', exchangeTimeoutMs, 1)
  return checkedDuration('exchangeTimeoutMs', exchangeTimeoutMs)
}

function checkSource(source: Partial<Record<keyof TokenSource, unknown>>): void {
  checkObject('source', source)
  if (source.id !== '') checkText('source.id', source.id)
  checkFunction('source.obtain', source.obtain)
  if (source.refresh !== undefined) checkFunction('source.refresh', source.refresh)
  if (source.reset !== undefined) checkFunction('source.reset', source.reset)
  if (source.origin === undefined) return
  checkText('source.origin', source.origin)
  if (!parsedUrl(source.origin))
    throw new TypeError('source.origin must be an absolute URL, such as https://payments.example.com')
}

/** For how long the service accepts a refresh token that was used, ms; Infinity: as long as it lives. */
function graceOf({ refreshTokens = 'single-use', reuseGraceMs = 0 }: TokenSource): number {
  checkChoice('source.refreshTokens', refreshTokens, ['single-use', 'reusable'])
  return refreshTokens === 'reusable' ? Infinity : checkedDuration('source.reuseGraceMs', reuseGraceMs)
}

function isOpenable(store: TokenStore): store is OpenableStore {
  return typeof (store as Partial<OpenableStore> | null)?.open === 'function'
}
