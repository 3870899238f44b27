import type { Clock } from './clock.ts'
import type { Events, Watcher } from './events.ts'
import type { AdoptedGrant } from './token-source.ts'
import type { WaitOptions } from './waiting-room.ts'

/**
 * What an attachment needs of a manager beyond its public interface. It is found under a symbol that all copies of the
 * package share. A hand-made manager has none.
 */
export interface ManagerInternals {
  readonly origin?: string | undefined
  /** What the tokens of the source are bound to. */
  readonly boundTo?: unknown
  readonly clock: Clock
  readonly maxWaitMs: number
  readonly anomaly: Events['anomaly']
  /** As `getAccessToken`, but callers who wait together may get one and the same error. */
  readonly awaitToken?: (options?: WaitOptions) => Promise<string> | string
  /** Whether `token` is the current one and has expired: the process may stall before it sends a token that it was given. */
  readonly hasEnded: (token: string) => boolean
  /** Starts to replace a token that the API refused, for later requests. Nobody waits for it, and it keeps no process alive. */
  readonly renewInBackground: (token: string) => void
  /** A request with this token has succeeded. */
  readonly succeeded?: (token: string) => void
  /** Revokes a promised login that a later act has overtaken. */
  readonly discard?: (grant: AdoptedGrant) => Promise<void>
  /** Whether a person logs in and out. */
  readonly needsLogin?: boolean
  /** The mark of a request that begins now: a number that grows. */
  readonly currentGeneration?: () => number
  /**
   * The first mark that belongs to the login of now. It grows at a logout, a `reset()`, and the login of somebody else, here or elsewhere. A request that
   * began under a lower mark must not get a token. Without logins it still must not be replayed.
   */
  readonly firstGeneration?: () => number
  /** Whether a request that begins now waits for the next login (`LoginGenerations.isAwaited`). */
  readonly isLoginAwaited?: () => boolean
  /** Looks in the store now, and at each change there, whether somebody has logged in or out elsewhere. @returns stop */
  readonly followLogin?: () => () => void
  /** Looks once. Resolves when the manager knows what the store has told, and never rejects. */
  readonly checkLogin?: () => Promise<void>
  /** Calls `watcher` until the returned function is called. @throws {TypeError} if there is another watcher already. */
  readonly watch?: (watcher: Watcher) => () => void
}

/** All copies of the package in one process share this symbol. */
export const INTERNALS = Symbol.for('axios-evergreen.TokenManager')

/** @returns undefined for a hand-made manager, which has only what is public. */
export function internalsOf(tokens: object): ManagerInternals | undefined {
  return (tokens as { [INTERNALS]?: ManagerInternals })[INTERNALS]
}
