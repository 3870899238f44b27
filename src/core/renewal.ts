import pRetry from 'p-retry'
import type { Account, Settings } from './account.ts'
import { outcomeOf, TokenError } from './errors.ts'
import type { RenewalCause } from './events.ts'
import { receivedTokens, exchange, type Exchanged, rotationProblem, type Presented } from './exchange.ts'
import { isFit } from './freshness.ts'
import { CallFailed, nextCallOf, planAfter, planAfterLateArrival, retryAfterMsOf } from './plan.ts'
import type { Meanwhile, Plan, Situation } from './situation.ts'
import { type Exchange, offers } from './token-source.ts'
import {
  KEPT,
  NO_TERMS,
  type LeaseResult,
  type LeaseTerms,
  type Decide,
  type Lease,
  type ReleaseResult,
  type Report,
} from './lease.ts'
import type { NewTokens, StoredTokens } from './stored-tokens.ts'
import type { Turn } from './token-store.ts'
import { type Halt, Halted, Pauses } from './pauses.ts'

/** The input of one renewal, and its callbacks to the machine. */
export interface RenewalStart {
  /** `forced`: the renewal runs despite a cool-down that is not firm, and does not adopt tokens of another owner. */
  readonly because: RenewalCause
  /** Whether its token requests keep the process alive. */
  readonly holdsProcess: boolean
  /** Consecutive failed renewals before this one. */
  readonly failuresBefore: number
  /** Whether a caller waits for the new token. */
  readonly isAwaited: () => boolean
  /** Called before the first pause between two token requests, and before each later repeat. Never called once the renewal is halted. */
  readonly onRepeat: () => void
  /** Called when a pause that the service asked for begins. Never called once the renewal is halted. */
  readonly onPause: (pauseMs: number, error: TokenError) => void
}

/** One token request under one lease. */
interface Call extends Presented {
  readonly lease: Lease
  readonly attempt: number
  /** Uniform in [0, 1). */
  readonly chance: number
  readonly by: Exchange
}

export interface Renewed {
  readonly tokens: StoredTokens
  readonly by: Exchange | 'adopted'
  readonly attempts: number
}

/** One renewal: acquires the lease, makes the exchange, releases the lease, and performs what `plan.ts` and the rules of the source decide. */
export class Renewal implements Turn {
  readonly account: Account
  readonly #settings: Settings
  readonly start: RenewalStart
  /** Whether this renewal has paused between two token requests, or is about to: a new token may take a while. */
  isRepeating = false
  /** Why the last token request failed, for callers who cannot wait for the next one. */
  lastError: TokenError | undefined
  readonly pauses: Pauses
  seenVersion = 0
  /** Consecutive failed renewals before this one, as far as known. */
  #failuresBefore: number
  /** When the record last responded, by the token clock: the remaining lifetimes in the lease count from then. */
  #leasedAt = 0
  /** What the token requests of this renewal have shown. */
  readonly #evidence = { signatureFailures: 0, presented: 0, isRotated: false }
  /** Responses with a valid refresh token, but without a usable access token. */
  #flaws = 0
  limit = Infinity
  /** Collects tokens that arrive after a reset or a login. They belong to the login in which this renewal began. */
  readonly #lateTokens: NewTokens[]

