import type { Clock } from './clock.ts'
import { type LoginReason, reduced, type TokenError } from './errors.ts'
import { checkChoice, checkFunction, type Complete, type KeysOf, namesOf } from './option-checks.ts'
import { warn, warnOnce } from './runtime.ts'
import type { ResourceOptions } from './resource.ts'

/**
 * The events by name. Instants are epoch ms of this machine's wall clock; durations are ms. No event contains a secret. `resource`: what the tokens are
 * for, in events of `forResource`.
 */
export interface TokenEvents {
  /** A new token is in use. `adopted`: it came from another owner of the store, or from `adopt()`. */
  renewed: {
    resource?: ResourceOptions
    by: 'obtain' | 'refresh' | 'adopted'
    because: 'cold' | 'due' | 'expired' | 'refused' | 'forced'
    attempts: number
    durationMs: number
    accessExpiresAt: number
    refreshExpiresAt?: number
  }
  /** A token request failed. The manager sends the next one after `delayMs`. */
  retry: { resource?: ResourceOptions; attempt: number; delayMs: number; error: TokenError }
  /** A renewal failed. `nextAttemptAt` is Infinity if the manager waits for `reset()` or `adopt()`. */
  renewalFailed: { resource?: ResourceOptions; error: TokenError; nextAttemptAt: number }
  /** The service rejected a refresh token that was not known to have expired. */
  suspicious: SuspicionEvent
  /** How a suspicion ended: with the result of the next obtain, or `superseded`, because another owner had a newer token set. */
  suspicionSettled: {
    resource?: ResourceOptions
    fingerprint: string
    verdict: 'token-only' | 'account-rejected' | 'was-expired' | 'superseded'
  }
  /** The manager noticed a problem that does not stop it. Each kind is reported at most once a minute. */
  anomaly: { resource?: ResourceOptions; kind: AnomalyKind; message: string }
  /** The shared store failed. Reported at most once a minute. */
  storeUnavailable: { resource?: ResourceOptions; message: string }
}

/** The events of a manager whose source has a `login`. */
export interface LoginEvents extends TokenEvents {
  /**
   * A login began or ended, in this manager (`here`) or in another manager of the same store (`elsewhere`). `store`: this manager found a login, or found
   * none, at its first check of the store; no user has just logged in or out. `account`: whether this login has the same subject as the last one.
   * `reason`: why a login is required.
   */
  loginChanged: {
    resource?: ResourceOptions
    login: 'present' | 'required'
    by: 'here' | 'elsewhere' | 'store'
    account: 'same' | 'other' | 'unknown'
    reason?: LoginReason
  }
}

/** Why a renewal ran. `cold`: there was no token. `refused`: the API rejected the token. `forced`: by `renew()` or `adopt()`. */
export type RenewalCause = TokenEvents['renewed']['because']

/** The kind of an `anomaly`. */
export type AnomalyKind =
  | 'clock-skew' // meta.time differs by more than a minute from this machine's clock or the response's Date, or the service's clock went back
  | 'clock-jumped' // this machine slept, or its wall clock was set
  | 'retry-after-clamped' // the service asked for a longer pause than retry.maxRetryAfterMs
  | 'unexpected-response' // usable, but not as specified: missing id, same or no refresh token, …
  | 'origin-not-allowed' // a request was sent without a token: no attachment allows its origin
  | 'header-in-defaults' // a default header of the instance overrides the token
  | 'header-leftover' // a request was sent without a token, because your code sets the header to a value such as `Bearer undefined`
  | 'stored-tokens-unusable' // the stored record is damaged, comes from a newer release, or is encrypted with an unknown key
  | 'tokens-unencrypted' // the store has no encryption keys
  | 'store-restored' // the store may have lost writes: the manager does not present its refresh token
  | 'adapter-replaced' // another interceptor replaced our adapter: the request was sent without a token
  | 'new-tokens-refused' // the API rejects tokens that were just issued
  | 'unexpected-lifetime' // a token's lifetime is less than 5 s: the source may have returned seconds instead of milliseconds
  | 'custom-transport' // a request has its own transport, which may follow redirects: it was sent without a token
  | 'not-revoked' // a logout could not revoke the tokens of its login: they remain valid at the service
  | 'no-refresh-token' // a login was adopted without a refresh token: it ends when its access token expires
  | 'storage-denied' // the browser denies storage: this tab does not share its tokens
  | 'second-manager' // another manager of the same account or login exists in this process, without a common store
  | 'store-epoch-unknown' // the store cannot detect lost writes: a restored record goes unnoticed

/** The service rejected a refresh token that was not known to have expired (the payment service's specification, section 3). Instants: epoch ms. */
export interface SuspicionEvent {
  resource?: ResourceOptions
  /** What may explain the rejection, or `unexplained`. */
  evidence:
    | 'unexplained'
    | 'own-unknown-outcome'
    | 'concurrent-use'
    | 'clock-uncertain'
    | 'store-unreachable'
    | 'expiry-unknown'
    | 'credentials-changed'
    | 'revoked-or-used'
  severity: 'high' | 'medium' | 'low'
  /** First 8 hex digits of SHA-256 of the refresh token. */
  fingerprint: string
  refreshExpiresAt?: number
  rejectedAt: number
  /** HTTP status of the rejection. Absent if the source reported none. */
  status?: number
  serviceCode?: string
  action: 'obtain' | 'stop'
}

/** A listener for every event, called with the event's name. */
export type AnyListener<Known = LoginEvents> = <Name extends keyof Known>(name: Name, event: Known[Name]) => void

