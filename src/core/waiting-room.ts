import type { Clock } from './clock.ts'
import type { TokenError } from './errors.ts'

/** Until when and for what one caller waits. */
export interface Wait {
  /** Monotonic instant. */
  readonly limit: number
  /** Whether the old token will do where no new one can be had in time. */
  readonly mayKeep: boolean
  readonly signal?: AbortSignal | undefined
}

interface Waiter extends Wait {
  readonly resolve: (token: string) => void
  readonly reject: (reason: unknown) => void
}

/**
 * The callers who wait for the renewal in flight, each until its own limit. Ten thousand of them cost one timer, and a
 * signal shared by a thousand one listener.
 */
export class WaitingRoom {
  readonly #clock: Clock
  /** The token that still lives, if any. */
  readonly #living: () => string | undefined
  readonly #atLimit: () => TokenError
  readonly #waiters = new Set<Waiter>()
  readonly #bySignal = new Map<AbortSignal, { waiters: Set<Waiter>; deafen: () => void }>()
  #timer: { at: number; cancel: () => void } | undefined

  constructor(clock: Clock, living: () => string | undefined, atLimit: () => TokenError) {
    this.#clock = clock
    this.#living = living
    this.#atLimit = atLimit
  }

  get size(): number {
    return this.#waiters.size
  }

  /** @throws `signal.reason` when the caller gives up. */
  enter(wait: Wait): Promise<string> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { ...wait, resolve, reject }
      this.#waiters.add(waiter)
      if (wait.signal) this.#listen(wait.signal, waiter)
      if (!this.#timer || wait.limit < this.#timer.at) this.#arm(wait.limit)
    })
  }

  /** Everybody leaves with `token`. */
  serve(token: string): void {
    for (const waiter of this.#waiters) {
      this.#leave(waiter)
      waiter.resolve(token)
    }
  }

  /** Those who can wait no longer than `until` leave: with the old token where it will do, else with `error`. */
  turnAway(error: TokenError, until = Infinity): void {
    for (const waiter of this.#waiters) {
      if (waiter.limit > until) continue
      this.#leave(waiter)
      const kept = waiter.mayKeep ? this.#living() : undefined
      if (kept === undefined) waiter.reject(error)
      else waiter.resolve(kept)
    }
  }

  #leave(waiter: Waiter): void {
    this.#waiters.delete(waiter)
    if (waiter.signal) this.#stopListening(waiter.signal, waiter)
    if (this.#waiters.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(at: number): void {
    this.#timer?.cancel()
    // Rounded up: one that fires a rounding error early would be set again for no time at all, for ever.
    const delayMs = Math.ceil(Math.max(0, at - this.#clock.monotonicNow()))
    // It holds the process: a script that waits for its first token must not just end.
    const cancel = this.#clock.setTimer(() => this.#onLimit(), delayMs, true)
    this.#timer = { at, cancel }
  }

  #onLimit(): void {
    this.#timer = undefined
    this.turnAway(this.#atLimit(), this.#clock.monotonicNow())
    let next = Infinity
    for (const waiter of this.#waiters) next = Math.min(next, waiter.limit)
    if (next < Infinity) this.#arm(next)
  }

  #listen(signal: AbortSignal, waiter: Waiter): void {
    const heard = this.#bySignal.get(signal)
    if (heard) {
      heard.waiters.add(waiter)
      return
    }
    const waiters = new Set([waiter])
    const onAbort = () => {
      for (const one of waiters) {
        this.#leave(one)
        one.reject(signal.reason)
      }
    }
    signal.addEventListener('abort', onAbort)
    this.#bySignal.set(signal, { waiters, deafen: () => signal.removeEventListener('abort', onAbort) })
  }

  #stopListening(signal: AbortSignal, waiter: Waiter): void {
    const heard = this.#bySignal.get(signal)
    heard?.waiters.delete(waiter)
    if (heard?.waiters.size !== 0) return
    heard.deafen()
    this.#bySignal.delete(signal)
  }
}
