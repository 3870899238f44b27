import pRetry from 'p-retry'
import type { Account, Settings } from './account.ts'
import { outcomeOf, TokenError } from './errors.ts'
import type { RenewalCause } from './events.ts'
import { HeldToken } from './held-token.ts'
import { receivedTokens, exchange, type Exchanged, rotationProblem, type Presented } from './exchange.ts'
import { CallFailed, nextCallOf, planAfter, planAfterLateArrival, retryAfterMsOf } from './plan.ts'
import { coolingError, errorIfPrivate } from './renewal-errors.ts'
import type { Meanwhile, Plan, Situation } from './situation.ts'
import { type Exchange, offers } from './token-source.ts'
import {
  type LeaseResult,
  type LeaseTerms,
  type Decide,
  type Lease,
  type NewTokens,
  type RefreshTokenFate,
  type ReleaseResult,
  type Report,
  type StoredTokens,
  type Turn,
} from './token-store.ts'
import { type Halt, Halted, Pauses } from './pauses.ts'

/** What one renewal starts from, and how its machine can be reached while it runs. */
export interface RenewalStart {
  /** `forced`: it runs in spite of a cool-down that is not firm, and takes no tokens of another owner. */
  readonly because: RenewalCause
  /** Whether its token requests keep the process alive. */
  readonly holdsProcess: boolean
  /** Renewals in a row that gave up before this one. */
  readonly failuresBefore: number
  /** Whether a caller waits for the new token. */
  readonly isAwaited: () => boolean
  /** The first call has failed, and its repeat comes after a pause. The renewal is not halted: it checks that in the same turn. */
  readonly onRepeat: () => void
  /** A pause that the service asked for begins. The renewal is not halted, either. */
  readonly onPause: (pauseMs: number, error: TokenError) => void
}

/** One token call, under one claim. */
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

/** One renewal: claims, makes the exchange, settles, and does what `plan.ts` and the rules of the source decide. */
export class Renewal implements Turn {
  readonly account: Account
  readonly #settings: Settings
  readonly start: RenewalStart
  /** The next call is a repeat, or comes after a pause: nobody knows when it brings a token. */
  isRepeating = false
  /** Why the last call failed, for callers who cannot wait for the next one. */
  lastError: TokenError | undefined
  readonly pauses: Pauses
  #seenVersion = 0
  /** Renewals in a row that gave up before this one, as far as is known. */
  #failuresBefore: number
  /** On the token clock: remaining lifetimes of the claim count from here. */
  #claimedAt = 0
  /** What the calls of this renewal have shown. */
  readonly #evidence = { signatureFailures: 0, presented: 0, isRotated: false }
  /** Responses of this renewal that brought a refresh token alone. */
  #flaws = 0
  limit = Infinity
  /** Takes the tokens that arrive after a reset or a login: they belong to the login under which this renewal began. */
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

  /** Ends pauses at once and makes no further call. The exchange in flight runs to its end: an aborted refresh would put a good pair in doubt. */
  halt(why: Halt): void {
    this.pauses.halt(why)
  }

  /** A caller waits until `limit`. This ends a pause that the renewal makes only as long as no caller is in a hurry. */
  hurry(limit: number): void {
    this.limit = Math.min(this.limit, limit)
    this.pauses.hurry()
  }

