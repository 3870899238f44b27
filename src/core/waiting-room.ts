import { reasonOf, setDeadline } from './deadline.ts'
import { type Clock, timerDelayMs } from './clock.ts'
import type { TokenError } from './errors.ts'
import { checkedDuration, ownOption } from './option-checks.ts'

export interface WaitOptions {
  /** An abort ends the wait of this caller with `signal.reason`, and nothing else. */
  signal?: AbortSignal | undefined
  /** Longest wait of this call, ms. Default, and at most, `renewal.maxWaitMs`. */
  maxWaitMs?: number | undefined
}

/** Until when one caller waits. Instants are monotonic ms. */
export interface Wait {
  readonly limit: number
  /** From this instant on the caller takes the old token, if it still lives. Default Infinity: never. */
  readonly keepAt?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** The mark of the login under which the caller asks. */
  readonly generation?: number | undefined
}

interface Waiter extends Wait {
  readonly generation: number
  keepAt: number
  /** A rejected promise rejects the waiter, so that each of ten thousand callers holds one function in the place of two. */
  readonly resolve: (token: string | Promise<never>) => void
}

/** Who waits with which signal. Most signals have one waiter: a set, or a listener, for each of them would take a third of what a waiter takes. */
interface Signals {
  readonly waiters: Map<AbortSignal, Waiter | Set<Waiter>>
  readonly onAbort: (event?: { readonly target?: unknown }) => void
}

/**
 * The callers who wait for the renewal in flight, each until its own limit. Ten thousand callers cost one timer, and a signal
 * that a thousand callers share costs one listener.
 */
export class WaitingRoom {
  readonly #clock: Clock
  /** The token that still lives, if any. */
  readonly #living: () => string | undefined
  /** @returns The error of a caller who has waited for too long. */
  readonly atLimit: () => TokenError
  readonly #waiters = new Set<Waiter>()
  // Made when needed: a process may have thousands of managers.
  #signals: Signals | undefined
  /** The last wait without a signal. */
  #shared: { readonly wait: Wait; readonly token: Promise<string> } | undefined
  #timer: { at: number; cancel: () => void } | undefined

  constructor(clock: Clock, living: () => string | undefined, atLimit: () => TokenError) {
    this.#clock = clock
    this.#living = living
    this.atLimit = atLimit
  }

  get size(): number {
    return this.#waiters.size
  }

  /** When the first of them gives up, monotonic ms. */
  get firstLimit(): number {
    let first = Infinity
    for (const { limit } of this.#waiters) first = Math.min(first, limit)
    return first
  }

  /** @throws `signal.reason` when the caller gives up. */
  enter({ limit, keepAt = Infinity, signal, generation = 0 }: Wait): Promise<string> {
    return new Promise((resolve) => {
      // Not by a spread of the wait: that alone would double the cost of a waiter.
      const waiter: Waiter = { limit, keepAt, signal, generation, resolve }
      this.#waiters.add(waiter)
      if (signal) this.#listen(signal, waiter)
      const next = Math.min(keepAt, limit)
      if (!this.#timer || next < this.#timer.at) this.#arm(next)
    })
  }

  /** As `enter`, but callers without a signal who come at the same time share one promise, and its error object. */
  share(wait: Wait): Promise<string> {
    if (wait.signal) return this.enter(wait)
    if (this.#shared && isAlike(this.#shared.wait, wait)) return this.#shared.token
    const token = this.enter(wait)
    this.#shared = { wait, token }
    return token
  }

  /** All callers leave with `token`. */
  serve(token: string): void {
    for (const waiter of this.#waiters) {
      this.#leave(waiter)
      waiter.resolve(token)
    }
  }

  /** Callers who take the old token leave with it, if it lives. */
  keep(): void {
    for (const waiter of this.#waiters) this.#keep(waiter)
  }

  /**
   * Callers leave who can wait no longer than `until` and have asked under a mark below `before`: with the old token if they take it and it lives, else with
   * `error`. Default: all.
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
    // A caller who comes later waits for the next token.
    this.#shared = undefined
    if (waiter.signal) this.#stopListening(waiter.signal, waiter)
    if (this.#waiters.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(at: number): void {
    this.#timer?.cancel()
    const delayMs = timerDelayMs(at - this.#clock.monotonicNow())
    // The timer holds the process: a script must not end while it waits for its first token.
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

  /** @returns Whether the caller left with the old token: it takes it, and the token still lives. */
  #keep(waiter: Waiter): boolean {
    const living = waiter.keepAt < Infinity ? this.#living() : undefined
    waiter.keepAt = Infinity
    if (living === undefined) return false
    this.#leave(waiter)
    waiter.resolve(living)
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

  /** @param target The signal. Some polyfills do not tell it. */
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

/** How long a caller can wait, ms. @param most The longest wait of any caller. @throws {RangeError} naming the option. */
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
