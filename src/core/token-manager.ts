import { Mutex } from 'async-mutex'
import { type Clock, LONGEST_TIMER_MS } from './clock.ts'
import { isTokenError, toldAgain, toldTo, TokenError, type TokenErrorCode } from './errors.ts'
import { Events, type RenewalCause, type TokenEvents } from './events.ts'
import { GaveUp } from './gave-up.ts'
import { HeldToken } from './held-token.ts'
import { managerSettings, type TokenManagerOptions } from './manager-options.ts'
import { checkedDuration, ownOption } from './option-checks.ts'
import { Renewal, type Renewed, type RenewalSettings } from './renewal.ts'
import { type Context, currentContext } from './runtime.ts'
import { SuspicionWatch } from './suspicion-watch.ts'
import { toTokenError } from './to-token-error.ts'
import { TokenClock } from './token-clock.ts'
import type { StoredTokens } from './token-store.ts'
import { WaitingRoom } from './waiting-room.ts'

/** Keeps one fresh access token for one account, whoever asks and however many at once. */
export interface TokenManager {
  /**
   * A token that may be sent now; waits for the renewal where there is none. A caller who gives up leaves alone.
   *
   * @throws {TokenError} see `TokenErrorCode`; `signal.reason` when the caller gives up.
   */
  getAccessToken(options?: WaitOptions): Promise<string>
  /**
   * The token if it may be sent right now, else undefined. Synchronous; starts the background renewal when it is due.
   */
  peekAccessToken(): string | undefined
  /**
   * The API refused `refused`. Resolves with a different token; renews only if `refused` is still the current one.
   *
   * @throws {TokenError} `ERR_REPLACED_TOO_SOON` within the gap between forced renewals: max(2 s, a tenth of the lifetime).
   */
  replaceAccessToken(refused: string, options?: WaitOptions): Promise<string>
  /** Renews now, however fresh the token; joins a renewal in flight. @throws {TokenError} as `getAccessToken`. */
  renew(options?: WaitOptions): Promise<void>
  /**
   * Forgets tokens (in the store too), cool-downs and stops, and outdates a renewal in flight: its waiters join the next
   * one. Use after changing credentials.
   */
  reset(): Promise<void>
  status(): TokenStatus
  /** @returns a function that removes the listener. Listeners may throw; nothing else notices. */
  on<Name extends keyof TokenEvents>(name: Name, listener: (event: TokenEvents[Name]) => void): () => void
  /** Ends timers, rejects waiters with `ERR_CLOSED`, lets an exchange in flight finish and be stored. */
  close(): Promise<void>
}

export interface WaitOptions {
  signal?: AbortSignal | undefined
  /** Longest wait of this call, ms; at most, and by default, `renewal.maxWaitMs`. */
  maxWaitMs?: number | undefined
}

export interface TokenStatus {
  /** While a token lives its freshness is the phase, whatever else is wrong. */
  phase: 'empty' | 'fresh' | 'due' | 'expired' | 'cooling-down' | 'stopped' | 'closed'
  renewing: boolean
  /** Epoch ms; a lifetime above 24 h counts as 24 h. */
  accessExpiresAt?: number
  /** Epoch ms. */
  refreshExpiresAt?: number
  /** No token call before this instant, epoch ms. */
  nextAttemptAt?: number
  /** Why there was no token last, until one comes. */
  lastError?: TokenErrorCode
  /** Token calls made (`obtains`, `refreshes`) and how many of them failed; tokens that another owner of the store got. */
  counts: { obtains: number; refreshes: number; adoptions: number; failures: number; suspicions: number }
}

/**
 * What an attachment needs to know of a manager beyond its public face, found under a symbol that all copies of the package
 * share. A hand-made manager has none.
 */
export interface ManagerInternals {
  readonly origin?: string | undefined
  readonly clock: Clock
  readonly maxWaitMs: number
  readonly anomaly: Events['anomaly']
  /** Whether `token` is the current one and has ended: a stall may lie between its being served and its being sent. */
  readonly hasEnded: (token: string) => boolean
  /** The API refused `token`: replaces it for later requests, as `replaceAccessToken` does. Nobody waits, and no process is held. */
  readonly replaceBehind: (token: string) => void
}
export const INTERNALS = Symbol.for('axios-evergreen.TokenManager')

