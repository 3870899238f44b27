import { reasonOf, setDeadline } from './deadline.ts'
import { type Clock, timerDelayMs } from './clock.ts'
import type { TokenError } from './errors.ts'
import { checkedDuration, ownOption } from './option-checks.ts'

/** How long one caller waits. */
export interface WaitOptions {
  /** An abort ends only the wait of this caller, with `signal.reason`. */
  signal?: AbortSignal | undefined
  /** The longest wait of this call, ms. Default and maximum: `renewal.maxWaitMs`. */
  maxWaitMs?: number | undefined
}

/** The wait of one caller. Instants are monotonic ms. */
export interface Wait {
  readonly limit: number
  /** From this instant on, the caller takes the old token if it is still valid. Default Infinity: never. */
  readonly keepAt?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** The login generation of the caller. */
  readonly generation?: number | undefined
}

interface Waiter extends Wait {
  readonly generation: number
  keepAt: number
  /** Rejects if called with a rejected promise, so that each of ten thousand callers holds one function instead of two. */
  readonly resolve: (token: string | Promise<never>) => void
}

/** The waiters by signal. Most signals have one waiter. A set or a listener for each would add a third to the memory of a waiter. */
interface Signals {
  readonly waiters: Map<AbortSignal, Waiter | Set<Waiter>>
  readonly onAbort: (event?: { readonly target?: unknown }) => void
}

/**
 * The callers who wait for the renewal in flight, each until its own limit. Ten thousand callers need one timer, and a signal that a thousand callers
 * share needs one listener.
 */
export class WaitingRoom {
  readonly #clock: Clock
  /** The token that is still valid, if any. */
  readonly #validToken: () => string | undefined
  /** @returns The error of a caller whose limit has passed. */
  readonly atLimit: () => TokenError
  readonly #waiters = new Set<Waiter>()
  // Created when needed: a process may have thousands of managers.
  #signals: Signals | undefined
  /** The last wait without a signal. */
  #shared: { readonly wait: Wait; readonly token: Promise<string> } | undefined
  #timer: { at: number; cancel: () => void } | undefined

  constructor(clock: Clock, validToken: () => string | undefined, atLimit: () => TokenError) {
    this.#clock = clock
    this.#validToken = validToken
    this.atLimit = atLimit
  }

  get size(): number {
    return this.#waiters.size
  }

