import pRetry from 'p-retry'
import { detailsOf, outcomeOf, TokenError } from './errors.ts'
import { exchange, type ExchangeSettings } from './exchange.ts'
import { GaveUp } from './gave-up.ts'
import { Halted, Pauses } from './pauses.ts'
import { coolDownMs, type Plan, planAfter } from './renewal-plan.ts'
import { uncertaintyOf } from './suspicion.ts'
import type { SuspicionWatch } from './suspicion-watch.ts'
import { toTokenError } from './to-token-error.ts'
import type {
  ClaimAnswer,
  GrantedClaim,
  NewTokens,
  RefreshTokenFate,
  ReleaseAnswer,
  StoredTokens,
  TokenRecord,
} from './token-store.ts'

/** A refresh token that met a 5xx may have been spent: it is presented this often, then given up. */
const MAX_PRESENTATIONS = 3
const SHORT_PAUSE_MS = 1_000

/** What all renewals of one manager share. */
export interface RenewalSettings extends ExchangeSettings {
  readonly record: TokenRecord
  /** Names this manager in the record. */
  readonly owner: string
  readonly suspicions: SuspicionWatch
  /** What one renewal leaves to the next. */
  readonly memory: RenewalMemory
  /** Token calls made, and how many of them failed. */
  readonly counts: { obtains: number; refreshes: number; failures: number }
}

export interface RenewalMemory {
  /** A refresh failed in a way that calls for the credentials once, whatever the record holds. */
  owesObtain: boolean
  /** Refresh tokens up to this version are never presented again, even if the record was not told that they are spent. */
  spentVersion: number
}

/** What one renewal starts from. */
export interface RenewalStart {
  /** The highest version this manager has seen. */
  readonly seenVersion: number
  /** Renewals in a row that gave up before this one. */
  readonly failuresBefore: number
  /** Whether tokens that another owner got will do. */
  readonly adoptable: (tokens: StoredTokens) => boolean
  /** For how long requests are still served by the old token without waiting, ms; 0 or less where they are not. */
  readonly servedMs: () => number
  /** Whether its token calls keep the process alive. */
  readonly holdsProcess: boolean
  /** Whether somebody waits for the new token. */
  readonly isAwaited: () => boolean
  /** A pause that the service asked for begins. */
  readonly onHold: (pauseMs: number, error: TokenError) => void
}

export interface Renewed {
  readonly tokens: StoredTokens
  readonly by: 'obtain' | 'refresh' | 'adopted'
  readonly attempts: number
}

class TryAgain extends Error {
  readonly afterMs: number

  constructor(afterMs: number) {
    super()
    this.afterMs = afterMs
  }
}

/** One renewal: claim, choose refresh or obtain, exchange, settle; and again as the retry policy says. */
export class Renewal {
  readonly #settings: RenewalSettings
  readonly #start: RenewalStart
  /** Why the last call failed, for those who cannot wait for the next. */
  lastError: TokenError | undefined
  #seenVersion: number
  /** Renewals in a row that gave up before this one, as far as is known. */
  #failuresBefore: number
  /** On the token clock: remaining lifetimes of the claim count from here. */
  #claimedAt = 0
  #signatureFailures = 0
  #halted: 'outdated' | 'closed' | undefined
  readonly #pauses: Pauses

  constructor(settings: RenewalSettings, start: RenewalStart) {
    this.#settings = settings
    this.#start = start
    this.#seenVersion = start.seenVersion
    this.#failuresBefore = start.failuresBefore
    this.#pauses = new Pauses(settings.clock)
  }