/**
 * Creates the manager of one account. Nothing is called until somebody asks for a token.
 *
 * @throws {TypeError | RangeError} naming the option and its value.
 */
export function createTokenManager(options: TokenManagerOptions): TokenManager {
  return new Manager(options)
}

/** Between two renewals that nobody forced, however short a token lives. */
const LEAST_RENEWAL_GAP_MS = 1_000
const LEAST_FORCED_GAP_MS = 2_000

class Manager implements TokenManager {
  readonly #settings: RenewalSettings
  /** Of the manager's creation. A renewal that a request starts must not run in the context of that request. */
  readonly #inContext: Context = currentContext()
  readonly #clock: Clock
  readonly #events: Events
  readonly #room: WaitingRoom
  /** Guards the renewals themselves: after a reset the next one waits for the exchange in flight. */
  readonly #mutex = new Mutex()
  readonly #counts = { obtains: 0, refreshes: 0, adoptions: 0, failures: 0 }
  #current: HeldToken | undefined
  /** The renewal that callers share. One that is no longer here is outdated: its result reaches nobody. */
  #renewal: Renewal | undefined
  /**
   * No token call before `until`: the last renewal gave up, or the service asked the one in flight for a pause. Endless
   * after a suspicion that stops.
   */
  #coolDown: { until: number; error: TokenError } | undefined
  #failures = 0
  #seenVersion = 0
  #renewedAt = -Infinity
  #forcedAt = -Infinity
  #cancelTimer: () => void = () => undefined
  #closed = false

