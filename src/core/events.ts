import type { Clock } from './clock.ts'
import type { TokenError } from './errors.ts'
import { checkChoice, checkFunction } from './option-checks.ts'
import { warnOnce } from './runtime.ts'

/** Instants are epoch ms of this machine's wall clock, durations ms. No event carries a token or a credential. */
export interface TokenEvents {
  /** A new token is in use. `adopted`: another process got it. */
  renewed: {
    by: 'obtain' | 'refresh' | 'adopted'
    because: RenewalCause
    attempts: number
    durationMs: number
    accessExpiresAt: number
    refreshExpiresAt?: number
  }
  /** One token call failed and will be tried again. */
  retry: { attempt: number; delayMs: number; error: TokenError }
  /** A renewal gave up. `nextAttemptAt` is Infinity where only `reset()` helps. */
  renewalFailed: { error: TokenError; nextAttemptAt: number }
  suspicious: SuspicionEvent
  /** What the obtain that followed a suspicion showed. */
  suspicionSettled: {
    fingerprint: string
    verdict: 'token-only' | 'account-rejected' | 'was-expired' | 'superseded'
  }
  /** Something odd but survivable; each kind at most once a minute. */
  anomaly: { kind: AnomalyKind; message: string }
  storeUnavailable: { message: string }
}

export type RenewalCause = 'cold' | 'due' | 'expired' | 'refused' | 'forced'

export type AnomalyKind =
  | 'clock-off' // this machine's clock differs from the service's by more than a minute
  | 'clock-jumped' // sleep, or a step of the wall clock
  | 'retry-after-clamped'
  | 'response-odd' // usable, but not as specified: missing id, same or no refresh token, …
  | 'origin-not-allowed' // a request went out bare because nobody claims its origin
  | 'header-in-defaults' // the instance's own default header silently switches the attachment off
  | 'stored-tokens-unusable' // garbage, newer schema, unknown key
  | 'stored-tokens-readable' // no encryption keys
  | 'store-restored' // the store may have lost writes: its refresh token is not presented again
  | 'adapter-replaced' // another interceptor put an adapter in the place of ours: the request went out bare
  | 'new-tokens-refused' // the API refuses tokens that were just issued
  | 'lifetime-odd' // a lifetime below 5 s: seconds given for milliseconds?

/** A refresh token was refused although it was not known to have expired (specification, section 3). */
export interface SuspicionEvent {
  suspicious: true
  /** Why it may be innocent, or `unexplained`. */
  evidence:
    | 'unexplained'
    | 'own-unknown-outcome'
    | 'concurrent-use'
    | 'clock-uncertain'
    | 'store-unreachable'
    | 'expiry-unknown'
  severity: 'high' | 'medium' | 'low'
  /** First 8 hex digits of SHA-256 of the refresh token. */
  fingerprint: string
  refreshExpiresAt?: number
  rejectedAt: number
  /** Absent where the source told none. */
  status?: number
  serviceCode?: string
  action: 'obtain' | 'stop'
}

/** Hears every event, with its name. */
export type AnyListener = <Name extends keyof TokenEvents>(name: Name, event: TokenEvents[Name]) => void

/** Looks on where no event is told, for measurements. Its methods must not throw. */
export interface Watcher {
  /** Makes one token call by `run`. */
  call<Result>(exchange: 'obtain' | 'refresh', attempt: number, run: () => Promise<Result>): Promise<Result>
  /** A caller begins to wait for `token`, in the caller's own asynchronous context. */
  wait(token: Promise<string>): void
}

type Listener = (event: never) => unknown

const NAMES: readonly (keyof TokenEvents)[] = [
  'renewed',
  'retry',
  'renewalFailed',
  'suspicious',
  'suspicionSettled',
  'anomaly',
  'storeUnavailable',
]
/** What somebody has to change. These are told as a warning of the process where nobody listens. */
const MISTAKES: ReadonlySet<AnomalyKind> = new Set<AnomalyKind>([
  'origin-not-allowed',
  'header-in-defaults',
  'adapter-replaced',
  'new-tokens-refused',
  'stored-tokens-unusable',
  'stored-tokens-readable',
])
/** Between two events of the same kind. */
const SAME_GAP_MS = 60_000

/** Tells listeners, and lets nothing they do come back. */
export class Events {
  readonly #clock: Clock
  watcher: Watcher | undefined
  // Made when needed: most managers tell nothing odd, and there may be thousands of managers.
  #listeners: Map<keyof TokenEvents, Set<Listener>> | undefined
  #toldAt: Map<AnomalyKind | 'store', number> | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  on<Name extends keyof TokenEvents>(name: Name, listener: (event: TokenEvents[Name]) => void): () => void {
    checkChoice('The event name', name, NAMES)
    checkFunction('The listener', listener)
    const entry: Listener = (event) => listener(event)
    this.#listeners ??= new Map()
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(entry))
    return () => void listeners.delete(entry)
  }

  onAny(listener: AnyListener): () => void {
    checkFunction('The listener', listener)
    const stops = NAMES.map((name) => this.on(name, (event) => listener(name, event)))
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** Listeners hear of it once the change that it tells of is complete, so they may call anything. */
  emit<Name extends keyof TokenEvents>(name: Name, event: TokenEvents[Name]): void {
    Object.freeze(event)
    for (const listener of this.#listeners?.get(name) ?? []) {
      // One that throws or rejects must not cost anybody a token.
      void Promise.resolve(event as never)
        .then(listener)
        .catch(() => undefined)
    }
  }

  /** Emits an `anomaly` unless its kind was told within the last minute. @returns Whether it was told now. */
  anomaly(kind: AnomalyKind, message: string): boolean {
    const isDue = this.#isDue(kind)
    if (isDue && !this.#hasListener('anomaly') && MISTAKES.has(kind)) warnOnce(kind, message)
    if (isDue) this.emit('anomaly', { kind, message })
    return isDue
  }

  /** Emits `storeUnavailable` unless it was told within the last minute. */
  storeUnavailable(message: string): void {
    if (!this.#isDue('store')) return
    if (!this.#hasListener('storeUnavailable')) warnOnce('store-unavailable', message)
    this.emit('storeUnavailable', { message })
  }

  #hasListener(name: keyof TokenEvents): boolean {
    return (this.#listeners?.get(name)?.size ?? 0) > 0
  }

  #isDue(kind: AnomalyKind | 'store'): boolean {
    const now = this.#clock.monotonicNow()
    if (now - (this.#toldAt?.get(kind) ?? -Infinity) < SAME_GAP_MS) return false
    this.#toldAt = (this.#toldAt ?? new Map()).set(kind, now)
    return true
  }
}
