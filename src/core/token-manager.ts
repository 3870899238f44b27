import type { Clock } from './clock.ts'
import type { TokenErrorCode } from './errors.ts'
import type { Events, TokenEvents } from './events.ts'

/** Keeps one fresh access token for one account, whoever asks and however many at once. */
export interface TokenManager {
  /**
   * A token that may be sent now; waits for the renewal where there is none. A caller who gives up leaves alone.
   *
   * @throws {TokenError} see `TokenErrorCode`; `signal.reason` when the caller gives up.
   */
  getAccessToken(options?: WaitOptions): Promise<string>
  /**
   * The token if it may be sent right now, else undefined. Synchronous; starts the background renewal when it is due.
   */
  peekAccessToken(): string | undefined
  /**
   * The API refused `refused`. Resolves with a different token; renews only if `refused` is still the current one.
   *
   * @throws {TokenError} `ERR_REPLACED_TOO_SOON` within the gap between forced renewals: max(2 s, a tenth of the lifetime).
   */
  replaceAccessToken(refused: string, options?: WaitOptions): Promise<string>
  /** Renews now, however fresh the token; joins a renewal in flight. @throws {TokenError} as `getAccessToken`. */
  renew(options?: WaitOptions): Promise<void>
  /**
   * Forgets tokens (in the store too), cool-downs and stops, and outdates a renewal in flight: its waiters join the next
   * one. Use after changing credentials.
   */
  reset(): Promise<void>
  status(): TokenStatus
  /** @returns a function that removes the listener. Listeners may throw; nothing else notices. */
  on<Name extends keyof TokenEvents>(name: Name, listener: (event: TokenEvents[Name]) => void): () => void
  /** Ends timers, rejects waiters with `ERR_CLOSED`, lets an exchange in flight finish and be stored. */
  close(): Promise<void>
}

export interface WaitOptions {
  signal?: AbortSignal | undefined
  /** Longest wait of this call, ms; at most, and by default, `renewal.maxWaitMs`. */
  maxWaitMs?: number | undefined
}

export interface TokenStatus {
  /** While a token lives its freshness is the phase, whatever else is wrong. */
  phase: 'empty' | 'fresh' | 'due' | 'expired' | 'cooling-down' | 'stopped' | 'closed'
  renewing: boolean
  /** Epoch ms; a lifetime above 24 h counts as 24 h. */
  accessExpiresAt?: number
  /** Epoch ms. */
  refreshExpiresAt?: number
  /** No token call before this instant, epoch ms. */
  nextAttemptAt?: number
  /** Why there was no token last, until one comes. */
  lastError?: TokenErrorCode
  /** Token calls made (`obtains`, `refreshes`) and how many of them failed; tokens that another owner of the store got. */
  counts: { obtains: number; refreshes: number; adoptions: number; failures: number; suspicions: number }
}

/**
 * What an attachment needs to know of a manager beyond its public face, found under a symbol that all copies of the package
 * share. A hand-made manager has none.
 */
export interface ManagerInternals {
  readonly origin?: string | undefined
  readonly clock: Clock
  readonly maxWaitMs: number
  readonly anomaly: Events['anomaly']
  /** Whether `token` is the current one and has ended: a stall may lie between its being served and its being sent. */
  readonly hasEnded: (token: string) => boolean
  /** The API refused `token`: replaces it for later requests, as `replaceAccessToken` does. Nobody waits, and no process is held. */
  readonly replaceBehind: (token: string) => void
}
export const INTERNALS = Symbol.for('axios-evergreen.TokenManager')
