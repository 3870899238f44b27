import { isTokenError, type TokenManager } from '../../src/index.ts'
import type { WaitOptions } from '../../src/core/waiting-room.ts'
import { type ExchangeWatch, hardSkewOf, skewOf } from './exchange-watch.ts'
import type { Promises } from './promises.ts'
import type { RotatingService } from './rotating-service.ts'
import type { TrueTime } from './true-time.ts'

export interface Question {
  readonly asks: 'a token' | 'another token' | 'a renewal'
  readonly refused?: string | undefined
}

/** A caller who waits for a token. */
interface Caller extends Question {
  readonly askedAt: number
  readonly limitMs: number
  readonly signal: AbortSignal | undefined
  /** Whether the manager held a token that needed no renewal at the call. */
  readonly atOnce: boolean
  /** How long the caller waits for a newer token although the held one is valid, ms. */
  readonly patienceMs: number | undefined
  /** How far clocks were set ahead, and how long the machine slept, before the call. */
  readonly disturbedMs: number
  readonly generation: number
  left?: 'served' | 'refused'
}

/** Watches a manager from its callers' side: which token each caller gets, and when. */
export class CallerWatch {
  /** The last token that any caller got. */
  lastServed: string | undefined
  readonly #time: TrueTime
  readonly #promises: Promises
  readonly #exchanges: ExchangeWatch
  readonly #maxWaitMs: number
  #service!: RotatingService
  #tokens!: TokenManager
  #callers: Caller[] = []
  /** The last token that a caller has reported as rejected. */
  #refusedToken: string | undefined

  constructor(time: TrueTime, promises: Promises, exchanges: ExchangeWatch, maxWaitMs: number) {
    this.#time = time
    this.#promises = promises
    this.#exchanges = exchanges
    this.#maxWaitMs = maxWaitMs
  }

  watch(service: RotatingService, tokens: TokenManager): void {
    this.#service = service
    this.#tokens = tokens
  }

  get areGone(): boolean {
    return this.#callers.length === 0
  }

  /** Makes a call, and watches it to the end. */
  see(question: Question, wait: WaitOptions, call: (options: WaitOptions) => Promise<unknown>): void {
    const { serves, generation, held, patienceMs } = this.#exchanges
    const caller: Caller = {
      ...question,
      askedAt: this.#time.monotonicNow(),
      limitMs: Math.min(wait.maxWaitMs ?? Infinity, this.#maxWaitMs),
      signal: wait.signal,
      atOnce: serves && question.asks !== 'a renewal' && question.refused !== held?.token && !this.#isReplaced,
      patienceMs: question.asks === 'a token' ? patienceMs : undefined,
      disturbedMs: this.#time.disturbedMs,
      generation,
    }
    this.#callers.push(caller)
    if (question.refused !== undefined && question.refused === held?.token) this.#refusedToken = held.token
    call(wait).then(
      (token) => this.#served(caller, token),
      (error: unknown) => this.#refused(caller, error),
    )
  }

  /** The API has rejected the token, and its replacement may arrive: callers wait for it (F367). */
  get #isReplaced(): boolean {
    const { held } = this.#exchanges
    return held !== undefined && held.token === this.#refusedToken && this.#tokens.status().renewing
  }

