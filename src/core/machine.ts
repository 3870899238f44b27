import { Mutex } from 'async-mutex'
import { LONGEST_TIMER_MS, timerDelayMs } from './clock.ts'
import { type LoginReason, toldAgain, TokenError } from './errors.ts'
import type { RenewalCause } from './events.ts'
import { HeldToken } from './held-token.ts'
import { ownOption } from './option-checks.ts'
import {
  admission,
  IDLE,
  phaseAfter,
  loginIn,
  type Phase,
  type PhaseEvent,
  refusalIn,
  renewalIn,
  type Rest,
  restAfter,
  restIn,
  statusIn,
  timerMs,
  type TokenStatus,
} from './phase.ts'
import { newTokens, subjectOf } from './exchange.ts'
import { endInRecord, revoked } from './logout.ts'
import { endingOf } from './renewal-endings.ts'
import { RenewalGaps } from './renewal-gaps.ts'
import type { RenewalSettings, Renewed } from './renewal-settings.ts'
import { Renewal } from './renewal.ts'
import { type Context, currentContext } from './runtime.ts'
import { loginRequired } from './rests.ts'
import { type AdoptedGrant, readAdopted } from './token-source.ts'
import type { NewTokens, StoredTokens } from './token-store.ts'
import { type Wait, waitMsOf, WaitingRoom, type WaitOptions } from './waiting-room.ts'

/** Performs the actions of a manager. `phase.ts` decides what each event makes of the phase. */
export class Machine {
  readonly #settings: RenewalSettings
  /** The context of the manager's creation. A renewal must not run in the context of the request that starts it. */
  readonly #inContext: Context = currentContext()
  readonly #room: WaitingRoom
  /** Runs one renewal at a time: after a reset the next renewal waits for the exchange in flight. */
  readonly #mutex = new Mutex()
  #phase: Phase = IDLE
  #current: HeldToken | undefined
  #seenVersion = 0
  #gaps = new RenewalGaps()
  #cancelTimer: () => void = () => undefined
  /** Tokens that an outdated renewal brought during a logout: they are revoked, too. */
  #leftover: NewTokens[] = []
  /** Resolves when the last logout has cleared the record. */
  #loggedOut: Promise<unknown> | undefined