/** Measures token requests and waits, for which there are no events. Its methods must not throw. */
export interface Watcher {
  /** Performs one token request by calling `run`. */
  call<Result>(exchange: 'obtain' | 'refresh', attempt: number, run: () => Promise<Result>): Promise<Result>
  /** A caller starts to wait for `token`. Runs in the caller's asynchronous context. */
  wait(token: Promise<string>, because: RenewalCause): void
  /** A caller receives `error` without a wait. Watchers of older copies of the package lack this method. */
  refused?(error: TokenError, because: RenewalCause): void
}

type Listener = (event: never) => unknown

const NAMES = /* @__PURE__ */ namesOf<LoginEvents>({
  renewed: true,
  retry: true,
  renewalFailed: true,
  suspicious: true,
  suspicionSettled: true,
  loginChanged: true,
  anomaly: true,
  storeUnavailable: true,
})
/** Whether a developer must fix the problem. The manager then emits a process warning if there is no listener. */
type IsMistake = Complete<
  Record<AnomalyKind, boolean>,
  {
    'clock-skew': false
    'clock-jumped': false
    'retry-after-clamped': false
    'unexpected-response': false
    'origin-not-allowed': true
    'header-in-defaults': true
    'header-leftover': true
    'stored-tokens-unusable': true
    'tokens-unencrypted': true
    'store-restored': false
    'adapter-replaced': true
    'new-tokens-refused': true
    'unexpected-lifetime': true
    'custom-transport': true
    'not-revoked': true
    'no-refresh-token': true
    'storage-denied': false
    'second-manager': true
    'store-epoch-unknown': false
  }
>
/** The kinds that are no mistakes. A list, because a table of all kinds would end up in every bundle. */
const ODDITIES: readonly AnomalyKind[] = /* @__PURE__ */ namesOf<Record<KeysOf<IsMistake, false>, true>>({
  'clock-skew': true,
  'clock-jumped': true,
  'retry-after-clamped': true,
  'unexpected-response': true,
  'store-restored': true,
  'storage-denied': true,
  'store-epoch-unknown': true,
})
/** The minimum time between two events of the same kind. */
const SAME_GAP_MS = 60_000

const reported = /* @__PURE__ */ new WeakSet<object>()

/** Reports what a listener threw, once per listener: otherwise a typo would silently disable an alarm (F431). */
function reportListener(listener: object, name: string, thrown: unknown): void {
  if (reported.has(listener)) return
  reported.add(listener)
  const { stack = '' } = reduced(thrown)
  warn(
    'listener-threw',
    `A listener of the event '${name}' threw. Later errors of this listener are not reported`,
    stack,
    'error',
  )
}

/** Calls the listeners. Their errors never reach a caller. */
export class Events {
  readonly #clock: Clock
  watcher: Watcher | undefined
  // Created on first use: many managers never use them, and a process may have thousands of managers.
  #listeners: Map<keyof LoginEvents, Set<Listener>> | undefined
  #reportedAt: Map<AnomalyKind | 'store', number> | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  on<Name extends keyof LoginEvents>(
    name: Name,
    listener: (event: LoginEvents[Name]) => void,
    reportedAs: object = listener,
  ): () => void {
    checkChoice('The event name', name, NAMES)
    checkFunction('The listener', listener)
    const call: Listener = listener
    const entry: Listener = async (event) => {
      try {
        await call(event)
      } catch (thrown) {
        reportListener(reportedAs, name, thrown)
      }
    }
    this.#listeners ??= new Map()
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners.add(entry))
    return () => void listeners.delete(entry)
  }

  onAny(listener: AnyListener): () => void {
    checkFunction('The listener', listener)
    const stops = NAMES.map((name) => this.on(name, (event) => listener(name, event), listener))
    return () => {
      for (const stop of stops) stop()
    }
  }

  /** Calls the listeners asynchronously, after the change is complete. A listener may therefore call any method. */
  emit<Name extends keyof LoginEvents>(name: Name, event: LoginEvents[Name]): void {
    Object.freeze(event)
    for (const listener of this.#listeners?.get(name) ?? []) {
      // A listener that throws or rejects must not cost a caller its token.
      void Promise.resolve(event as never).then(listener)
    }
  }

  /** @returns A function that removes the watcher. @throws {TypeError} If there is already a watcher. */
  watchedBy(watcher: Watcher): () => void {
    if (this.watcher)
      throw new TypeError('The token manager is already instrumented: first call what instrument() returned')
    this.watcher = watcher
    return () => {
      if (this.watcher === watcher) this.watcher = undefined
    }
  }

  /** Reports a caller's immediate rejection to the watcher. @returns `error` */
  refused(error: TokenError, because: RenewalCause): TokenError {
    this.watcher?.refused?.(error, because)
    return error
  }

  /** Emits an `anomaly` unless its kind was reported within the last minute. @returns Whether it was emitted. */
  anomaly(kind: AnomalyKind, message: string): boolean {
    const isDue = this.#isDue(kind)
    if (isDue && !this.#hasListener('anomaly') && !ODDITIES.includes(kind)) warnOnce(kind, message)
    if (isDue) this.emit('anomaly', { kind, message })
    return isDue
  }

  /** Emits `storeUnavailable` unless it was reported within the last minute. */
  storeUnavailable(message: string): void {
    if (!this.#isDue('store')) return
    if (!this.#hasListener('storeUnavailable')) warnOnce('store-unavailable', message)
    this.emit('storeUnavailable', { message })
  }

  #hasListener(name: keyof LoginEvents): boolean {
    return (this.#listeners?.get(name)?.size ?? 0) > 0
  }

  #isDue(kind: AnomalyKind | 'store'): boolean {
    const now = this.#clock.monotonicNow()
    if (now - (this.#reportedAt?.get(kind) ?? -Infinity) < SAME_GAP_MS) return false
    this.#reportedAt = (this.#reportedAt ?? new Map()).set(kind, now)
    return true
  }
}
