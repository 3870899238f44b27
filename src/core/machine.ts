import { Mutex } from 'async-mutex'
import { LONGEST_TIMER_MS, timerDelayMs } from './clock.ts'
import { errorWith, TokenError } from './errors.ts'
import type { RenewalCause } from './events.ts'
import { HeldToken } from './held-token.ts'
import type { LoginHost, Logins, Looks } from './login-port.ts'
import { RenewalGaps } from './renewal-gaps.ts'
import type { Memory, RenewalSettings, Renewed } from './renewal-settings.ts'
import { Renewal } from './renewal.ts'
import { CallFailed, coolDownOf, shortBackoffMs } from './cool-down.ts'
import type { OwnCoolDown } from './situation.ts'
import { type Context, currentContext } from './own-runtime.ts'
import {
  type Activity,
  admission,
  type Backoff,
  backoffAfter,
  denialOf,
  statusIn,
  timerMs,
  type LoginStatus,
} from './status.ts'
import { quietly } from './thrown.ts'
import type { StoredTokens } from './token-store.ts'
import { Halted } from './claimant.ts'
import { WaitingRoom } from './waiting-room.ts'

const NO_TOKEN_IN_TIME = 'No access token came within the time that this caller can wait (at most renewal.maxWaitMs)'

/**
 * Runs the renewals of a manager, and does what follows them. Three facts tell what it does about its next token. `status.ts` reads them. A renewal
 * that has been outdated is not `renewal` any more, and changes none of them.
 */
export class Machine implements LoginHost, Activity {
  renewal: Renewal | undefined
  backoff: Backoff | undefined
  isClosed = false
  readonly logins: Logins
  readonly looks: Looks
  readonly room: WaitingRoom
  gaps = new RenewalGaps()
  readonly #settings: RenewalSettings
  readonly #memory: Memory
  /** The context of the manager's creation. A renewal must not run in the context of the request that starts it. */
  readonly #inContext: Context = currentContext()
  /** Runs one renewal at a time: after a reset the next renewal waits for the exchange in flight. */
  readonly #mutex = new Mutex()
  #cancelTimer: () => void = () => undefined

  constructor(settings: RenewalSettings) {
    this.#settings = settings
    this.#memory = settings.memory
    const atLimit = () =>
      new TokenError('ERR_WAIT_TIMEOUT', `${NO_TOKEN_IN_TIME}: it waited for ${this.#awaited}`, {
        cause: this.renewal?.lastError,
      })
    this.room = new WaitingRoom(settings.clock, () => this.#memory.current?.living, atLimit)
    const { logins, looks } = settings.logins.open(settings, this)
    this.logins = logins
    this.looks = looks
  }

  get #awaited(): string {
    const { login } = this.#settings
    if (!this.renewal && login.isPending) return 'a login that is under way'
    return this.#memory.awaited?.() ?? 'the pause before the next token call (options of retry)'
  }

  get now(): number {
    return this.#settings.clock.monotonicNow()
  }

  isIdle(): boolean {
    return !this.renewal && !this.isClosed
  }

  status(): LoginStatus {
    const { counts, suspicions, clock, login } = this.#settings
    const { current } = this.#memory
    const status = statusIn(this, current, this.now, clock.wallNow())
    return { ...status, ...login.statusWith(current), counts: { ...counts, suspicions: suspicions.count } }
  }

  async close(): Promise<void> {
    this.renewal?.halt('closed')
    this.isClosed = true
    this.#settle(undefined)
    this.#memory.current = undefined
    this.#cancelTimer()
    this.looks.close()
    this.room.dismiss(this.denial('closed'))
    this.#settings.record.close?.()
    // The exchange in flight may be one that does not keep the process alive. This timer does.
    const letGo = this.#settings.clock.setTimer(() => undefined, LONGEST_TIMER_MS, true)
    await this.#mutex.runExclusive(() => undefined).finally(letGo)
  }

