import { Mutex } from 'async-mutex'
import { LONGEST_TIMER_MS, timerDelayMs } from './clock.ts'
import { toldAgain, TokenError } from './errors.ts'
import type { RenewalCause } from './events.ts'
import { HeldToken } from './held-token.ts'
import { type LoginHost, Logins } from './logins.ts'
import {
  admission,
  failuresIn,
  IDLE,
  loginIn,
  type Phase,
  phaseAfter,
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
import { Halted } from './pauses.ts'
import { RenewalGaps } from './renewal-gaps.ts'
import type { Memory, RenewalSettings, Renewed } from './renewal-settings.ts'
import { Renewal } from './renewal.ts'
import { CallFailed, restUnforeseen } from './rests.ts'
import { type Context, currentContext } from './own-runtime.ts'
import { quietly } from './thrown.ts'
import type { CoolDown, StoredTokens } from './token-store.ts'
import { WaitingRoom } from './waiting-room.ts'

/** Runs the renewals of a manager, and does what follows them. `phase.ts` decides what each event makes of the phase. */
export class Machine implements LoginHost {
  readonly logins: Logins
  readonly room: WaitingRoom
  readonly #settings: RenewalSettings
  readonly #memory: Memory
  /** The context of the manager's creation. A renewal must not run in the context of the request that starts it. */
  readonly #inContext: Context = currentContext()
  /** Runs one renewal at a time: after a reset the next renewal waits for the exchange in flight. */
  readonly #mutex = new Mutex()
  #phase: Phase = IDLE
  #gaps = new RenewalGaps()
  #cancelTimer: () => void = () => undefined

  constructor(settings: RenewalSettings) {
    this.#settings = settings
    this.#memory = settings.memory
    const atLimit = () =>
      new TokenError('ERR_WAIT_TIMEOUT', 'No access token came within the time that this caller can wait', {
        cause: renewalIn(this.#phase)?.lastError,
      })
    this.room = new WaitingRoom(settings.clock, () => this.#memory.current?.living, atLimit)
    this.logins = new Logins(settings, this)
  }

  get phase(): Phase {
    return this.#phase
  }

  get gaps(): RenewalGaps {
    return this.#gaps
  }

  get now(): number {
    return this.#settings.clock.monotonicNow()
  }

  isIdle(): boolean {
    return this.#phase.is === 'idle' || this.#phase.is === 'resting'
  }

  get isClosed(): boolean {
    return this.#phase.is === 'closed'
  }

  status(): TokenStatus {
    const { counts, suspicions, clock, login, needsLogin } = this.#settings
    const { current } = this.#memory
    const status = statusIn(this.#phase, current, this.now, clock.wallNow())
    const ofLogin = loginIn(login.status, restIn(this.#phase), current, !needsLogin)
    return { ...status, ...ofLogin, counts: { ...counts, suspicions: suspicions.count } }
  }

  async close(): Promise<void> {
    renewalIn(this.#phase)?.halt('closed')
    this.#enter({ type: 'closed' })
    this.#memory.current = undefined
    this.#cancelTimer()
    this.room.turnAway(this.refusal('closed'))
    this.#settings.record.close?.()
    // The exchange in flight may be one that does not keep the process alive. This timer does.
    const letGo = this.#settings.clock.setTimer(() => undefined, LONGEST_TIMER_MS, true)
    await this.#mutex.runExclusive(() => undefined).finally(letGo)
  }

  afterExchange<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#mutex.runExclusive(work)
  }

  use(tokens: StoredTokens): void {
    this.#hold({ tokens, by: 'adopted', attempts: 0 }, 'forced', this.now)
  }

  forget(): void {
    const { suspicions } = this.#settings
    renewalIn(this.#phase)?.halt('outdated')
    this.#enter({ type: 'reset' })
    this.#memory.current = undefined
    this.#memory.owesObtain = false
    this.#gaps = new RenewalGaps()
    suspicions.forget()
    this.#cancelTimer()
  }

  renewIfAwaited(): void {
    if (this.room.size > 0) this.renew('cold')
  }

  resume(): void {
    if (this.room.size === 0 || this.#phase.is === 'renewing') return
    const admitted = admission(this.#phase, this.now)
    if (admitted === 'start') this.renew(this.#memory.current?.isRefused ? 'refused' : 'cold')
    else if (admitted !== 'join') this.room.turnAway(this.refusal(admitted))
  }

  /** An access token that still serves is kept until it ends. */
  loseLogin(error: TokenError, by: 'here' | 'elsewhere'): void {
    const leftMs = this.logins.lost(error, by)
    if (leftMs !== undefined) this.#armTimer(leftMs)
  }

  refusal(refusal: 'closed' | Pick<Rest, 'until' | 'error'>): TokenError {
    return refusalIn(refusal, this.now, this.#settings.clock.wallNow())
  }

  /** Starts the renewal that all callers share. */
  renew(because: RenewalCause, holdsProcess = true): void {
    const renewal = new Renewal(this.#settings, {
      because,
      holdsProcess,
      failuresBefore: failuresIn(this.#phase),
      isAwaited: () => this.room.size > 0,
      onPause: (pauseMs, error) => {
        const pause = { until: this.now + pauseMs, error }
        if (this.#enter({ type: 'paused', renewal, ...pause })) this.room.turnAway(this.refusal(pause), pause.until)
      },
    })
    this.#enter({ type: 'started', renewal })
    renewal.hurry(this.room.firstLimit)
    const { acts, work } = this.#settings
    work.begin()
    // The record must know of the acts before. They wait for the mutex, too, so a renewal that waits for them must not hold it.
    void this.#inContext(() => acts.after(() => this.#mutex.runExclusive(() => this.#see(renewal, because))))
  }

  /** @returns Whether the event changed the phase. An event of an outdated renewal does not. */
  #enter(event: PhaseEvent): boolean {
    const before = this.#phase
    this.#phase = phaseAfter(before, event)
    return this.#phase !== before
  }

  /** Runs a renewal to its end. Never rejects: callers learn the result in the waiting room. */
  async #see(renewal: Renewal, because: RenewalCause): Promise<void> {
    const { now } = this
    const startAt = this.#gaps.startAt(because, now)
    try {
      const renewed = await renewal.run(startAt - now)
      if (renewalIn(this.#phase) !== renewal) return
      this.logins.meet(renewed.tokens, renewed.by === 'obtain' ? 'here' : 'elsewhere')
      this.#hold(renewed, because, startAt)
    } catch (thrown) {
      this.#failed(renewal, thrown)
    } finally {
      this.#settings.work.end()
    }
  }

  /** Puts the tokens to use: callers get them from now on. */
  #hold({ tokens, by, attempts }: Renewed, because: RenewalCause, startedAt: number): void {
    const { events, counts, random } = this.#settings
    // First, because this calls the user's `random`: if it throws, the renewal has failed.
    const current = new HeldToken(tokens, this.#settings, random())
    this.#enter({ type: 'held' })
    this.#memory.seenVersion = tokens.version
    if (by === 'adopted') counts.adoptions += 1
    // The caller who waited for a token counts as its first use.
    current.used = this.room.size > 0
    this.#memory.current = current
    this.logins.noted()
    this.#armTimer(current.freshMs)
    // Only a refresh token was adopted: callers who wait need a renewal.
    if (tokens.accessToken === '') {
      this.renewIfAwaited()
      return
    }
    this.#gaps.renewed(startedAt)
    this.room.serve(tokens.accessToken)
    const { accessExpiresAt = 0, refreshExpiresAt } = this.status()
    const ends = { accessExpiresAt, ...(refreshExpiresAt !== undefined && { refreshExpiresAt }) }
    events.emit('renewed', { by, because, attempts, durationMs: this.now - startedAt, ...ends })
  }

  #failed(renewal: Renewal, thrown: unknown): void {
    const { clock, events, login } = this.#settings
    if (thrown instanceof Halted) {
      if (this.#enter({ type: 'left', renewal })) this.renewIfAwaited()
      return
    }
    const before = restIn(this.#phase)
    const { error, coolDown } = this.#gaveUp(thrown)
    if (!this.#enter({ type: 'gave-up', renewal, rest: restAfter(error, coolDown, this.now) })) return
    this.#gaps.failed()
    const nextAttemptAt = Math.round(clock.wallNow() + coolDown.ms)
    this.#armTimer(coolDown.ms)
    const by = renewal.lastError ? 'here' : 'elsewhere'
    if (error.code === 'ERR_SUSPICIOUS_REFRESH_TOKEN') this.logins.stop(by)
    if (error.code === 'ERR_LOGIN_REQUIRED') this.loseLogin(error, by)
    const failure = coolDown.ms === Infinity ? error : toldAgain(error, { retryAt: nextAttemptAt })
    // The login that is under way may still serve them.
    if (error.code !== 'ERR_LOGIN_REQUIRED' || !login.isPending) this.room.turnAway(failure)
    // A manager that waits for a login may ask the store each second. It tells its listeners once.
    const isStop = coolDown.ms === Infinity || error.code === 'ERR_LOGIN_REQUIRED'
    const isNews = !isStop || before?.error.code !== error.code
    if (isNews) events.emit('renewalFailed', { error: failure, nextAttemptAt })
  }

  #gaveUp(thrown: unknown): { readonly error: TokenError; readonly coolDown: CoolDown } {
    if (thrown instanceof CallFailed && thrown.next.kind === 'cool-down')
      return { error: thrown.error, coolDown: thrown.next }
    const { readThrown, random } = this.#settings
    const error = readThrown(thrown, 'obtain')
    // The user's `random` may be what has thrown.
    return { error, coolDown: restUnforeseen(error, failuresIn(this.#phase) + 1, quietly(random) ?? 0) }
  }

  #armTimer(delayMs: number): void {
    this.#cancelTimer()
    const { background, keepWarm } = this.#settings.renewal
    if (!background || keepWarm === 'never' || !this.#memory.current) return
    this.#cancelTimer = this.#settings.clock.setTimer(() => this.#onTimer(), timerDelayMs(delayMs))
  }

  #onTimer(): void {
    const { current } = this.#memory
    const rest = restIn(this.#phase)
    if (rest?.error.code === 'ERR_LOGIN_REQUIRED' && current?.living === undefined) this.loseLogin(rest.error, 'here')
    const ms = current && timerMs(this.#phase, current, this.#settings.renewal.keepWarm, this.now)
    if (!current || ms === undefined) return
    if (ms > 0) this.#armTimer(ms)
    else this.renew(current.freshness === 'expired' ? 'expired' : 'due')
  }
}