  /** After a renewal that gave up, one call probes whether the service is back. */
  get #maxAttempts(): number {
    return this.#failuresBefore > 0 ? 1 : this.#settings.retry.maxAttempts
  }

  /**
   * Ends pauses at once and makes no further call. The exchange in flight runs to its end, since aborting a refresh would
   * turn a good pair into doubt: `closed` stores what it brings, `outdated` drops it.
   */
  halt(why: 'outdated' | 'closed'): void {
    this.#halted = why
    this.#pauses.halt()
  }

  /** Somebody waits: no longer leaves a renewal to another owner while the old token serves. */
  hurry(): void {
    this.#pauses.hurry()
  }

  /** @throws {GaveUp | Halted} */
  async run(delayMs: number): Promise<Renewed> {
    await this.#pauses.for(delayMs)
    return pRetry((attempt) => this.#attempt(attempt), {
      retries: this.#settings.retry.maxAttempts - 1,
      // p-retry's own pause would be real time; ours goes through the clock.
      minTimeout: 0,
      shouldRetry: ({ error }) => error instanceof TryAgain,
      onFailedAttempt: ({ error }) => (error instanceof TryAgain ? this.#pauses.for(error.afterMs) : undefined),
    })
  }

  async #attempt(attempt: number): Promise<Renewed> {
    const { record, counts, suspicions, memory, random } = this.#settings
    // Before the claim: what a broken generator throws must not leave one unsettled.
    const chance = random()
    const claim = await this.#claim()
    if (claim.kind === 'newer') return this.#adopted(claim.tokens, attempt - 1)
    if (this.#isHalted()) return this.#withdraw(claim, 'keep')

    const refreshToken = this.#presentable(claim)
    const by = refreshToken === undefined ? 'obtain' : 'refresh'
    counts[by === 'obtain' ? 'obtains' : 'refreshes'] += 1
    if (by === 'obtain') memory.owesObtain = false
    if (refreshToken !== undefined) void suspicions.note(refreshToken)
    let granted: NewTokens
    try {
      granted = await exchange(this.#settings, refreshToken, this.#start.holdsProcess)
    } catch (thrown) {
      counts.failures += 1
      return this.#failed(claim, by, toTokenError(thrown, by), attempt, chance)
    }
    if (this.#isHalted('outdated')) return this.#withdraw(claim, by === 'refresh' ? 'doubtful' : 'keep')
    if (by === 'refresh') {
      this.#spent(claim)
      this.#reportOddRotation(granted, refreshToken)
    } else suspicions.settle('accepted')
    if (granted.refreshToken !== undefined) void suspicions.note(granted.refreshToken)
    const tokens = await record.accept(claim, granted)
    if (this.#isHalted()) throw new Halted()
    const isOurs = tokens.accessToken === granted.accessToken
    if (tokens.accessRemainingMs > 0) return { tokens, by: isOurs ? by : 'adopted', attempts: attempt }
    return this.#arrivedExpired(attempt)
  }

  /** The answer took longer than the token lives, or this machine slept. */
  #arrivedExpired(attempt: number): never {
    const error = new TokenError('ERR_TOKEN_RESPONSE', 'The token had expired before it arrived')
    if (attempt >= this.#maxAttempts) {
      const facts = this.#facts()
      throw new GaveUp(error, coolDownMs(error, facts.failures, { ...facts, retryAfterMs: 0 }), facts.failures)
    }
    this.#settings.events.emit('retry', { attempt, delayMs: SHORT_PAUSE_MS, error })
    throw new TryAgain(SHORT_PAUSE_MS)
  }

  #adopted(tokens: StoredTokens, attempts: number): Renewed {
    this.#settings.suspicions.settle('superseded')
    this.#settings.memory.owesObtain = false
    return { tokens, by: 'adopted', attempts }
  }

  /** Claims until this owner is granted the exchange, or somebody else's tokens will do. */
  async #claim(): Promise<GrantedClaim | Extract<ClaimAnswer, { kind: 'newer' }>> {
    const { record, owner, tokenClock, exchangeTimeoutMs, random } = this.#settings
    // Longer than the exchange it covers: only an owner that stalled lets it run out.
    const ttlMs = exchangeTimeoutMs + Math.min(5_000, exchangeTimeoutMs / 2)
    let pollMs = 250
    for (;;) {
      const askedAt = tokenClock.now()
      const claim = await record.claim(owner, this.#seenVersion, ttlMs)
      this.#claimedAt = tokenClock.now()
      if (claim.kind === 'granted') {
        this.#failuresBefore = Math.max(this.#failuresBefore, claim.failures)
        // A process that was stopped meanwhile has lost its claim, and somebody else may be at it.
        if (this.#claimedAt - askedAt < ttlMs || this.#halted) return claim
        continue
      }
      if (claim.kind === 'cooling') {
        const { code, failures, ...details } = claim.coolDown
        const error = new TokenError(code, 'Another owner of this account failed to renew', details)
        throw new GaveUp(error, claim.remainingMs, failures)
      }
      if (claim.kind === 'busy') {
        const servedMs = this.#start.isAwaited() ? 0 : this.#start.servedMs()
        // Somebody else is at it. While our own token serves there is no need to ask how it goes.
        if (servedMs > 0) await this.#pauses.untilHurried(Math.min(claim.remainingMs, servedMs))
        else {
          await this.#pauses.for(Math.min(claim.remainingMs, pollMs * (1 - random() / 2)))
          pollMs = Math.min(1_000, pollMs * 2)
        }
        continue
      }
      this.#seenVersion = claim.tokens.version
      if (this.#start.adoptable(claim.tokens)) return claim
    }
  }

  /** @returns The refresh token, if it is to be presented now; undefined: obtain. */
  #presentable({ tokens, version, presentable, presentations, isPrivate }: GrantedClaim): string | undefined {
    const { source, memory } = this.#settings
    if (!source.refresh || memory.owesObtain || !presentable || !tokens) return undefined
    if (version <= memory.spentVersion && !isPrivate) return undefined
    if ((tokens.refreshRemainingMs ?? Infinity) <= 0) return undefined
    // After a 5xx it may have been spent. While the old token serves there is time to find out.
    if (presentations > 0 && (presentations >= MAX_PRESENTATIONS || this.#start.servedMs() <= 0)) return undefined
    return tokens.refreshToken
  }

  /** Settles a failed exchange: adopts what somebody else got meanwhile, or throws what comes next. */
  async #failed(
    claim: GrantedClaim,
    by: 'obtain' | 'refresh',
    error: TokenError,
    attempt: number,
    chance: number,
  ): Promise<Renewed> {
    const { record, events, suspicions, memory } = this.#settings
    this.lastError = error
    const retryAfterMs = this.#believedRetryAfter(error)
    const { fate, judged, obtains, delayMs, restMs } = this.#planAfter(error, by, attempt, retryAfterMs, chance)
    let gaveUp = restMs === undefined ? undefined : new GaveUp(error, restMs, this.#failuresBefore + 1)
    if (fate === 'doubtful' || fate === 'dead') this.#spent(claim)

    const refusedAt = this.#settings.tokenClock.now()
    // Whoever had a refresh token refused keeps the claim until it is clear what that means for all owners.
    const rest = gaveUp && fate !== 'dead' ? gaveUp.coolDown : ({ kind: 'retry', ms: delayMs } as const)
    const isGivenBack = this.#halted && fate !== 'dead'
    const answer = await record.release(claim, fate, isGivenBack ? undefined : rest).catch(() => undefined)
    const newer = answer?.newer
    if (obtains && !newer) memory.owesObtain = true
    if (newer && !this.#halted && this.#start.adoptable(newer)) return this.#adopted(newer, attempt)
    // A reset goes with a change of credentials, which explains the refusal.
    const explained = newer !== undefined || this.#halted === 'outdated'
    if (fate === 'dead') {
      if (judged && !explained && (await this.#mustStop(claim, error, answer, refusedAt))) gaveUp = this.#stopped(error)
      if (gaveUp || this.#halted) await record.release(claim, fate, gaveUp?.coolDown).catch(() => undefined)
    }
    if (this.#halted) throw new Halted()
    if (by === 'obtain' && error.code === 'ERR_CREDENTIALS_REJECTED') suspicions.settle('rejected')
    if (gaveUp) throw gaveUp
    if (retryAfterMs > 0) this.#start.onHold(delayMs, error)
    events.emit('retry', { attempt, delayMs, error })
    throw new TryAgain(delayMs)
  }

  #planAfter(
    error: TokenError,
    exchange: 'obtain' | 'refresh',
    attempt: number,
    retryAfterMs: number,
    chance: number,
  ): Plan {
    const { retry, renewal } = this.#settings
    if (error.code === 'ERR_SIGNATURE') this.#signatureFailures += 1
    const signatureFailures = this.#signatureFailures
    const known = { exchange, attempt, maxAttempts: this.#maxAttempts, signatureFailures, retryAfterMs, chance }
    return planAfter(error, { ...known, ...this.#facts() }, { retry, maxWaitMs: renewal.maxWaitMs })
  }

  /** What a cool-down depends on. */
  #facts(): { failures: number; calledForMs: number; servedMs: number } {
    const calledForMs = this.#settings.tokenClock.now() - this.#claimedAt
    return { failures: this.#failuresBefore + 1, calledForMs, servedMs: this.#start.servedMs() }
  }

  /** A refresh token was refused: tells of it if it is suspicious. @returns Whether everything must stop. */
  async #mustStop(
    { tokens, presentations }: GrantedClaim,
    error: TokenError,
    answer: ReleaseAnswer | undefined,
    refusedAt: number,
  ): Promise<boolean> {
    if (tokens?.refreshToken === undefined) return false
    const sinceClaimMs = refusedAt - this.#claimedAt
    const { accessLifetimeMs, accessRemainingMs, refreshRemainingMs } = tokens
    const refusal = {
      remainingMs: refreshRemainingMs === undefined ? undefined : refreshRemainingMs - sinceClaimMs,
      uncertaintyMs: uncertaintyOf(accessLifetimeMs - accessRemainingMs + sinceClaimMs),
      attemptedBefore: presentations > 0,
      contested: answer?.contested ?? false,
      storeReachable: answer !== undefined,
    }
    return this.#settings.suspicions.refused(tokens.refreshToken, refusal, error)
  }

  #stopped({ status, serviceCode }: TokenError): GaveUp {
    const message = 'A refresh token was refused before its time: no token until reset()'
    const error = new TokenError('ERR_SUSPICIOUS_REFRESH_TOKEN', message, { status, serviceCode })
    return new GaveUp(error, Infinity, this.#failuresBefore + 1)
  }

  /** `Retry-After` counts on 429 and 5xx only, and no longer than the policy believes. @returns 0 for none. */
  #believedRetryAfter(error: TokenError): number {
    const { events, retry } = this.#settings
    const outcome = outcomeOf(error)
    const askedMs = outcome === 'deferred' || outcome === 'unknown-5xx' ? (detailsOf(error).retryAfterMs ?? 0) : 0
    if (askedMs > retry.maxRetryAfterMs)
      events.anomaly('retry-after-clamped', `Retry-After of ${askedMs} ms is taken as ${retry.maxRetryAfterMs} ms`)
    return Math.min(askedMs, retry.maxRetryAfterMs)
  }

  #reportOddRotation({ refreshToken }: NewTokens, presented: string | undefined): void {
    const { events } = this.#settings
    if (refreshToken === undefined)
      events.anomaly('response-odd', 'A refresh answer carried no refresh token: the next renewal obtains')
    else if (refreshToken === presented)
      events.anomaly('response-odd', 'A refresh answer carried the same refresh token again')
  }

  /** A method, because TypeScript would not believe that a field changes while something is awaited. */
  #isHalted(why?: 'outdated'): boolean {
    return why === undefined ? this.#halted !== undefined : this.#halted === why
  }

  /** A private record cannot forget, and its versions are not those of the shared one. */
  #spent(claim: GrantedClaim): void {
    if (!claim.isPrivate) this.#settings.memory.spentVersion = claim.version
  }

  async #withdraw(claim: GrantedClaim, fate: RefreshTokenFate): Promise<never> {
    if (fate === 'doubtful') this.#spent(claim)
    await this.#settings.record.release(claim, fate)
    throw new Halted()
  }
}
