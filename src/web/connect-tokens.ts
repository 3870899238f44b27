import { checkFunction, checkObject } from '../core/option-checks.ts'
import type { LoginManager } from '../core/token-manager.ts'
import { Link, type Postable } from './worker-link.ts'
import { WorkerTokens } from './worker-tokens.ts'

/** The longest time until the worker has loaded and responds. */
const CONNECT_LIMIT_MS = 30_000

/**
 * Connects a page to the manager of a worker that calls `exposeTokens()`. The result is a full token manager for `attachBearer` and `withBearer`. A request
 * gets no token of a login other than the one in which it began: if the login changes meanwhile, the request rejects with `ERR_LOGIN_REQUIRED` or
 * `ERR_LOGIN_REPLACED`. Events are those of the worker's manager (`by: 'here'`: by one of its pages). `status()` is its last reported status, in a visible page
 * at most about 20 s old. `peekAccessToken()` is always undefined: each request asks the worker. `adopt`, `logout` and `reset` act for all pages, and `close()`
 * only for this one.
 *
 * The login of a restarted worker, if it has one, counts as another login, even if the user is the same. `loginChanged` reports it, or that a login is
 * required.
 *
 * @example
 * ```ts
 * import { connectTokens } from 'axios-evergreen/web'
 *
 * const tokens = await connectTokens(new SharedWorker('/worker.js', { type: 'module' }))
 * ```
 * @param worker A `SharedWorker`, a `ServiceWorker` (`(await navigator.serviceWorker.ready).active`), a `Worker`, or a `MessagePort`.
 * @throws {TypeError} naming the argument.
 * @throws {TokenError} `ERR_WAIT_TIMEOUT` if no worker responds within 30 s. Later calls also reject with it if the worker ends before it responds.
 */
export async function connectTokens(
  worker:
    | { postMessage(message: unknown, transfer: never): void }
    | { readonly port: { postMessage(message: unknown, transfer: never): void } },
): Promise<LoginManager> {
  const link = new Link(postableIn(worker))
  const { state } = await link.ask('connect', CONNECT_LIMIT_MS)
  return new WorkerTokens(link, state)
}

/** @throws {TypeError} Windows and broadcast channels also have `postMessage`, but no worker receives their messages. */
function postableIn(worker: Postable | { readonly port: Postable }): Postable {
  checkObject('worker', worker)
  const target: object = 'port' in worker ? worker.port : worker
  if (!['start', 'terminate', 'scriptURL'].some((name) => name in Object(target)))
    throw new TypeError('worker must be a SharedWorker, a ServiceWorker, a Worker or a MessagePort')
  checkFunction('worker.postMessage', Reflect.get(target, 'postMessage'))
  return target as Postable
}