  peek(): void {
    const token = this.#tokens.peekAccessToken()
    const { must } = this.#promises
    if (token === undefined) {
      must(!this.#exchanges.serves || this.#isReplaced, 'a token that serves is there at once')
      return
    }
    this.#judge(token)
    const issued = this.#service.access.get(token)
    if (!issued) return
    must(this.#exchanges.isOfNow(issued.exchange), 'peek gives no token of before a reset')
    const leftMs = this.#exchanges.leftOf(issued)
    must(leftMs > hardSkewOf(issued), 'peek gives no token within its hard skew')
    const { renewing, nextAttemptAt } = this.#tokens.status()
    const isSeenTo = renewing || nextAttemptAt !== undefined
    must(leftMs > skewOf(issued) || isSeenTo, 'peek has a token renewed that is due')
  }

  #served(caller: Caller, token: unknown): void {
    this.#leaves(caller, 'served')
    if (caller.asks === 'a renewal') return
    this.#judge(String(token))
    this.#promises.must(token !== caller.refused, 'the refused token is not handed out again')
  }

  #refused(caller: Caller, error: unknown): void {
    const { must } = this.#promises
    this.#leaves(caller, 'refused')
    if (caller.signal?.aborted && error === caller.signal.reason) return
    must(isTokenError(error), 'a caller is refused with a TokenError, or the reason of its signal')
    if (!isTokenError(error)) return
    const { code } = error
    this.#judgeEvidence(error)
    this.#judgeEvidence(error.cause)
    if (code === 'ERR_CLOSED') must(this.#exchanges.closed, 'ERR_CLOSED comes after close()')
    if (code === 'ERR_REPLACED_TOO_SOON')
      must(caller.asks === 'another token', 'ERR_REPLACED_TOO_SOON is for who replaces')
    const waitedMs = this.#time.monotonicNow() - caller.askedAt
    if (code === 'ERR_WAIT_TIMEOUT') must(waitedMs === caller.limitMs, 'ERR_WAIT_TIMEOUT comes at the limit')
    const isFinal = code === 'ERR_CLOSED' || code === 'ERR_SUSPICIOUS_REFRESH_TOKEN'
    const couldMakeDo = caller.asks === 'a token' && this.#exchanges.surelyLeftMs > 0
    must(isFinal || !couldMakeDo, 'nobody fails while the token lives')
  }

  #leaves(caller: Caller, left: NonNullable<Caller['left']>): void {
    caller.left = left
    const waitedMs = this.#time.monotonicNow() - caller.askedAt
    this.#promises.must(waitedMs <= caller.limitMs, 'nobody waits beyond the limit')
  }

  #judge(token: string): void {
    const { must } = this.#promises
    const issued = this.#service.access.get(token)
    must(issued !== undefined, `a token is one that was issued, not '${token}'`)
    if (!issued) return
    const { exchange } = issued
    this.lastServed = token
    must(this.#exchanges.leftOf(issued) > 0, 'no token is handed out that has expired')
    must(exchange.end?.outcome === 'accepted', 'no token comes from an exchange that failed')
    const isGood = this.#exchanges.isOfNow(exchange) || this.#exchanges.isOnItsWay(exchange)
    must(isGood, 'no token of an older generation reaches anybody')
  }

  #judgeEvidence(error: unknown): void {
    const exchange = isTokenError(error) ? this.#exchanges.evidenceOf(error) : undefined
    if (!exchange) return
    const isGood = this.#exchanges.isOfNow(exchange) || this.#exchanges.isOnItsWay(exchange)
    this.#promises.must(isGood, 'no failure of an older generation is told')
  }

  turned(): void {
    const { must } = this.#promises
    const { generation, stopped, closed } = this.#exchanges
    const { renewing, phase, counts } = this.#tokens.status()
    const now = this.#time.monotonicNow()
    for (const caller of this.#callers) {
      const { atOnce, askedAt, limitMs, signal, left, patienceMs = Infinity } = caller
      const isDisturbed = caller.generation !== generation || stopped || signal?.aborted === true
      must(!atOnce || isDisturbed || left === 'served', 'who asks while a token serves waits for nothing')
      if (left) continue
      must(!signal?.aborted, 'who gives up leaves at once')
      must(now <= askedAt + limitMs, 'nobody waits beyond the limit')
      const isImpatient = isDisturbed || caller.disturbedMs !== this.#time.disturbedMs
      must(isImpatient || now <= askedAt + patienceMs, 'nobody waits till the token that lives has died')
      must(renewing, 'who waits, waits for a renewal')
    }
    must((phase === 'closed') === closed, 'the phase is closed after close(), and only then')
    must(counts.obtains + counts.refreshes === this.#service.exchanges.length, 'status() counts the calls')
    this.#callers = this.#callers.filter(({ left }) => !left)
  }
}