  /** The earliest limit of a caller, monotonic ms. */
  get firstLimit(): number {
    let first = Infinity
    for (const { limit } of this.#waiters) first = Math.min(first, limit)
    return first
  }

  /** Waits for a token. @throws After an abort: `signal.reason`. */
  enter({ limit, keepAt = Infinity, signal, generation = 0 }: Wait): Promise<string> {
    return new Promise((resolve) => {
      // No object spread: it would double the cost of a waiter.
      const waiter: Waiter = { limit, keepAt, signal, generation, resolve }
      this.#waiters.add(waiter)
      if (signal) this.#listen(signal, waiter)
      const next = Math.min(keepAt, limit)
      if (!this.#timer || next < this.#timer.at) this.#arm(next)
    })
  }

  /** Like `enter`, but callers without a signal who arrive at the same time share one promise and its error object. */
  share(wait: Wait): Promise<string> {
    if (wait.signal) return this.enter(wait)
    if (this.#shared && isAlike(this.#shared.wait, wait)) return this.#shared.token
    const token = this.enter(wait)
    this.#shared = { wait, token }
    return token
  }

  /** Resolves all callers with `token`. */
  resolveAll(token: string): void {
    for (const waiter of this.#waiters) {
      this.#leave(waiter)
      waiter.resolve(token)
    }
  }

  /** Resolves the callers who accept the old token with it, if it is still valid. */
  keep(): void {
    for (const waiter of this.#waiters) this.#keep(waiter)
  }

  /**
   * Ends the wait of callers whose limit is at most `until` and whose login generation is below `before`; by default of all. They get the old token if
   * they accept it and it is still valid, else `error`.
   */
  dismiss(error: TokenError, until = Infinity, before = Infinity): void {
    for (const waiter of this.#waiters) {
      if (waiter.limit > until || waiter.generation >= before || this.#keep(waiter)) continue
      this.#leave(waiter)
      waiter.resolve(Promise.reject(error))
    }
  }

  #leave(waiter: Waiter): void {
    this.#waiters.delete(waiter)
    // A caller who arrives later waits for the next token.
    this.#shared = undefined
    if (waiter.signal) this.#stopListening(waiter.signal, waiter)
    if (this.#waiters.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(at: number): void {
    this.#timer?.cancel()
    const delayMs = timerDelayMs(at - this.#clock.monotonicNow())
    // The timer keeps the process alive: a script must not exit while it waits for its first token.
    const cancel = setDeadline(this.#clock, delayMs, () => this.#onTimer(), true)
    this.#timer = { at, cancel }
  }

  #onTimer(): void {
    this.#timer = undefined
    const now = this.#clock.monotonicNow()
    this.dismiss(this.atLimit(), now)
    let next = Infinity
    for (const waiter of this.#waiters) {
      if (waiter.keepAt > now || !this.#keep(waiter)) next = Math.min(next, waiter.keepAt, waiter.limit)
    }
    if (next < Infinity) this.#arm(next)
  }

  /** @returns Whether the caller received the old token, because it accepts it and the token is still valid. */
  #keep(waiter: Waiter): boolean {
    const validToken = waiter.keepAt < Infinity ? this.#validToken() : undefined
    waiter.keepAt = Infinity
    if (validToken === undefined) return false
    this.#leave(waiter)
    waiter.resolve(validToken)
    return true
  }

  #listen(signal: AbortSignal, waiter: Waiter): void {
    this.#signals ??= { waiters: new Map(), onAbort: (event) => this.#onAbort(event?.target) }
    const { waiters, onAbort } = this.#signals
    const known = waiters.get(signal)
    if (!known) signal.addEventListener('abort', onAbort)
    if (known instanceof Set) known.add(waiter)
    else waiters.set(signal, known ? new Set([known, waiter]) : waiter)
  }

  /** @param target The signal. Some polyfills do not set it. */
  #onAbort(target: unknown): void {
    const waiters = this.#signals?.waiters ?? new Map<AbortSignal, Waiter | Set<Waiter>>()
    const isKnown = waiters.has(target as AbortSignal)
    for (const signal of isKnown ? [target as AbortSignal] : waiters.keys())
      if (signal.aborted) this.#abort(signal, waiters.get(signal))
  }

  #abort(signal: AbortSignal, known: Waiter | Set<Waiter> = new Set()): void {
    const reason = reasonOf(signal)
    for (const one of known instanceof Set ? known : [known]) {
      this.#leave(one)
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- The reason is the caller's.
      one.resolve(Promise.reject(reason))
    }
  }

  #stopListening(signal: AbortSignal, waiter: Waiter): void {
    if (!this.#signals) return
    const { waiters, onAbort } = this.#signals
    const known = waiters.get(signal)
    if (known instanceof Set && known.delete(waiter) && known.size > 0) return
    signal.removeEventListener('abort', onAbort)
    waiters.delete(signal)
  }
}

/** How long a caller can wait, ms. @param most The longest wait of any caller. @throws {TypeError | RangeError} Naming the option. */
export function waitMsOf(options: WaitOptions | undefined, most: number): number {
  const maxWaitMs = ownOption(options, 'maxWaitMs')
  return maxWaitMs === undefined ? most : Math.min(checkedDuration('maxWaitMs', maxWaitMs), most)
}

/** Whether two callers may share a wait: their limits differ by less than a millisecond, the resolution of timers. */
function isAlike(earlier: Wait, later: Wait): boolean {
  const isNear = (one = Infinity, other = Infinity) => one === other || Math.abs(one - other) < 1
  return (
    earlier.generation === later.generation &&
    isNear(earlier.limit, later.limit) &&
    isNear(earlier.keepAt, later.keepAt)
  )
}
