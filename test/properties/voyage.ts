import { createTokenManager, type TokenManager } from '../../src/index.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { CallerWatch } from './caller-watch.ts'
import { type Act, type Command, type Course, SLOTS } from './course.ts'
import { ExchangeWatch } from './exchange-watch.ts'
import { Promises } from './promises.ts'
import { RotatingService } from './rotating-service.ts'
import { TrueTime } from './true-time.ts'
import { Turns } from './turns.ts'

const MAX_WAIT_MS = 30_000
const EXCHANGE_TIMEOUT_MS = 10_000
/** More than any pause between four calls that received 429. */
const LONGEST_PAUSE_MS = 8_000

/** More than all callers of a course can need in one instant. */
const MANY_TIMERS = 1_000

type Timer = Parameters<ManualClock['setTimer']>

/** @throws naming the promises that the manager broke on its course. */
export async function travel(course: Course, unhandled: unknown[]): Promise<void> {
  const voyage = new Voyage(course, unhandled)
  for (const command of course.commands) await voyage.perform(command)
  await voyage.end()
}

class Voyage {
  readonly #clock = manualClock()
  readonly #time = new TrueTime(this.#clock)
  readonly #promises = new Promises(this.#time.monotonicNow)
  readonly #exchanges: ExchangeWatch
  readonly #callers: CallerWatch
  readonly #service: RotatingService
  readonly #tokens: TokenManager
  readonly #signals = Array.from({ length: SLOTS }, () => new AbortController())
  readonly #maxWaitMs: number
  readonly #turns: Turns
  #isClosed = false
  #timers = { at: 0, set: 0 }

  constructor(course: Course, unhandled: unknown[]) {
    const { options, draws } = course
    this.#maxWaitMs = options.renewal?.maxWaitMs ?? MAX_WAIT_MS
    this.#exchanges = new ExchangeWatch(this.#time, this.#promises, options.retry?.maxAttempts ?? 4)
    this.#callers = new CallerWatch(this.#time, this.#promises, this.#exchanges, this.#maxWaitMs)
    this.#service = new RotatingService(course, this.#clock, this.#time.now, this.#exchanges)
    let drawn = 0
    const random = () => draws[drawn++ % draws.length]!
    const clock = { ...this.#clock, setTimer: (...timer: Timer) => this.#setTimer(...timer) }
    this.#tokens = createTokenManager({ source: this.#service, clock, random, ...options })
    this.#exchanges.watch(this.#service, this.#tokens)
    this.#callers.watch(this.#service, this.#tokens)
    this.#turns = new Turns(this.#clock, this.#promises, unhandled, () => {
      this.#callers.turned()
      this.#exchanges.turned()
    })
  }

  async perform({ what, turns }: Command): Promise<void> {
    await this.#act(what)
    if (turns === undefined) await this.#turns.turn()
    for (let turn = 0; turn < (turns ?? 0); turn += 1) await Promise.resolve()
  }

  /** With a healthy service, all callers leave, new callers get a token, and close() leaves nothing behind. */
  async end(): Promise<void> {
    this.#service.heal()
    await this.#turns.advance(Math.max(this.#maxWaitMs, EXCHANGE_TIMEOUT_MS))
    this.#promises.must(this.#callers.areGone, 'every caller leaves in the end')
    if (!this.#exchanges.closed) await this.#recover()
    this.#close()
    await this.#turns.advance(EXCHANGE_TIMEOUT_MS)
    this.#promises.must(this.#isClosed, 'close() ends with the exchange in flight')
    await this.#turns.turn()
  }

  async #act(what: Act): Promise<void> {
    switch (what.act) {
      case 'ask':
        for (let time = 0; time < what.times; time += 1)
          this.#callers.see({ asks: 'a token' }, this.#wait(what), (wait) => this.#tokens.getAccessToken(wait))
        break
      case 'renew':
        this.#exchanges.wished()
        this.#callers.see({ asks: 'a renewal' }, this.#wait(what), (wait) => this.#tokens.renew(wait))
        break
      case 'replace': {
        const refused = this.#token(what.which)
        const call = (wait: object) => this.#tokens.replaceAccessToken(refused, wait)
        this.#callers.see({ asks: 'another token', refused }, this.#wait(what), call)
        break
      }
      case 'abort':
        this.#signals[what.slot]!.abort(new Error('had enough'))
        this.#signals[what.slot] = new AbortController()
        break
      case 'peek':
        this.#callers.peek()
        break
      case 'reset':
        this.#exchanges.forget()
        void this.#tokens.reset()
        break
      case 'close':
        this.#close()
        break
      case 'advance':
        await this.#turns.advance(what.ms)
        break
      case 'approach':
        await this.#turns.advance(Math.max(0, Math.ceil(this.#exchanges.untilMs(what.edge)) + what.offMs))
        this.#callers.peek()
        break
      default:
        // Results for a caller arrive before the machine sleeps. Otherwise they would be late, without a fault of the manager.
        await this.#turns.turn()
        this.#time[what.act](what.ms)
    }
  }

  #setTimer(...timer: Timer): () => void {
    const now = this.#clock.monotonicNow()
    this.#timers = { at: now, set: (this.#timers.at === now ? this.#timers.set : 0) + 1 }
    if (this.#timers.set <= MANY_TIMERS) return this.#clock.setTimer(...timer)
    this.#promises.must(this.#timers.set > MANY_TIMERS + 1, 'no timer is set again and again for no time')
    return () => undefined // otherwise time would never advance
  }

  #wait({ maxWaitMs, slot }: { maxWaitMs: number | undefined; slot: number | undefined }) {
    return { maxWaitMs, signal: slot === undefined ? undefined : (this.#signals[slot]?.signal ?? AbortSignal.abort()) }
  }

  #token(which: Extract<Act, { act: 'replace' }>['which']): string {
    const issued = [...this.#service.access.keys()]
    const token = { 'the last': this.#callers.lastServed, 'an old one': issued.at(-2), 'never issued': undefined }[
      which
    ]
    return token ?? 'never issued'
  }

  #close(): void {
    this.#exchanges.forget()
    this.#exchanges.closed = true
    void this.#tokens.close().then(() => {
      this.#isClosed = true
      this.#promises.must(this.#clock.pendingTimers === this.#service.pendingTimers, 'close() leaves no timer')
      this.#promises.must(!this.#exchanges.inFlight, 'close() waits for the exchange in flight')
    })
  }

  async #recover(): Promise<void> {
    if (this.#tokens.status().phase === 'stopped') await this.#act({ act: 'reset' })
    const served: string[] = []
    // The first request may meet a cool-down, and the second a pause.
    for (let time = 0; time < 3 && served.length === 0; time += 1) {
      this.#tokens.getAccessToken().then(
        (token) => served.push(token),
        () => undefined,
      )
      await this.#turns.turn()
      const now = this.#clock.wallNow()
      await this.#turns.advance((this.#tokens.status().nextAttemptAt ?? now + LONGEST_PAUSE_MS) - now)
    }
    this.#promises.must(served.length > 0, 'a service in good health is found again')
  }
}