  constructor(options: TokenManagerOptions) {
    const settings = managerSettings(options)
    const { clock, store, storeKey } = settings
    const events = new Events(clock)
    this.#clock = clock
    this.#events = events
    this.#settings = {
      ...settings,
      record: store.open(storeKey, clock, {
        anomaly: (kind, message) => events.anomaly(kind, message),
        unavailable: (message) => events.storeUnavailable(message),
      }),
      owner: crypto.randomUUID(),
      tokenClock: new TokenClock(clock, (byMs) => {
        const how = byMs > 0 ? 'ahead (sleep, or a step)' : 'back'
        events.anomaly('clock-jumped', `The wall clock jumped ${Math.abs(Math.round(byMs))} ms ${how}`)
      }),
      events,
      counts: this.#counts,
      suspicions: new SuspicionWatch(clock, events, settings.onSuspicious),
      memory: { owesObtain: false, spentVersion: 0 },
    }
    const atLimit = () =>
      new TokenError('ERR_WAIT_TIMEOUT', 'No access token could be had within the time that this caller can wait', {
        cause: this.#renewal?.lastError,
      })
    this.#room = new WaitingRoom(clock, () => this.#living(), atLimit)
  }

  get [INTERNALS](): ManagerInternals {
    const { source, clock, renewal, events } = this.#settings
    return {
      origin: source.origin,
      clock,
      maxWaitMs: renewal.maxWaitMs,
      anomaly: (kind, message) => events.anomaly(kind, message),
      hasEnded: (token) => this.#current?.stored.accessToken === token && this.#current.remainingMs <= 0,
      replaceBehind: (token) => {
        const current = this.#current
        if (current?.stored.accessToken !== token || this.#renewal || this.#isCoolingDown()) return
        if (this.#forcedGapMs(current) > 0) return
        this.#forcedAt = this.#now()
        this.#renew('refused', false)
      },
    }
  }

  async getAccessToken(options?: WaitOptions): Promise<string> {
    ownOption(options, 'signal')?.throwIfAborted()
    try {
      return this.peekAccessToken() ?? (await this.#wait(this.#current ? 'expired' : 'cold', options, true))
    } catch (error) {
      throw ownError(this, 'getAccessToken', error)
    }
  }

  peekAccessToken(): string | undefined {
    const current = this.#current
    if (!current) return undefined
    const { freshness } = current
    if (freshness === 'expired') return undefined
    current.used = true
    if (freshness === 'due' && !this.#renewal && !this.#isCoolingDown()) this.#renew('due')
    return current.stored.accessToken
  }

  async replaceAccessToken(refused: string, options?: WaitOptions): Promise<string> {
    ownOption(options, 'signal')?.throwIfAborted()
    const current = this.#current
    try {
      // A late 401 for a token that was replaced since costs no token call.
      const token =
        current?.stored.accessToken === refused
          ? await this.#replace(current, options)
          : await this.getAccessToken(options)
      if (token !== refused) return token
      const message = 'The service issued the refused access token again'
      this.#events.anomaly('new-tokens-refused', `${message}: check that the API and the token service belong together`)
      throw new TokenError('ERR_TOKEN_RESPONSE', message)
    } catch (error) {
      throw ownError(this, 'replaceAccessToken', error)
    }
  }

  async renew(options?: WaitOptions): Promise<void> {
    ownOption(options, 'signal')?.throwIfAborted()
    try {
      await this.#wait('forced', options, false)
    } catch (error) {
      throw ownError(this, 'renew', error)
    }
  }

  async reset(): Promise<void> {
    this.#renewal?.halt('outdated')
    this.#renewal = this.#current = this.#coolDown = undefined
    this.#failures = 0
    this.#renewedAt = this.#forcedAt = -Infinity
    this.#settings.suspicions.forget()
    const { memory, record } = this.#settings
    memory.owesObtain = false
    // Where the store cannot be told, the refresh token that it holds is not presented again all the same.
    memory.spentVersion = Math.max(memory.spentVersion, this.#seenVersion)
    this.#cancelTimer()
    const cleared = record.clear(this.#seenVersion)
    if (this.#room.size > 0) this.#renew('cold')
    try {
      // Last, but before any exchange: what a source throws must not keep waiters from their token.
      this.#settings.source.reset?.()
    } finally {
      await cleared
    }
  }

  status(): TokenStatus {
    const current = this.#current
    const coolDown = this.#coolDown
    const wallNow = this.#clock.wallNow()
    const at = (ms: number) => Math.round(wallNow + ms)
    return {
      phase: this.#phase(),
      renewing: this.#renewal !== undefined,
      ...(current && { accessExpiresAt: at(current.remainingMs) }),
      ...(current?.refreshRemainingMs !== undefined && { refreshExpiresAt: at(current.refreshRemainingMs) }),
      ...(coolDown &&
        coolDown.until < Infinity &&
        this.#isCoolingDown() && { nextAttemptAt: at(coolDown.until - this.#now()) }),
      ...(coolDown && { lastError: coolDown.error.code }),
      counts: { ...this.#counts, suspicions: this.#settings.suspicions.count },
    }
  }

  on<Name extends keyof TokenEvents>(name: Name, listener: (event: TokenEvents[Name]) => void): () => void {
    return this.#events.on(name, listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#renewal?.halt('closed')
    this.#renewal = this.#current = undefined
    this.#cancelTimer()
    this.#room.turnAway(closedError())
    // The exchange in flight may keep no process alive by itself.
    const letGo = this.#clock.setTimer(() => undefined, LONGEST_TIMER_MS, true)
    await this.#mutex.runExclusive(() => undefined).finally(letGo)
  }

  #now(): number {
    return this.#clock.monotonicNow()
  }

  /** The token while it strictly lives: nobody fails for the want of a newer one. */
  #living(): string | undefined {
    const current = this.#current
    return current && current.remainingMs > 0 ? current.stored.accessToken : undefined
  }

  #phase(): TokenStatus['phase'] {
    const current = this.#current
    if (this.#closed) return 'closed'
    if (current && current.remainingMs > 0) return current.freshness
    if (this.#isCoolingDown()) return this.#coolDown?.until === Infinity ? 'stopped' : 'cooling-down'
    return current ? 'expired' : 'empty'
  }

  #isCoolingDown(): boolean {
    return this.#coolDown !== undefined && this.#now() < this.#coolDown.until
  }

  /** Why no token call can help this caller, if so. @param limit Until when it can wait, monotonic. */
  #refusal(limit: number): TokenError | undefined {
    if (this.#closed) return closedError()
    if (!this.#coolDown || !this.#isCoolingDown()) return undefined
    // Who can outwait a renewal's pause waits for it.
    return this.#renewal && limit > this.#coolDown.until ? undefined : this.#until(this.#coolDown)
  }

  #until({ until, error }: { until: number; error: TokenError }): TokenError {
    const pauseMs = until - this.#now()
    if (pauseMs === Infinity) return error
    const retryAt = Math.round(this.#clock.wallNow() + pauseMs)
    const message = `${error.message}; next attempt in ${(pauseMs / 1_000).toFixed(1)} s`
    return toldAgain(error, { message, retryAt })
  }

  /**
   * Not asynchronous itself: of ten thousand waiters each would hold one promise more.
   *
   * @param mayKeep Whether the old token will do where no new one can be had in time.
   */
  #wait(because: RenewalCause, options: WaitOptions | undefined, mayKeep: boolean): Promise<string> | string {
    const signal = ownOption(options, 'signal')
    const maxWaitMs = ownOption(options, 'maxWaitMs')
    const most = this.#settings.renewal.maxWaitMs
    const now = this.#now()
    const limit = now + (maxWaitMs === undefined ? most : Math.min(checkedDuration('maxWaitMs', maxWaitMs), most))
    const living = mayKeep ? this.#living() : undefined
    const refusal = this.#refusal(limit)
    if (refusal && living === undefined) throw refusal
    if (!refusal && !this.#renewal) this.#renew(because)
    this.#renewal?.hurry()
    if (living === undefined || !this.#current) return this.#room.enter({ limit, signal })
    // The token lives, within its hard window: wait until a third of that is left, then make do with it.
    const { patienceMs } = this.#current
    if (refusal || patienceMs <= 0) return living
    return this.#room.enter({ limit, keepAt: now + patienceMs, signal })
  }

  #replace(current: HeldToken, options?: WaitOptions): Promise<string> | string {
    const expired = current.freshness === 'expired'
    if (!expired && !this.#renewal && !this.#isCoolingDown()) {
      const gapMs = this.#forcedGapMs(current)
      if (gapMs > 0) throw this.#until({ until: this.#now() + gapMs, error: replacedTooSoon() })
      this.#forcedAt = this.#now()
    }
    return this.#wait(expired ? 'expired' : 'refused', options, false)
  }

  /** Until the next renewal that a refusal may force, ms. */
  #forcedGapMs(current: HeldToken): number {
    const gapMs = Math.max(LEAST_FORCED_GAP_MS, current.stored.accessLifetimeMs / 10)
    return this.#forcedAt + gapMs - this.#now()
  }

  /** Starts the renewal that all callers share; none is in flight, or the one in flight is outdated. */
  #renew(because: RenewalCause, holdsProcess = true): void {
    const renewal = new Renewal(this.#settings, {
      holdsProcess,
      seenVersion: this.#seenVersion,
      failuresBefore: this.#failures,
      adoptable: (tokens) => because !== 'forced' && this.#held(tokens, 0).freshness !== 'expired',
      servedMs: () => this.#current?.servedMs ?? 0,
      isAwaited: () => this.#room.size > 0,
      onHold: (pauseMs, error) => {
        if (this.#renewal !== renewal) return
        this.#coolDown = { until: this.#now() + pauseMs, error }
        this.#room.turnAway(this.#until(this.#coolDown), this.#coolDown.until)
      },
    })
    this.#renewal = renewal
    void this.#inContext(() => this.#mutex.runExclusive(() => this.#see(renewal, because)))
  }

  /** Sees a renewal through. Never rejects: callers hear of it in the waiting room. */
  async #see(renewal: Renewal, because: RenewalCause): Promise<void> {
    const now = this.#now()
    const unforced = because === 'due' || because === 'expired'
    const startAt = unforced ? Math.max(now, this.#renewedAt + LEAST_RENEWAL_GAP_MS) : now
    try {
      const renewed = await renewal.run(startAt - now)
      if (this.#renewal === renewal) this.#succeeded(renewed, because, startAt)
    } catch (thrown) {
      // One that was halted is no longer the current one.
      if (this.#renewal !== renewal) return
      this.#failed(
        thrown instanceof GaveUp
          ? thrown
          : new GaveUp(toTokenError(thrown, 'obtain'), LEAST_RENEWAL_GAP_MS, this.#failures + 1),
      )
    }
  }

  #succeeded({ tokens, by, attempts }: Renewed, because: RenewalCause, startedAt: number): void {
    // First, because it calls the user's `random`: what that throws is a failure like any other.
    const current = this.#held(tokens, this.#settings.random())
    this.#renewal = this.#coolDown = undefined
    this.#failures = 0
    this.#renewedAt = startedAt
    this.#seenVersion = tokens.version
    if (by === 'adopted') this.#counts.adoptions += 1
    // The caller who waited for a token counts as its first use.
    current.used = this.#room.size > 0
    this.#current = current
    this.#armTimer(current.freshMs)
    this.#room.serve(tokens.accessToken)
    const { accessExpiresAt = 0, refreshExpiresAt } = this.status()
    const durationMs = this.#now() - startedAt
    this.#events.emit('renewed', {
      by,
      because,
      attempts,
      durationMs,
      accessExpiresAt,
      ...(refreshExpiresAt !== undefined && { refreshExpiresAt }),
    })
  }

  #failed({ error, coolDownMs, failures }: GaveUp): void {
    this.#renewal = undefined
    this.#failures = failures
    this.#coolDown = { until: this.#now() + coolDownMs, error }
    const nextAttemptAt = Math.round(this.#clock.wallNow() + coolDownMs)
    // A stop is final: the token that lives is dropped too.
    if (coolDownMs === Infinity) this.#current = undefined
    const failure = coolDownMs === Infinity ? error : toldAgain(error, { retryAt: nextAttemptAt })
    this.#armTimer(coolDownMs)
    this.#room.turnAway(failure)
    this.#events.emit('renewalFailed', { error: failure, nextAttemptAt })
  }

  #held(tokens: StoredTokens, random: number): HeldToken {
    return new HeldToken(tokens, this.#settings.renewal, this.#settings.tokenClock, random)
  }

  #armTimer(delayMs: number): void {
    this.#cancelTimer()
    if (this.#settings.renewal.keepWarm === 'never' || !this.#current) return
    // Rounded up: one that fires a rounding error early would be set again for no time at all, for ever.
    this.#cancelTimer = this.#clock.setTimer(() => this.#onTimer(), Math.ceil(Math.max(0, delayMs)))
  }

  /** The token is due. Renews one that is in use, lets an idle one lapse. */
  #onTimer(): void {
    const current = this.#current
    if (!current || this.#renewal) return
    const { freshness, freshMs, remainingMs } = current
    if (this.#settings.renewal.keepWarm !== 'always' && !(current.used && remainingMs > 0)) return
    // A timer may come a little early, or while a failed renewal cools down.
    if (freshness === 'fresh') this.#armTimer(freshMs)
    else if (this.#coolDown && this.#isCoolingDown()) this.#armTimer(this.#coolDown.until - this.#now())
    else this.#renew(freshness)
  }
}

/** Each caller gets an error of its own, whose stack begins where the caller asked. */
function ownError(manager: Manager, asked: keyof TokenManager, error: unknown): unknown {
  return isTokenError(error) ? toldTo(Reflect.get(manager, asked), error) : error
}

function replacedTooSoon(): TokenError {
  return new TokenError('ERR_REPLACED_TOO_SOON', 'The API refuses access tokens faster than they may be replaced')
}

function closedError(): TokenError {
  return new TokenError('ERR_CLOSED', 'The token manager is closed')
}