  afterExchange<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#mutex.runExclusive(work)
  }

  use(tokens: StoredTokens): void {
    // One that waits for an act would present the refresh token of these tokens, for nobody.
    this.renewal?.halt('outdated')
    this.#hold({ tokens, by: 'adopted', attempts: 0 }, 'forced', this.now)
  }

  forget(): void {
    const { suspicions } = this.#settings
    this.renewal?.halt('outdated')
    this.#settle(undefined)
    this.#memory.current = undefined
    this.#memory.owesObtain = false
    this.gaps = new RenewalGaps()
    suspicions.forget()
    this.#cancelTimer()
  }

  renewIfAwaited(): void {
    if (this.room.size > 0) this.renew('cold')
  }

  resume(): void {
    const admitted = this.room.size > 0 && !this.renewal && admission(this, this.now)
    if (admitted === 'start') this.renew(this.#memory.current?.isRefused ? 'refused' : 'cold')
    else if (admitted && admitted !== 'join') this.room.dismiss(this.denial(admitted))
    this.looks.resume()
  }

  denial(why: Parameters<typeof denialOf>[0]): TokenError {
    return denialOf(why, this.now, this.#settings.clock.wallNow())
  }

  /** Starts the renewal that all callers share. */
  renew(because: RenewalCause, holdsProcess = true): void {
    if (this.renewal || this.isClosed) return
    const failures = this.backoff?.failures ?? 0
    const renewal = new Renewal(this.#settings, {
      because,
      holdsProcess,
      failuresBefore: failures,
      isAwaited: () => this.room.size > 0,
      onRepeat: () => {
        // They have waited only because the API has refused the token.
        if (this.renewal === renewal && this.#memory.current?.freshness !== 'expired') this.room.keep()
      },
      onPause: (pauseMs, error) => {
        if (this.renewal !== renewal) return
        this.backoff = { until: this.now + pauseMs, error, failures, isFirm: true }
        this.room.dismiss(this.denial(this.backoff), this.backoff.until)
      },
    })
    this.renewal = renewal
    renewal.hurry(this.room.firstLimit)
    const { acts, work } = this.#settings
    work.begin()
    // The record must know of the acts before. They wait for the mutex, too, so a renewal that waits for them must not hold it.
    void this.#inContext(() => acts.after(() => this.#mutex.runExclusive(() => this.#see(renewal, because))))
  }

  /** No renewal runs from now on. */
  #settle(backoff: Backoff | undefined): void {
    this.renewal = undefined
    this.backoff = backoff
  }

  /** Runs a renewal to its end. Never rejects: callers learn the result in the waiting room. */
  async #see(renewal: Renewal, because: RenewalCause): Promise<void> {
    const { now } = this
    const startAt = this.gaps.startAt(because, now)
    try {
      const renewed = await renewal.run(startAt - now)
      if (this.renewal !== renewal) return
      const isFound = renewed.by === 'adopted' && !this.#settings.login.isKnown
      this.logins.meet(renewed.tokens, renewed.by === 'obtain' ? 'here' : 'elsewhere')
      this.#hold(renewed, because, startAt, isFound)
    } catch (thrown) {
      if (this.renewal === renewal) this.#failed(renewal, thrown)
    } finally {
      this.#settings.work.end()
      this.looks.resume()
    }
  }

  /** Puts the tokens to use: callers get them from now on. @param isFound The store had them before this manager knew: that is no renewal (F386). */
  #hold({ tokens, by, attempts }: Renewed, because: RenewalCause, startedAt: number, isFound = false): void {
    const { events, counts, login, random } = this.#settings
    // First, because this calls the user's `random`: if it throws, the renewal has failed.
    const current = new HeldToken(tokens, this.#settings, random())
    this.#settle(undefined)
    this.#memory.seenVersion = tokens.version
    if (by === 'adopted') counts.adoptions += 1
    // The caller who waited for a token counts as its first use.
    current.used = this.room.size > 0
    this.#memory.current = current
    login.held(tokens.accessToken, tokens.refreshToken)
    this.looks.noted()
    this.#armTimer(current.freshMs)
    // Only a refresh token was adopted: callers who wait need a renewal.
    if (tokens.accessToken === '') {
      this.renewIfAwaited()
      return
    }
    this.gaps.renewed(startedAt)
    // The access token of a login that was found in the record may have ended.
    if (current.living === undefined) this.renewIfAwaited()
    else this.room.serve(current.living)
    if (isFound) return
    const { accessExpiresAt = 0, refreshExpiresAt } = this.status()
    const ends = { accessExpiresAt, ...(refreshExpiresAt !== undefined && { refreshExpiresAt }) }
    events.emit('renewed', { by, because, attempts, durationMs: this.now - startedAt, ...ends })
  }

  #failed(renewal: Renewal, thrown: unknown): void {
    const { clock, events, login } = this.#settings
    const before = this.backoff
    // The callers who wanted it have left.
    if (thrown instanceof Halted) {
      this.#settle(before)
      this.renewIfAwaited()
      return
    }
    const { error, coolDown } = this.#gaveUp(thrown)
    const backoff = backoffAfter(error, coolDown, this.now)
    this.#settle(backoff)
    this.gaps.failed()
    const nextAttemptAt = Math.round(clock.wallNow() + coolDown.ms)
    const by = renewal.lastError ? 'here' : 'elsewhere'
    if (error.code === 'ERR_SUSPICIOUS_REFRESH_TOKEN') this.logins.stop(by)
    const isLost = error.code === 'ERR_LOGIN_REQUIRED'
    // The store has no login, and this manager knew of none: no renewal has failed (F386).
    const isFound = isLost && !renewal.lastError && !login.isPresent
    // An access token that still serves is kept until it ends.
    const servesMs = isLost ? this.logins.lost(error, by) : undefined
    this.#armTimer(servesMs ?? coolDown.ms)
    const failure = coolDown.ms === Infinity ? error : errorWith(error, { retryAt: nextAttemptAt })
    // The login that is under way may still serve them.
    if (!isLost || !login.isPending) this.room.dismiss(failure)
    // A manager that waits for a login may ask the store each second. It tells its listeners once.
    if (!isFound && (backoff.until < Infinity || before?.error.code !== error.code))
      events.emit('renewalFailed', { error: failure, nextAttemptAt })
  }

  #gaveUp(thrown: unknown): { readonly error: TokenError; readonly coolDown: OwnCoolDown } {
    if (thrown instanceof CallFailed && thrown.next.kind === 'cool-down')
      return { error: thrown.error, coolDown: thrown.next }
    const { readThrown, random } = this.#settings
    const error = readThrown(thrown, 'obtain')
    // No plan covers failures such as those of the store. The user's `random` may be what has thrown.
    return { error, coolDown: coolDownOf(error, shortBackoffMs(quietly(random)), (this.backoff?.failures ?? 0) + 1) }
  }

  #armTimer(delayMs: number): void {
    this.#cancelTimer()
    const { background, keepWarm } = this.#settings.renewal
    if (!background || keepWarm === 'never' || !this.#memory.current) return
    this.#cancelTimer = this.#settings.clock.setTimer(() => this.#onTimer(), timerDelayMs(delayMs))
  }

  #onTimer(): void {
    const { current } = this.#memory
    this.logins.concludeLoss()
    const ms = current && timerMs(this, current, this.#settings.renewal.keepWarm, this.now)
    if (!current || ms === undefined) return
    if (ms > 0) this.#armTimer(ms)
    else this.renew(current.freshness === 'expired' ? 'expired' : 'due')
  }
}