  constructor(settings: RenewalSettings) {
    this.#settings = settings
    const atLimit = () =>
      new TokenError('ERR_WAIT_TIMEOUT', 'No access token came within the time that this caller can wait', {
        cause: renewalIn(this.#phase)?.lastError,
      })
    this.#room = new WaitingRoom(settings.clock, () => this.#current?.living, atLimit)
  }

  /** The token if it may be sent right now. If it is due, starts a renewal in the background. */
  peek(): string | undefined {
    const current = this.#current
    if (!current) return undefined
    const { freshness } = current
    if (freshness === 'expired') return undefined
    current.used = true
    if (freshness === 'due' && admission(this.#phase, this.#now) === 'start') this.#renew('due')
    return current.stored.accessToken
  }

  /** A token that may be sent now, or the wait for one. @throws {TokenError} if no wait can help. */
  get(options?: WaitOptions): Promise<string> | string {
    ownOption(options, 'signal')?.throwIfAborted()
    return this.peek() ?? this.#wait(this.#current ? 'expired' : 'cold', options, true)
  }

  /** Another token than `refused`. If the manager has replaced `refused` already, it forces no renewal. */
  replace(refused: string, options?: WaitOptions): Promise<string> | string {
    ownOption(options, 'signal')?.throwIfAborted()
    if (!this.#isCurrent(refused)) return this.get(options)
    this.#refuse()
    const isExpired = this.#current?.freshness === 'expired'
    if (!isExpired && this.#admission() === 'start') {
      const tooSoon = this.#takeForcedTurn()
      if (tooSoon) throw this.#refusal(tooSoon)
    }
    return this.#wait(isExpired ? 'expired' : 'refused', options, false)
  }

  /** Starts the replacement of `refused` for later callers. Nobody waits for it, and it keeps no process alive. */
  replaceBehind(refused: string): void {
    if (!this.#isCurrent(refused)) return
    this.#refuse()
    if (this.#admission() === 'start' && !this.#takeForcedTurn()) this.#renew('refused', false)
  }

  renew(options?: WaitOptions): Promise<string> | string {
    ownOption(options, 'signal')?.throwIfAborted()
    return this.#wait('forced', options, false)
  }

  /** Whether `token` is the current one and has expired. */
  hasEnded(token: string): boolean {
    return this.#isCurrent(token) && this.#current?.living === undefined
  }

  /** @throws {TypeError} naming the member. */
  async adopt(given: AdoptedGrant): Promise<void> {
    const grant = readAdopted(given)
    const { events, login, memory, record, source } = this.#settings
    const subject = grant.subject === undefined ? undefined : await subjectOf(source, grant)
    // The logout would clear these tokens, too.
    if (this.#loggedOut) await this.#loggedOut
    const tokens = newTokens(grant, events, 0, subject)
    if (this.#phase.is === 'closed') throw this.#refusal('closed')
    if (this.#current && !login.isSame(subject)) this.#endLogin('logged-out')
    this.#forget()
    memory.spent = undefined
    login.began(subject)
    this.#hold({ tokens: { ...tokens, version: this.#seenVersion }, by: 'adopted', attempts: 0 }, 'forced', this.#now)
    const stored = await record.adopt(this.#seenVersion, tokens)
    this.#seenVersion = Math.max(stored.version, this.#seenVersion)
    login.know(stored)
  }

  async reset(): Promise<void> {
    const { record, source } = this.#settings
    this.#forgetLogin()
    const cleared = record.clear(this.#seenVersion)
    if (this.#room.size > 0) this.#renew('cold')
    try {
      // Waiters need their token even if this throws, so their renewal is started before. Its exchange begins after this.
      source.reset?.()
    } finally {
      await cleared
    }
  }

  /** Ends the login here at once. In the record and at the service it ends as soon as no exchange is in flight. */
  async logout(): Promise<{ revoked: boolean }> {
    const { source } = this.#settings
    const held = this.#current?.stored
    this.#forgetLogin()
    const ended = this.#mutex.runExclusive(() => endInRecord(this.#settings, held, this.#seenVersion))
    this.#loggedOut = ended
    const { tokens, thrown } = await ended
    if (this.#loggedOut === ended) this.#loggedOut = undefined
    const leftover = this.#leftover.splice(0)
    // A refresh token that an exchange has replaced is of no use any more.
    const isRevoked = await revoked(this.#settings, leftover.length > 0 ? leftover : [tokens])
    source.reset?.()
    if (thrown !== undefined) throw thrown as Error
    return { revoked: isRevoked }
  }

  status(): TokenStatus {
    const { counts, suspicions, clock } = this.#settings
    const status = statusIn(this.#phase, this.#current, this.#now, clock.wallNow())
    const login = loginIn(this.#settings.login.status, restIn(this.#phase), this.#current?.living)
    return { ...status, ...login, counts: { ...counts, suspicions: suspicions.count } }
  }

  async close(): Promise<void> {
    renewalIn(this.#phase)?.halt('closed')
    this.#enter({ type: 'closed' })
    this.#current = undefined
    this.#cancelTimer()
    this.#room.turnAway(this.#refusal('closed'))
    this.#settings.record.close?.()
    // The exchange in flight may be one that does not keep the process alive. This timer does.
    const letGo = this.#settings.clock.setTimer(() => undefined, LONGEST_TIMER_MS, true)
    await this.#mutex.runExclusive(() => undefined).finally(letGo)
  }

  /** Changes whenever a login ends. */
  get loginMark(): number {
    return this.#settings.login.mark
  }

  get #now(): number {
    return this.#settings.clock.monotonicNow()
  }

  /** Renewals in a row that gave up. */
  get #failures(): number {
    return restIn(this.#phase)?.failures ?? 0
  }

  /** @returns Whether the event changed the phase. An event of an outdated renewal does not. */
  #enter(event: PhaseEvent): boolean {
    const before = this.#phase
    this.#phase = phaseAfter(before, event)
    return this.#phase !== before
  }

  #isCurrent(token: string): boolean {
    return this.#current?.stored.accessToken === token
  }

  /** The API has refused the current token. If its login has ended, too, nobody gets the token again (F206). */
  #refuse(): void {
    if (this.#current) this.#current.isRefused = true
    const error = restIn(this.#phase)?.error
    if (error?.code === 'ERR_LOGIN_REQUIRED') this.#loginLost(error, 'here')
  }

  /** Requests of the login that ends must get no token of a later one. With `needsLogin` its callers wait no longer. */
  #endLogin(reason: LoginReason): void {
    const { login, needsLogin } = this.#settings
    login.end()
    this.#current = undefined
    if (needsLogin) this.#room.turnAway(loginRequired(reason))
  }

  /** The end of a login by `reset()` or `logout()`. */
  #forgetLogin(): void {
    const { memory, login } = this.#settings
    // The store may be unreachable. Even so, this manager must not present the refresh token of the store again.
    memory.spent = this.#current?.stored.refreshToken ?? memory.spent
    this.#endLogin('logged-out')
    login.required('logged-out', 'here')
    this.#forget()
  }

  /** A login is required. An access token that still serves is kept, unless the API has refused it, or the person has logged out. */
  #loginLost({ loginReason = 'refused' }: TokenError, by: 'here' | 'elsewhere'): void {
    const { login, needsLogin } = this.#settings
    if (!needsLogin) return
    if (this.#current && (this.#current.isRefused || loginReason === 'logged-out')) this.#endLogin(loginReason)
    if (this.#current?.living === undefined) login.required(loginReason, by)
    else this.#armTimer(this.#current.remainingMs)
  }

  /** Forgets the token and the failures, and outdates the renewal in flight. */
  #forget(): void {
    const { memory, suspicions } = this.#settings
    renewalIn(this.#phase)?.halt('outdated')
    this.#enter({ type: 'reset' })
    this.#current = undefined
    this.#gaps = new RenewalGaps()
    suspicions.forget()
    memory.owesObtain = false
    this.#cancelTimer()
  }

  #refusal(refusal: Parameters<typeof refusalIn>[0]): TokenError {
    return refusalIn(refusal, this.#now, this.#settings.clock.wallNow())
  }

  /**
   * Not an async function: each of ten thousand waiters would hold one more promise.
   *
   * @param mayKeep Whether the caller takes the old token if no new one comes in time.
   */
  #wait(because: RenewalCause, options: WaitOptions | undefined, mayKeep: boolean): Promise<string> | string {
    const signal = ownOption(options, 'signal')
    const now = this.#now
    const limit = now + waitMsOf(options, this.#settings.renewal.maxWaitMs)
    const living = mayKeep ? this.#current?.living : undefined
    const admitted = this.#admission(limit, because === 'forced')
    const isRefused = admitted !== 'start' && admitted !== 'join'
    if (isRefused && living === undefined) throw this.#refused(admitted, because)
    if (admitted === 'start') this.#renew(because)
    renewalIn(this.#phase)?.hurry(limit)
    if (living === undefined || !this.#current) return this.#waitIn({ limit, signal }, because)
    // The token is in its hard window. The caller waits until a third of the window is left, then takes the old token.
    const { patienceMs } = this.#current
    if (isRefused || patienceMs <= 0) return living
    return this.#waitIn({ limit, keepAt: now + patienceMs, signal }, because)
  }

  #admission(limit?: number, isForced = false) {
    const isUnserved = restIn(this.#phase)?.whileServed === true && this.#current?.isRefused === true
    return admission(this.#phase, this.#now, limit, isForced || isUnserved)
  }

  #refused(refusal: 'closed' | Rest, because: RenewalCause): TokenError {
    if (refusal !== 'closed' && refusal.error.code === 'ERR_LOGIN_REQUIRED') this.#loginLost(refusal.error, 'here')
    return this.#settings.events.refused(this.#refusal(refusal), because)
  }

  #waitIn(wait: Wait, because: RenewalCause): Promise<string> {
    const token = this.#room.share(wait)
    this.#settings.events.watcher?.wait(token, because)
    return token
  }

  #takeForcedTurn() {
    return this.#gaps.takeForcedTurn(this.#current?.stored.accessLifetimeMs ?? 0, this.#now)
  }

  /** Starts the renewal that all callers share. */
  #renew(because: RenewalCause, holdsProcess = true): void {
    const renewal = new Renewal(this.#settings, {
      holdsProcess,
      isForced: because === 'forced',
      isRefused: () => this.#current?.isRefused === true,
      seenVersion: this.#seenVersion,
      failuresBefore: this.#failures,
      adoptable: (tokens) => {
        // The store may hold the very token that the API refuses: a step of this owner had no answer, and was executed.
        const isRefused = because === 'refused' && this.#isCurrent(tokens.accessToken)
        return because !== 'forced' && !isRefused && this.#held(tokens, 0).freshness !== 'expired'
      },
      servedMs: () => this.#current?.servedMs ?? 0,
      isAwaited: () => this.#room.size > 0,
      onHold: (pauseMs, error) => {
        const rest = { until: this.#now + pauseMs, error, failures: this.#failures, isFirm: true }
        if (!this.#enter({ type: 'held', renewal, rest })) return
        this.#room.turnAway(this.#refusal(rest), rest.until)
      },
      onLeftover: (tokens) => this.#leftover.push(tokens),
    })
    this.#enter({ type: 'started', renewal })
    renewal.hurry(this.#room.firstLimit)
    void this.#inContext(() => this.#mutex.runExclusive(() => this.#see(renewal, because)))
  }

  /** Runs a renewal to its end. Never rejects: callers learn the result in the waiting room. */
  async #see(renewal: Renewal, because: RenewalCause): Promise<void> {
    const now = this.#now
    const startAt = this.#gaps.startAt(because, now)
    try {
      const renewed = await renewal.run(startAt - now)
      if (renewalIn(this.#phase) !== renewal) return
      this.#meet(renewed.tokens)
      this.#hold(renewed, because, startAt)
    } catch (thrown) {
      this.#failed(renewal, thrown)
    }
  }

  /** Listeners learn of a login elsewhere before any caller gets its token. */
  #meet(tokens: StoredTokens): void {
    const { login } = this.#settings
    // The store may have our own login only now, because it was unreachable.
    const isOther = !this.#current?.isOf(tokens) && login.isOther(tokens)
    if (this.#current && isOther) this.#endLogin('logged-out')
    login.seen(tokens, isOther)
  }

  /** Puts the tokens to use: callers get them from now on. */
  #hold({ tokens, by, attempts }: Renewed, because: RenewalCause, startedAt: number): void {
    // First, because this calls the user's `random`: if it throws, the renewal has failed.
    const current = this.#held(tokens, this.#settings.random())
    const renewal = renewalIn(this.#phase)
    if (renewal) this.#enter({ type: 'renewed', renewal })
    this.#seenVersion = tokens.version
    if (by === 'adopted') this.#settings.counts.adoptions += 1
    // The caller who waited for a token counts as its first use.
    current.used = this.#room.size > 0
    this.#current = current
    this.#armTimer(current.freshMs)
    if (tokens.accessToken === '') {
      this.#holdNothing()
      return
    }
    this.#gaps.renewed(startedAt)
    this.#room.serve(tokens.accessToken)
    const { accessExpiresAt = 0, refreshExpiresAt } = this.status()
    const ends = { accessExpiresAt, ...(refreshExpiresAt !== undefined && { refreshExpiresAt }) }
    this.#settings.events.emit('renewed', { by, because, attempts, durationMs: this.#now - startedAt, ...ends })
  }

  /** Only a refresh token was adopted: callers who wait need a renewal. */
  #holdNothing(): void {
    if (this.#room.size > 0) this.#renew('cold')
  }

  #failed(renewal: Renewal, thrown: unknown): void {
    const { readThrown, clock, events } = this.#settings
    const { error, coolDown } = endingOf(thrown, readThrown, this.#failures + 1)
    const wasToldOf = restIn(this.#phase)?.error.code
    if (!this.#enter({ type: 'gave-up', renewal, rest: restAfter(error, coolDown, this.#now) })) return
    const nextAttemptAt = Math.round(clock.wallNow() + coolDown.ms)
    this.#armTimer(coolDown.ms)
    // A stop also drops the access token, even if it still lives.
    if (error.code === 'ERR_SUSPICIOUS_REFRESH_TOKEN') this.#current = undefined
    if (error.code === 'ERR_LOGIN_REQUIRED') this.#loginLost(error, renewal.lastError ? 'here' : 'elsewhere')
    const failure = coolDown.ms === Infinity ? error : toldAgain(error, { retryAt: nextAttemptAt })
    this.#room.turnAway(failure)
    // A manager that waits for a login may ask the store each second. It tells its listeners once.
    const isNews = coolDown.ms < Infinity || wasToldOf !== error.code
    if (isNews) events.emit('renewalFailed', { error: failure, nextAttemptAt })
  }

  #held(tokens: StoredTokens, random: number): HeldToken {
    return new HeldToken(tokens, this.#settings.renewal, this.#settings.tokenClock, random)
  }

  #armTimer(delayMs: number): void {
    this.#cancelTimer()
    if (this.#settings.renewal.keepWarm === 'never' || !this.#current) return
    this.#cancelTimer = this.#settings.clock.setTimer(() => this.#onTimer(), timerDelayMs(delayMs))
  }

  #onTimer(): void {
    const current = this.#current
    const rest = restIn(this.#phase)
    if (rest?.error.code === 'ERR_LOGIN_REQUIRED' && current?.living === undefined) this.#loginLost(rest.error, 'here')
    const ms = current && timerMs(this.#phase, current, this.#settings.renewal.keepWarm, this.#now)
    if (!current || ms === undefined) return
    if (ms > 0) this.#armTimer(ms)
    else this.#renew(current.freshness === 'expired' ? 'expired' : 'due')
  }
}
