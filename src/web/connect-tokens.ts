import { checkFunction, checkObject } from '../core/option-checks.ts'
import type { LoginManager } from '../core/token-manager.ts'
import { Link, type Postable } from './worker-link.ts'
import { WorkerTokens } from './worker-tokens.ts'

/** The longest time until the worker has loaded, and answers. */
const CONNECT_LIMIT_MS = 30_000

/**
 * In a page: the manager of a worker that calls `exposeTokens()`. It is a full token manager. `attachBearer` and `withBearer` take it, and a request gets
 * no token of another login than that in which it began, also if the login changes while a message is under way: then it rejects with
 * `ERR_LOGIN_REQUIRED`. Events are those of the worker's manager (`by: 'here'`: by one of its pages), and so is `status()`, as the worker last told it, at
 * most 20 s ago. `peekAccessToken()` is always undefined: each request asks the worker. `adopt`, `logout` and `reset` act for all pages.
 * `close()` closes this page's side only.
 *
 * A worker that has started again has another login, or none: `loginChanged` tells so.
 *
 * @example
 * ```ts
 * import { connectTokens } from 'axios-evergreen/web'
 *
 * const tokens = await connectTokens(new SharedWorker('/worker.js', { type: 'module' }))
 * ```
 * @param worker A `SharedWorker`, a `ServiceWorker` (`(await navigator.serviceWorker.ready).active`), a `Worker`, or a `MessagePort`.
 * @throws {TypeError} naming the argument.
 * @throws {TokenError} `ERR_WAIT_TIMEOUT` if no worker answers within 30 s. Of a wait: also if the worker ended before it answered.
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

/** @throws {TypeError} Windows and broadcast channels have `postMessage`, too, but no worker hears them. */
function postableIn(worker: Postable | { readonly port: Postable }): Postable {
  checkObject('worker', worker)
  const target: object = 'port' in worker ? worker.port : worker
  if (!['start', 'terminate', 'scriptURL'].some((name) => name in Object(target)))
    throw new TypeError('worker must be a SharedWorker, a ServiceWorker, a Worker or a MessagePort')
  checkFunction('worker.postMessage', Reflect.get(target, 'postMessage'))
  return target as Postable
}
