import { CallFailed, coolDownOf, shortBackoffMs } from './plan.ts'
import { Mutex } from 'async-mutex'
import type { Account, Settings } from './account.ts'
import { LONGEST_TIMER_MS, timerDelayMs } from './clock.ts'
import { errorWith, NO_TOKEN_IN_TIME, TokenError } from './errors.ts'
import type { RenewalCause } from './events.ts'
import { HeldToken } from './held-token.ts'
import type { LoginHost, Logins, LoginChecker } from './login-port.ts'
import { Renewal, type Renewed } from './renewal.ts'
import type { OwnCoolDown } from './situation.ts'
import { type Context, currentContext } from './own-runtime.ts'
import {
  admission,
  type Backoff,
  backoffAfter,
  denialOf,
  isDenial,
  statusIn,
  timerMs,
  type LoginStatus,
  isNewFailure,
} from './status.ts'
import { quietly } from './thrown.ts'
import type { StoredTokens } from './stored-tokens.ts'
import { Halted } from './pauses.ts'
import { WaitingRoom } from './waiting-room.ts'
import { bare } from './whole.ts'

/** The minimum time between two renewals of tokens that are due or have expired, even if their lifetime is shorter. */
const LEAST_GAP_MS = 1_000

/**
 * Runs the renewals of a manager, and applies their results. `Activity` in `status.ts` is its state. A superseded renewal is no longer
 * `account.renewal`, and does not change that state.
 */
export class Machine implements LoginHost {
  readonly logins: Logins
  readonly checker: LoginChecker | undefined
  readonly room: WaitingRoom
  readonly #account: Account
  readonly #settings: Settings
  /** The asynchronous context in which the manager was created. A renewal must not run in the context of the request that starts it. */
  readonly #inContext: Context = currentContext()
  /** Runs one renewal at a time: after a reset, the next renewal waits for the exchange in flight. */
  readonly #mutex = new Mutex()
  #cancelTimer: () => void = () => undefined

  constructor(account: Account) {
    const { settings } = account
    this.#account = account
    this.#settings = settings
    const atLimit = () => {
      const message = `${NO_TOKEN_IN_TIME} (at most renewal.maxWaitMs): it waited for ${this.#awaited}`
      return new TokenError('ERR_WAIT_TIMEOUT', message, { cause: account.renewal?.lastError })
    }
    this.room = new WaitingRoom(settings.clock, () => account.current?.validToken, atLimit)
    const { logins, checker } = settings.logins.open(account, this)
    this.logins = logins
    this.checker = checker
  }