  constructor(account: Account, start: RenewalStart) {
    const { settings, work, lateTokens } = account
    this.account = account
    this.#settings = settings
    this.start = start
    this.pauses = new Pauses({ clock: settings.clock, work, isWanted: () => this.#isWanted })
    this.#lateTokens = lateTokens
    this.#failuresBefore = start.failuresBefore
  }

  /** Ends the pause and makes no further token request. An exchange in flight runs to its end: an aborted refresh would leave a valid token in doubt. */
  halt(why: Halt): void {
    this.pauses.halt(why)
  }

  /** Notes a caller who waits until `limit`. Ends a pause that lasts only as long as all callers can wait. */
  hurry(limit: number): void {
    this.limit = Math.min(this.limit, limit)
    this.pauses.hurry()
  }

  /** @throws {CallFailed | Halted} */
  async run(delayMs: number): Promise<Renewed> {
    await this.pauses.for(delayMs)
    return pRetry((attempt) => this.#attempt(attempt), {
      retries: this.#settings.retry.maxAttempts - 1,
      signal: undefined,
      // The pauses of p-retry use real time. Ours use the clock.
      minTimeout: 0,
      shouldRetry: ({ error }) => !!nextCallOf(error),
      // p-retry calls this before `shouldRetry`, so there may be no next request.
      onFailedAttempt: ({ error }) => {
        const next = nextCallOf(error)
        return next && this.pauses.for(next.ms)
      },
    })
  }

  async #attempt(attempt: number): Promise<Renewed> {
    // Before the lease is acquired: if the user's `random` throws, no lease stays open.
    const chance = this.#settings.random()
    const { store } = this.#settings
    // A record without other owners always grants the lease.
    const lease = await (store ? store.others.takeTurn(this) : (this.tryAcquire(Infinity) as Promise<Lease>))
    if (lease.kind === 'newer') {
      this.pauses.check()
      return this.#adopted(lease.tokens, attempt - 1)
    }
    this.#failuresBefore = Math.max(this.#failuresBefore, lease.failures)
    if (this.pauses.halted() || !this.#isWanted) return this.#withdraw(lease)
    const refreshToken = this.#tokenOrPlan(lease)
    if (typeof refreshToken === 'object') {
      await this.#release(lease, refreshToken)
      return this.#perform(refreshToken, attempt)
    }
    const { events } = this.#settings
    const by = refreshToken === undefined ? 'obtain' : 'refresh'
    const call: Call = { lease, attempt, chance, by, refreshToken }
    if (lease.isPrivate && by === 'obtain' && attempt === 1)
      await this.#settings.store?.others.spread(this, chance).catch(() => this.#withdraw(lease))
    this.#begin(call)
    const run = () =>
      exchange(this.account, refreshToken, this.start.holdsProcess, lease.tokens, () => {
        this.#evidence.isRotated = true
      })
    return (events.watcher ? events.watcher.call(by, attempt, run) : run()).then(
      (granted) => this.#succeeded(call, granted),
      (error: unknown) =>
        this.#failed(call, store?.others.errorIfPrivate(lease, error as TokenError) ?? (error as TokenError)),
    )
  }

  tryAcquire(ttlMs: number, more?: LeaseTerms): Promise<LeaseResult> {
    const { login, seenVersion: seen, settings } = this.account
    const { record, owner, tokenClock, graceMs, rules } = settings
    const terms = {
      ...NO_TERMS,
      graceMs,
      inDoubt: rules.inDoubt,
      login: login?.number,
      breaksCoolDown: this.start.because === 'forced',
      ...more,
    }
    // `seen` may be newer: a login may have been stored since this renewal began.
    return record.acquire(owner, Math.max(this.seenVersion, seen), ttlMs, terms).finally(() => {
      this.#leasedAt = tokenClock.now()
    })
  }

  /** Ms since the record last responded to `acquire`. */
  get #sinceLeaseMs(): number {
    return this.#settings.tokenClock.now() - this.#leasedAt
  }

  /** Whether the renewal may adopt tokens of another owner. @param isLast Whether it can make no further token request of its own. */
  mayAdopt(tokens: StoredTokens, isLast = false): boolean {
    const { because } = this.start
    const { current, settings } = this.account
    // The store may have the token that the API rejected, if it executed a step of this owner whose reply was lost.
    const isRejected = because === 'refused' && current?.stored.accessToken === tokens.accessToken
    return (because !== 'forced' || isLast) && !isRejected && isFit(tokens, settings.renewal)
  }