  /** @throws {CallFailed | Halted} */
  async run(delayMs: number): Promise<Renewed> {
    await this.pauses.for(delayMs)
    return pRetry((attempt) => this.#attempt(attempt), {
      retries: this.#settings.retry.maxAttempts - 1,
      // p-retry's own pause would be real time; ours goes through the clock.
      minTimeout: 0,
      shouldRetry: ({ error }) => nextCallOf(error) !== undefined,
      // p-retry calls this before `shouldRetry`, so there may be no next call.
      onFailedAttempt: ({ error }) => {
        const next = nextCallOf(error)
        return next && this.pauses.for(next.ms)
      },
    })
  }

  async #attempt(attempt: number): Promise<Renewed> {
    // Before the claim: if the user's `random` throws, no claim is left unsettled.
    const chance = this.#settings.random()
    const lease = await this.#claim()
    if (lease.kind === 'newer') {
      this.pauses.check()
      return this.#adopted(lease.tokens, attempt - 1)
    }
    if (this.pauses.halted() || !this.#isWanted) return this.#withdraw(lease, 'keep')
    const refreshToken = this.#tokenOrPlan(lease)
    if (typeof refreshToken === 'object') {
      await this.#release(lease, refreshToken)
      return this.#perform(refreshToken, attempt)
    }
    const { events } = this.#settings
    const by = refreshToken === undefined ? 'obtain' : 'refresh'
    const call: Call = { lease, attempt, chance, by, refreshToken }
    if (lease.isPrivate && by === 'obtain' && attempt === 1)
      await this.#settings.store?.others.spread(this, chance).catch(() => this.#withdraw(lease, 'keep'))
    this.#begin(call)
    const run = () =>
      exchange(this.account, refreshToken, this.start.holdsProcess, lease.tokens, () => {
        this.#evidence.isRotated = true
      })
    return (events.watcher ? events.watcher.call(by, attempt, run) : run()).then(
      (granted) => this.#succeeded(call, granted),
      (error: unknown) => this.#failed(call, errorIfPrivate(lease, error as TokenError)),
    )
  }

  /** Claims until the record grants the exchange to this owner, or holds tokens of another owner that will do. */
  async #claim(): Promise<Lease | Extract<LeaseResult, { kind: 'newer' }>> {
    const { account } = this
    const { login, settings } = account
    for (;;) {
      const lease = await (settings.store ? settings.store.others.takeTurn(this) : this.ask(Infinity))
      if (lease.kind === 'cooling') throw new CallFailed(coolingError(lease.coolDown, account), lease.coolDown)
      if (lease.kind === 'granted') {
        this.#failuresBefore = Math.max(this.#failuresBefore, lease.failures)
        return lease
      }
      // Only other owners keep a record busy.
      if (lease.kind === 'busy') continue
      this.#seenVersion = lease.tokens.version
      // Whoever began this renewal must not present the refresh token of another user.
      if (this.#adopts(lease.tokens) || login.isOther(lease.tokens)) return lease
      this.pauses.check()
      login.skipped(lease.tokens)
    }
  }

  ask(ttlMs: number, more?: LeaseTerms): Promise<LeaseResult> {
    const { login, seenVersion: seen, settings } = this.account
    const { record, owner, tokenClock, graceMs, needsLogin, rules } = settings
    const terms = {
      graceMs,
      needsLogin,
      inDoubt: rules.inDoubt,
      login: login.number,
      breaksCoolDown: this.start.because === 'forced',
      ...more,
    }
    // A login may have been stored since this renewal began.
    return record.acquire(owner, Math.max(this.#seenVersion, seen), ttlMs, terms).finally(() => {
      this.#claimedAt = tokenClock.now()
    })
  }

  /** How long ago the last claim was answered, ms. */
  get #sinceLeaseMs(): number {
    return this.#settings.tokenClock.now() - this.#claimedAt
  }

  /** Whether tokens of another owner will do. @param isLast The renewal cannot make the call that a caller asked for. */
  #adopts(tokens: StoredTokens, isLast = false): boolean {
    const { because } = this.start
    const { current, settings } = this.account
    // The store may hold the very token that the API rejects: a step of this owner had no response, and was executed.
    const isRejected = because === 'refused' && current?.stored.accessToken === tokens.accessToken
    return (because !== 'forced' || isLast) && !isRejected && new HeldToken(tokens, settings, 0).freshness !== 'expired'
  }

  /** The refresh token to present; undefined: obtain. With a login a plan may take the place of both. */
  #tokenOrPlan(lease: Lease): string | undefined | Plan {
    const { source, rules } = this.#settings
    const { spent, discarded, mustObtain } = this.account
    const refreshToken = lease.tokens?.refreshToken ?? ''
    const isGivenUp = refreshToken === spent || discarded.includes(refreshToken)
    const presentable = lease.presentable && !isGivenUp && offers(source, 'refresh')
    const isForced = this.start.because === 'forced'
    return rules.choose({ ...lease, presentable }, { ...this.#before, mustObtain, isForced })
  }

  /** Without `background` a renewal is for the callers who wait, and makes no further call once they have left. */
  get #isWanted(): boolean {
    return this.#settings.renewal.background || this.start.isAwaited()
  }

  /** What is known before a call, and after it. `failures`: renewals in a row that gave up, if this one does, too. */
  get #before() {
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
    if (this.pauses.halted() === 'outdated') {
      this.#lateTokens.push(granted)
      return this.#withdraw(lease, by === 'refresh' ? 'doubtful' : 'keep')
    }
    const received = receivedTokens(call, exchanged, this.#settings, this.#sinceLeaseMs)
    if (by === 'obtain') suspicions.settle('accepted')
    // Some services answer with the same refresh token again: then it stays good.
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

  /** A refresh has brought another refresh token alone, and the record has it. One more exchange presents that. */
  #onceMore(call: Call, { version }: StoredTokens, error: TokenError): never {
    const account = this.account
    account.counts.failures += 1
    this.lastError = error
    // The next claim would otherwise find its own pair, and take it for that of another owner.
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

  /** Settles a failed exchange, then does what the plan says. @returns the tokens that another owner has stored meanwhile */
  async #failed(call: Call, error: TokenError): Promise<Renewed> {
    this.account.counts.failures += 1
    this.lastError = error
    this.#count(call, error)
    const { plan, newer } = await this.#settled(call, error)
    // After a reset all this would apply to tokens that were adopted since.
    if (this.pauses.halted() !== 'outdated') await this.#remember(call, plan)
    this.pauses.check()
    return newer && plan.adopts ? this.#adopted(newer, call.attempt) : this.#perform(plan, call.attempt)
  }

  /** Tells the record of a failed exchange. That step of the store computes the plan, because it depends on what the record says. */
  async #settled(call: Call, error: TokenError): Promise<{ plan: Plan; newer: StoredTokens | undefined }> {
    const situation = this.#situation(call)
    const planWith = (meanwhile?: Meanwhile) => planAfter(error, { ...situation, meanwhile }, this.#settings)
    const isLast = call.attempt >= this.#settings.retry.maxAttempts
    let planned = planWith()
    const answer = await this.#release(call.lease, ({ newer, contested }) => {
      planned = planWith({ contested, newer: newer && (this.#adopts(newer, isLast) ? 'fit' : 'unfit') })
      return planned
    })
    return { plan: answer ? planned : planWith(), newer: answer?.newer }
  }

  /** What the plan means for later renewals, and for the listeners. */
  async #remember({ lease, refreshToken = '' }: Call, { error, suspicion, obtains, isSpent }: Plan): Promise<void> {
    if (isSpent) this.account.spent = lease.tokens?.refreshToken
    if (obtains) this.account.mustObtain = true
    if (!suspicion) return
    const { remainingMs, ...told } = suspicion
    await this.account.suspicions.report(refreshToken, told, remainingMs, error)
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

  /** Counts what decides on the next call. */
  #count({ refreshToken }: Call, error: TokenError): void {
    const { events, retry } = this.#settings
    if (error.code === 'ERR_SIGNATURE') this.#evidence.signatureFailures += 1
    if (outcomeOf(error).startsWith('unknown')) this.#evidence.presented += 1
    if (outcomeOf(error) === 'unknown-5xx') this.account.met5xx = refreshToken
    const message = `Retry-After of ${retryAfterMsOf(error)} ms counts as retry.maxRetryAfterMs, ${retry.maxRetryAfterMs} ms`
    if (retryAfterMsOf(error) > retry.maxRetryAfterMs) events.anomaly('retry-after-clamped', message)
  }

  #situation({ lease, attempt, by, chance, refreshToken }: Call): Situation {
    const { retry } = this.#settings
    const { met5xx, credentialsDigest } = this.account
    return {
      ...this.#before,
      ...this.#evidence,
      exchange: by,
      lease,
      attempt,
      // After a renewal that gave up, one call probes whether the service is back.
      maxAttempts: this.#failuresBefore > 0 || !this.#isWanted ? 1 : retry.maxAttempts,
      sinceLeaseMs: this.#sinceLeaseMs,
      met5xx: refreshToken !== undefined && met5xx === refreshToken,
      credentialsDigest,
      halted: this.pauses.halted(),
      chance,
    }
  }

  /** If the store cannot be reached, the claim expires there. */
  #release(lease: Lease, told: Report | Decide): Promise<ReleaseResult | undefined> {
    return this.#settings.record.release(lease, told).catch(() => undefined)
  }

  async #withdraw(lease: Lease, fate: RefreshTokenFate): Promise<never> {
    if (fate !== 'keep' && this.#settings.keepsMs < Infinity) this.account.spent = lease.tokens?.refreshToken
    await this.#release(lease, { fate })
    throw new Halted()
  }
}