  get #awaited(): string {
    const { renewal, login, awaited } = this.#account
    if (!renewal && login?.isPending) return 'a pending login'
    return awaited?.() ?? 'the pause before the next token request (options of retry)'
  }

  get now(): number {
    return this.#settings.clock.monotonicNow()
  }

  isIdle(): boolean {
    return !this.#account.renewal && !this.#account.isClosed
  }

  status(): LoginStatus {
    const { counts, suspicions, current, login } = this.#account
    const status = statusIn(this.#account, current, this.now, this.#settings.clock.wallNow())
    return { ...status, ...login?.statusWith(current), counts: { ...counts, suspicions: suspicions.count } }
  }

  async close(): Promise<void> {
    const account = this.#account
    account.renewal?.halt('closed')
    account.isClosed = true
    this.#settle(undefined)
    account.current = undefined
    this.#cancelTimer()
    this.checker?.close()
    this.room.dismiss(this.denial('closed'))
    this.#settings.record.close?.()
    // The exchange in flight does not always keep the process alive. This timer does.
    const release = this.#settings.clock.setTimer(() => undefined, LONGEST_TIMER_MS, true)
    await this.#mutex.runExclusive(() => undefined).finally(release)
  }

  afterExchange<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#mutex.runExclusive(work)
  }

  use(tokens: StoredTokens): void {
    // A renewal that waits for an act would present the refresh token of these tokens, though no caller needs that.
    this.#account.renewal?.halt('outdated')
    this.#hold({ tokens, by: 'adopted', attempts: 0 }, 'forced', this.now)
  }

  forget(): void {
    this.#account.forget()
    this.#cancelTimer()
  }

  renewIfAwaited(): void {
    if (this.room.size > 0) this.renew('cold')
  }

  resume(): void {
    const admitted = this.room.size > 0 && !this.#account.renewal ? admission(this.#account, this.now) : 'join'
    if (admitted === 'start') this.renew(this.#account.current?.isRejected ? 'refused' : 'cold')
    else if (isDenial(admitted)) this.room.dismiss(this.denial(admitted))
    this.checker?.resume()
  }

  denial(why: Parameters<typeof denialOf>[0]): TokenError {
    return denialOf(why, this.now, this.#settings.clock.wallNow())
  }

  /** Starts the renewal that all callers share. */
  renew(because: RenewalCause, holdsProcess = true): void {
    const account = this.#account
    if (account.renewal || account.isClosed) return
    const failures = account.backoff?.failures ?? 0
    const renewal = new Renewal(account, {
      because,
      holdsProcess,
      failuresBefore: failures,
      isAwaited: () => this.room.size > 0,
      onRepeat: () => {
        // These callers waited only because the API rejected the token.
        if (account.current?.freshness !== 'expired') this.room.keep()
      },
      onPause: (pauseMs, error) => {
        const backoff = backoffAfter(error, { ms: pauseMs, failures, isFirm: true }, this.now)
        account.backoff = backoff
        this.room.dismiss(this.denial(backoff), backoff.until)
      },
    })
    account.renewal = renewal
    renewal.hurry(this.room.firstLimit)
    const { acts, work } = account
    work.begin()
    // Earlier acts must reach the record first. They wait for the mutex, too, so a renewal that waits for them must not hold it.
    void this.#inContext(() => acts.after(() => this.#mutex.runExclusive(() => this.#run(renewal, because))))
  }

  /** Ends the current renewal. */
  #settle(backoff: Backoff | undefined): void {
    this.#account.renewal = undefined
    this.#account.backoff = backoff
  }

  /** Runs a renewal to its end. Never rejects: callers receive the result from the waiting room. */
  async #run(renewal: Renewal, because: RenewalCause): Promise<void> {
    const { now } = this
    const isOwn = because === 'due' || because === 'expired'
    const startAt = isOwn ? Math.max(now, this.#account.renewedAt + LEAST_GAP_MS) : now
    try {
      const renewed = await renewal.run(startAt - now)
      if (this.#account.renewal !== renewal) return
      const isFound = renewed.by === 'adopted' && this.#account.login?.isKnown === false
      this.logins.use(renewed.tokens, renewed.by === 'obtain' ? 'here' : 'elsewhere')
      this.#hold(renewed, because, startAt, isFound)
    } catch (thrown) {
      if (this.#account.renewal === renewal) this.#failed(renewal, thrown)
    } finally {
      this.#account.work.end()
      this.checker?.resume()
    }
  }

  /** Starts to use the tokens. @param isFound The manager found them in the store at its first check: no event `renewed` (F386). */
  #hold({ tokens, by, attempts }: Renewed, because: RenewalCause, startedAt: number, isFound = false): void {
    const { events, random } = this.#settings
    const account = this.#account
    // First, because this calls the user's `random`: if it throws, the renewal fails.
    const current = new HeldToken(tokens, this.#settings, random())
    this.#settle(undefined)
    account.seenVersion = tokens.version
    if (by === 'adopted') account.counts.adoptions += 1
    // A waiting caller counts as the first use of the token.
    current.used = this.room.size > 0
    account.current = current
    account.login?.held(tokens.accessToken, tokens.refreshToken)
    this.checker?.learned()
    this.#armTimer(current.freshMs)
    // Only a refresh token was adopted: waiting callers need a renewal.
    if (tokens.accessToken === '') {
      this.renewIfAwaited()
      return
    }
    account.renewedAt = startedAt
    // The access token of a login that was found in the record may have expired.
    if (current.validToken === undefined) this.renewIfAwaited()
    else this.room.resolveAll(current.validToken)
    if (isFound) return
    const { accessExpiresAt = 0, refreshExpiresAt } = bare(this.status())
    const ends = { accessExpiresAt, ...(refreshExpiresAt && { refreshExpiresAt }) }
    events.emit('renewed', { by, because, attempts, durationMs: this.now - startedAt, ...ends })
  }

  #failed(renewal: Renewal, thrown: unknown): void {
    const { clock, events, store } = this.#settings
    const { backoff: before, login } = this.#account
    const isOwn = renewal.lastError !== undefined
    // All callers who waited for this renewal have left.
    if (thrown instanceof Halted) {
      this.#settle(before)
      this.renewIfAwaited()
      return
    }
    const { error, coolDown } = this.#failureOf(thrown)
    const backoff = backoffAfter(error, coolDown, this.now, store !== undefined)
    this.#settle(backoff)
    // The cool-down is enough. The gap between renewals after rejections by the API would block the renewal of a rejected one-hour token for six minutes.
    this.#account.forcedAt = -Infinity
    const nextAttemptAt = Math.round(clock.wallNow() + coolDown.ms)
    const by = isOwn ? 'here' : 'elsewhere'
    const isLost = error.code === 'ERR_LOGIN_REQUIRED'
    const isNews = isNewFailure(backoff, before, isLost && !isOwn && login?.isPresent === false)
    // An access token that is still valid is kept until it expires.
    const validMs = isLost ? this.logins.lost?.(error, by) : undefined
    if (error.code === 'ERR_SUSPICIOUS_REFRESH_TOKEN') this.logins.stop(error, by)
    this.#armTimer(validMs ?? backoff.asksAt - this.now)
    const failure = coolDown.ms === Infinity ? error : errorWith(error, { retryAt: nextAttemptAt })
    // A pending login may still provide a token for the waiting callers.
    if (!isLost || !login?.isPending) this.room.dismiss(failure)
    if (isNews) events.emit('renewalFailed', { error: failure, nextAttemptAt })
  }

  #failureOf(thrown: unknown): { readonly error: TokenError; readonly coolDown: OwnCoolDown } {
    if (thrown instanceof CallFailed && thrown.next.kind === 'cool-down')
      return { error: thrown.error, coolDown: thrown.next }
    const { readThrown, random } = this.#settings
    const error = readThrown(thrown, 'obtain')
    // No plan covers failures such as those of the store. The error may come from the user's `random`.
    return {
      error,
      coolDown: coolDownOf(error, shortBackoffMs(quietly(random)), (this.#account.backoff?.failures ?? 0) + 1),
    }
  }

  #armTimer(delayMs: number): void {
    this.#cancelTimer()
    const { background, keepWarm } = this.#settings.renewal
    if (!background || keepWarm === 'never' || !this.#account.current) return
    this.#cancelTimer = this.#settings.clock.setTimer(() => this.#onTimer(), timerDelayMs(delayMs))
  }

  #onTimer(): void {
    const { current } = this.#account
    this.logins.concludeLoss?.()
    const ms = current && timerMs(this.#account, current, this.#settings.renewal.keepWarm, this.now)
    if (!current || ms === undefined) return
    if (ms > 0) this.#armTimer(ms)
    else this.renew(current.freshness === 'expired' ? 'expired' : 'due')
  }
}