  /** The refresh token to present. Undefined: obtain. With a login, the result may be a plan instead of an exchange. */
  #tokenOrPlan(lease: Lease): string | undefined | Plan {
    const { source, rules } = this.#settings
    const { spent, discarded, mustObtain } = this.account
    const refreshToken = lease.tokens?.refreshToken ?? ''
    const isGivenUp = refreshToken === spent || discarded.includes(refreshToken)
    const presentable = lease.presentable && !isGivenUp && offers(source, 'refresh')
    const isForced = this.start.because === 'forced'
    return rules.choose({ ...lease, presentable }, { ...this.#state, mustObtain, isForced })
  }

  /** Without `background`, a renewal makes no further token request after all callers have left. */
  get #isWanted(): boolean {
    return this.#settings.renewal.background || this.start.isAwaited()
  }

  /** The part of the situation that is known before the exchange. `failures`: consecutive failed renewals if this one fails too. */
  get #state() {
    const { usableMs = 0, isRejected = false } = this.account.current ?? {}
    return { usableMs, isRejected, failures: this.#failuresBefore + 1 }
  }

  #begin({ by, refreshToken }: Call): void {
    const { counts, suspicions } = this.account
    counts[by === 'obtain' ? 'obtains' : 'refreshes'] += 1
    this.#evidence.isRotated = false
    if (by === 'obtain') this.account.mustObtain = false
    if (refreshToken !== undefined) void suspicions.note(refreshToken)
  }

  async #succeeded(call: Call, exchanged: Exchanged): Promise<Renewed> {
    const { lease, by, attempt } = call
    const { tokens: granted, flaw } = exchanged
    const { record, events, graceMs, keepsMs } = this.#settings
    const { suspicions } = this.account
    const received = receivedTokens(call, exchanged, this.#settings, this.#sinceLeaseMs)
    // Issued tokens always go to the record: otherwise it would keep a spent refresh token. A record that an act has cleared since ignores them.
    if (this.pauses.halted() === 'outdated') {
      this.#lateTokens.push(received)
      if (this.account.discarded.includes(call.refreshToken ?? '')) this.account.discard(received.refreshToken)
    }
    if (by === 'obtain') suspicions.settle('accepted')
    // Some services return the same refresh token again. It then stays valid.
    else if (graceMs < Infinity && received.refreshToken !== call.refreshToken)
      this.account.spent = lease.tokens?.refreshToken
    if (granted.refreshToken !== undefined) void suspicions.note(granted.refreshToken)
    const problem = rotationProblem(call.refreshToken, granted.refreshToken, keepsMs)
    if (problem !== undefined) events.anomaly('unexpected-response', problem)
    const tokens = await record.accept(lease, received)
    this.pauses.check()
    if (flaw && tokens.refreshToken === granted.refreshToken) return this.#onceMore(call, tokens, flaw)
    const isOurs = tokens.accessToken === granted.accessToken
    if (tokens.accessRemainingMs > 0) return { tokens, by: isOurs ? by : 'adopted', attempts: attempt }
    const error = new TokenError('ERR_TOKEN_RESPONSE', 'The token had expired before it arrived')
    return this.#perform(planAfterLateArrival(error, this.#situation(call)), attempt)
  }

  /** The response had a new refresh token but no usable access token. The record has stored the refresh token, and one more exchange presents it. */
  #onceMore(call: Call, { version }: StoredTokens, error: TokenError): never {
    const account = this.account
    account.counts.failures += 1
    this.lastError = error
    // Otherwise the next `acquire` would return these tokens as those of another owner.
    account.seenVersion = Math.max(account.seenVersion, version)
    this.#flaws += 1
    const maxAttempts = this.#flaws > 1 ? 0 : this.#settings.retry.maxAttempts
    return this.#perform(planAfterLateArrival(error, { ...this.#situation(call), maxAttempts }, 0), call.attempt)
  }

  #adopted(tokens: StoredTokens, attempts: number): Renewed {
    this.account.suspicions.settle('superseded')
    this.account.mustObtain = false
    return { tokens, by: 'adopted', attempts }
  }

  /** Handles a failed exchange: reports it to the record, then performs the plan. @returns The tokens that another owner has stored in the meantime. */
  async #failed(call: Call, error: TokenError): Promise<Renewed> {
    this.account.counts.failures += 1
    this.lastError = error
    this.#count(call, error)
    const { plan, newer } = await this.#report(call, error)
    // After a reset, this would apply to tokens that were adopted since.
    if (this.pauses.halted() !== 'outdated') await this.#remember(call, plan)
    this.pauses.check()
    return newer && plan.adopts ? this.#adopted(newer, call.attempt) : this.#perform(plan, call.attempt)
  }

  /** Reports a failed exchange and releases the lease. The plan depends on the state of the record, so it is computed inside this step of the store. */
  async #report(call: Call, error: TokenError): Promise<{ plan: Plan; newer: StoredTokens | undefined }> {
    const situation = this.#situation(call)
    const planWith = (meanwhile?: Meanwhile) => planAfter(error, { ...situation, meanwhile }, this.#settings)
    const isLast = call.attempt >= this.#settings.retry.maxAttempts
    let planned = planWith()
    const released = await this.#release(call.lease, ({ newer, contested }) => {
      planned = planWith({ contested, newer: newer && (this.mayAdopt(newer, isLast) ? 'fit' : 'unfit') })
      return planned
    })
    return { plan: released ? planned : planWith(), newer: released?.newer }
  }

  /** Notes what the plan means for later renewals, and reports a suspicion. */
  async #remember({ lease, refreshToken = '' }: Call, { error, suspicion, obtains, isSpent }: Plan): Promise<void> {
    if (isSpent) this.account.spent = lease.tokens?.refreshToken
    if (obtains) this.account.mustObtain = true
    if (!suspicion) return
    const { remainingMs, ...reported } = suspicion
    await this.account.suspicions.report(refreshToken, reported, remainingMs, error)
  }

  /** @throws {CallFailed} */
  #perform({ error, next, hasRetryAfter, isAccountRejected }: Plan, attempt: number): never {
    const { events } = this.#settings
    if (isAccountRejected) this.account.suspicions.settle('rejected')
    if (next.kind === 'retry') {
      this.isRepeating ||= next.ms > 0
      if (this.isRepeating) this.start.onRepeat()
      if (hasRetryAfter) this.start.onPause(next.ms, error)
      events.emit('retry', { attempt, delayMs: next.ms, error })
    }
    throw new CallFailed(error, next)
  }

  /** Updates the evidence for the next decision. */
  #count({ refreshToken }: Call, error: TokenError): void {
    const { events, retry } = this.#settings
    if (error.code === 'ERR_SIGNATURE') this.#evidence.signatureFailures += 1
    if (outcomeOf(error).startsWith('unknown')) this.#evidence.presented += 1
    if (outcomeOf(error) === 'unknown-5xx') this.account.met5xx = refreshToken
    const message = `Retry-After of ${retryAfterMsOf(error)} ms counts as retry.maxRetryAfterMs, ${retry.maxRetryAfterMs} ms`
    if (retryAfterMsOf(error) > retry.maxRetryAfterMs) events.anomaly('retry-after-clamped', message)
  }

  #situation({ lease, attempt, by, chance, refreshToken }: Call): Situation {
    const { retry, store } = this.#settings
    const { met5xx, credentialsDigest } = this.account
    return {
      ...this.#state,
      ...this.#evidence,
      exchange: by,
      lease,
      attempt,
      // After a failed renewal, the next one sends a single request, which probes whether the service is back.
      maxAttempts: this.#failuresBefore > 0 || !this.#isWanted ? 1 : retry.maxAttempts,
      sinceLeaseMs: this.#sinceLeaseMs,
      met5xx: refreshToken !== undefined && met5xx === refreshToken,
      credentialsDigest,
      halted: this.pauses.halted(),
      chance,
      isAlone: !store || lease.isPrivate,
    }
  }

  /** Releases the lease. If the store is unreachable, the lease expires there. */
  #release(lease: Lease, report: Report | Decide): Promise<ReleaseResult | undefined> {
    return this.#settings.record.release(lease, report).catch(() => undefined)
  }

  async #withdraw(lease: Lease): Promise<never> {
    await this.#release(lease, KEPT)
    throw new Halted()
  }
}
