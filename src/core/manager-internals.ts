import type { Account, ReadThrown } from './account.ts'
import type { Clock } from './clock.ts'
import type { Events, LoginEvents, Watcher } from './events.ts'
import type { LoginCode } from './login-port.ts'
import type { Machine } from './machine.ts'
import type { TokenManagerOptions } from './manager-options.ts'
import type { LoginManager } from './token-manager.ts'
import type { ResourceOptions } from './resource.ts'
import type { AdoptedGrant } from './token-source.ts'
import type { WaitOptions } from './waiting-room.ts'

/**
 * What an attachment needs from a manager beyond its public interface: the member `INTERNALS` of the manager. A custom
 * manager lacks it.
 */
export interface ManagerInternals {
  readonly origin?: string | undefined
  /** What the source's tokens are bound to. */
  readonly boundTo?: unknown
  readonly clock: Clock
  readonly maxWaitMs: number
  readonly anomaly: Events['anomaly']
  /** Like `getAccessToken`, but concurrent callers may receive the same error object. */
  readonly awaitToken?: (options?: WaitOptions) => Promise<string> | string
  /** Whether `token` is the current one and has expired: the process may stall between the receipt and the use of a token. */
  readonly hasEnded: (token: string) => boolean
  /** Starts to replace a token that the API rejected, for later requests. No caller waits for it, and it does not keep the process alive. */
  readonly renewInBackground: (token: string) => void
  /** Passes `WWW-Authenticate` of a rejection to the source, whose next exchange may depend on it. */
  readonly challenged?: ((challenge: unknown) => void) | undefined
  /** Notes that a request with this token has succeeded. */
  readonly succeeded?: (token: string) => void
  /** Revokes a promised login that a later act superseded. */
  readonly discard?: (grant: AdoptedGrant) => Promise<void>
  /** Whether the source has a `login`, so that a user logs in and out. */
  readonly hasLogins?: boolean
  /** The login generation of a request that begins now. It only grows. */
  readonly currentGeneration?: () => number
  /**
   * The first generation of the current login. It grows at a logout, a `reset()`, and the login of another user, here or elsewhere. A request of an
   * earlier generation must not receive a token. Without logins, it must not be replayed.
   */
  readonly firstGeneration?: () => number
  /** Whether a request that begins now waits for the next login (`LoginGenerations.isAwaited`). */
  readonly isLoginAwaited?: () => boolean
  /** Whether a user is logged in. */
  readonly isLoginPresent?: () => boolean | undefined
  /** Checks the store for logins and logouts elsewhere, now and at each change. @returns A function that stops the checks. */
  readonly followLogin?: () => () => void
  /** Checks once. Resolves when the manager has processed the result. Never rejects. */
  readonly checkLogin?: () => Promise<void>
  /** What the managers of its resources share (`forResource`). */
  readonly parts?: () => ManagerParts
  /** In a page whose manager is in a worker: what the page provides for the tokens of a resource. */
  readonly page?: PageParts
  /** What the tokens are for, if it is not the login's own API. */
  readonly resource?: ResourceOptions
  /** Calls `watcher` until the returned function is called. @throws {TypeError} If there is already a watcher. */
  readonly watch?: (watcher: Watcher) => () => void
}

export interface PageParts {
  /** Sends the request of a caller to the worker, bound to the login of that caller. `given` names the resource. */
  readonly ofLogin: (name: string, options: WaitOptions | undefined, given: object) => Promise<unknown>
  /** Sends any other request to the worker. */
  readonly ask: (name: string, ms: number, given: object) => Promise<unknown>
  /** Calls `listener` for the events of resources. */
  readonly onEvent: (listener: (name: keyof LoginEvents, event: object) => void) => void
}

export type ServeResource = (
  given: object,
  name: string,
  tokens: LoginManager,
  pages: { notify(name: keyof LoginEvents, event: object): void },
) => unknown
/** The key of `ServeResource` on `globalThis` of a worker, for the requests of its pages for a resource. Set by `forResource`, which the worker calls, too. */
export const SERVE_RESOURCE = Symbol.for('axios-evergreen.serveResource')

export interface ManagerParts {
  readonly account: Account
  readonly machine: Machine
  readonly Manager: new (
    options: TokenManagerOptions,
    readThrown: ReadThrown,
    plain: LoginCode<Account>,
  ) => LoginManager
}

/** The key of `ManagerInternals` on a manager. All copies of the package in one process share it. */
export const INTERNALS = Symbol.for('axios-evergreen.TokenManager')

/** @returns undefined for a custom manager, which has only the public interface. */
export function internalsOf(tokens: object): ManagerInternals | undefined {
  return (tokens as { [INTERNALS]?: ManagerInternals })[INTERNALS]
}
