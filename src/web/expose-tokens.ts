import { endOfLogin, type TokenError } from '../core/errors.ts'
import type { LoginEvents } from '../core/events.ts'
import { randomHex } from '../core/digest.ts'
import { internalsOf, type ManagerInternals, SERVE_RESOURCE, type ServeResource } from '../core/manager-internals.ts'
import { checkObject } from '../core/option-checks.ts'
import type { LoginManager, ResourceTokens } from '../core/token-manager.ts'
import type { AdoptedGrant } from '../core/token-source.ts'
import { member } from '../core/thrown.ts'
import type { WaitOptions } from '../core/waiting-room.ts'
import {
  type WorkerResponse,
  isSame,
  type Listened,
  type Login,
  type Message,
  type Port,
  type PageRequest,
  REQUEST_KEY,
  type State,
  type Notification,
  transferred,
} from './worker-messages.ts'

/**
 * How long a silent page gets events. A page sends a message every 20 s. Browsers run timers of a hidden page once a minute, and those of a frozen page only
 * after it is resumed.
 */
const FORGOTTEN_AFTER_MS = 600_000

/**
 * Exposes the manager of a worker to the pages that call `connectTokens()`. Call it before the worker's first `await`, because later it may miss the first
 * pages. Pages get access tokens, events and the status, but never a refresh token. A request of a page in an ended login is rejected.
 * Other messages are ignored, so other listeners can handle them.
 *
 * @example
 * ```ts
 * import { exposeTokens } from 'axios-evergreen/web'
 *
 * exposeTokens(tokens)
 * ```
 * @param tokens The manager that `createTokenManager()` returned.
 * @param scope Where to receive messages. Default: the worker in which this runs (shared, service or dedicated); or a `MessagePort`.
 * @returns A function that stops this. The manager stays open.
 * @throws {TypeError} naming the argument.
 */
export function exposeTokens(tokens: ResourceTokens, scope: object = globalThis): () => void {
  checkObject('tokens', tokens)
  const internals = internalsOf(tokens)
  if (!internals) throw new TypeError('tokens must be a token manager: pass what createTokenManager() returned')
  checkObject('scope', scope)
  if (typeof Reflect.get(scope, 'addEventListener') !== 'function')
    throw new TypeError(
      'scope.addEventListener must be a function: call exposeTokens() in a worker, or pass a MessagePort',
    )
  const target = scope as Listened & Partial<Port>
  const server = new Server(tokens, internals)
  let isStopped = false
  const receive = (message: Message) => {
    if (!isStopped) server.receive(message)
  }
  /** A page has connected to a shared worker. Its port closes with the page. */
  const connect = ({ ports }: Message) => {
    ports?.[0]?.addEventListener('message', receive)
    ports?.[0]?.start()
  }
  target.addEventListener('message', receive)
  target.addEventListener('connect', connect)
  target.start?.()
  const stopEvents = tokens.onAny((...event) => server.notify(...event))
  return () => {
    isStopped = true
    stopEvents()
    target.removeEventListener('message', receive)
    target.removeEventListener('connect', connect)
  }
}

/** What happens to a request for another login: it is `refused`, it does `nothing`, or it is not bound to a login and is performed. */
interface Rule {
  readonly otherwise?: 'refused' | 'nothing'
  /** The request begins or ends a login. */
  readonly isAct?: true
  readonly run: (given: never) => unknown
}

interface Page {
  /** Where the page receives events, once it has sent `connect`. */
  port?: Port
  askedAt: number
  /** The login that its last act resulted in. */
  own?: Login
}

/** The result of `logout()` if the request does `nothing`. */
const NOTHING = Object.freeze({ revoked: false, reason: 'nothing' })

class Server {
  /** At runtime every manager has the methods of a login, although only some types declare them. */
  readonly #tokens: LoginManager
  readonly #internals: ManagerInternals
  readonly #name = randomHex()
  readonly #pages = new Map<string, Page>()
  readonly #rules: Readonly<Record<string, Rule>>
  #sent = 0

  constructor(given: ResourceTokens, internals: ManagerInternals) {
    const tokens = given as LoginManager
    this.#tokens = tokens
    this.#internals = internals
    this.#rules = {
      connect: { run: () => undefined },
      look: { run: () => undefined },
      get: { otherwise: 'refused', run: (options: WaitOptions) => tokens.getAccessToken(options) },
      replace: {
        otherwise: 'refused',
        run: ({ refused, ...options }: WaitOptions & { refused: string }) =>
          tokens.replaceAccessToken(refused, options),
      },
      renew: { otherwise: 'refused', run: (options: WaitOptions) => tokens.renew(options) },
      renewInBackground: { otherwise: 'nothing', run: (refused: string) => internals.renewInBackground(refused) },
      challenged: { otherwise: 'nothing', run: (challenge: unknown) => internals.challenged?.(challenge) },
      discard: { run: (grant: AdoptedGrant) => internals.discard?.(grant) },
      settled: { run: () => tokens.settled() },
      adopt: { isAct: true, run: (grant: AdoptedGrant) => tokens.adopt(grant) },
      logout: { isAct: true, otherwise: 'nothing', run: () => tokens.logout() },
      reset: { isAct: true, otherwise: 'nothing', run: () => tokens.reset() },
    }
  }

  /** Handles a message. Any script may post anything, so messages that are not requests of a page, or come from another origin, are ignored. */
  receive(message: Message): void {
    const { data, origin = '', ports } = message
    const envelope = Object(data) as { [REQUEST_KEY]?: Partial<PageRequest> }
    const request = Object.hasOwn(envelope, REQUEST_KEY) ? envelope[REQUEST_KEY] : undefined
    const [port] = ports ?? []
    // Compared as text, because Node converts an `origin` that only Object.prototype has to text (F402).
    const isForeign = origin !== '' && origin !== String((globalThis as { origin?: string }).origin)
    if (!port || isForeign || typeof request?.name !== 'string' || typeof request.page !== 'string') return
    const work = this.#respond(request as PageRequest, port)
    message.waitUntil?.(work)
  }

  async #respond(request: PageRequest, port: Port): Promise<void> {
    const page = this.#pages.get(request.page) ?? { askedAt: 0 }
    const isUnknown = !page.port
    if (request.name === 'connect') page.port = port
    page.askedAt = this.#now
    this.#pages.set(request.page, page)
    const { work, own } = this.#begin(page, request)
    const outcome = await work.then(
      (value) => ({ value }),
      (error: unknown) => ({ error: transferred(error) }),
    )
    port.postMessage({ state: this.#state, isUnknown, own, ...outcome } satisfies WorkerResponse)
  }

  /** @returns `own`: the login of this act, even if another act follows before the work is done. */
  #begin(
    page: Page,
    { name, given, login = page.own, isOfNext = false }: PageRequest,
  ): { work: Promise<unknown>; own?: Login | undefined } {
    const rule = Object.hasOwn(this.#rules, name) ? this.#rules[name] : undefined
    const { hasLogins = false } = this.#internals
    const isOtherLogin = hasLogins && !isSame(login, this.#login)
    if (rule?.otherwise === 'nothing' && isOtherLogin) return { work: Promise.resolve(NOTHING) }
    const work = async () => {
      if (rule?.otherwise !== 'refused') return this.#run(rule, name, given)
      const hasEnded = this.#hasEnded(isOfNext)
      if (isOtherLogin) throw this.#endOfLogin()
      const value = await this.#run(rule, name, given)
      if (hasLogins && hasEnded()) throw this.#endOfLogin()
      return value
    }
    const result = work()
    if (!rule?.isAct) return { work: result }
    page.own = this.#login
    return { work: result, own: page.own }
  }

  /**
   * @returns A function that returns whether the login of a request has ended since this call. A page that was not yet notified of a loss asks for the lost
   * login, whatever the worker knows.
   */
  #hasEnded(isOfNext: boolean): () => boolean {
    const { currentGeneration, firstGeneration } = this.#internals
    const generation = (isOfNext ? currentGeneration : firstGeneration)?.() ?? 0
    return () => generation < (firstGeneration?.() ?? 0)
  }

  /** @throws {TypeError} if this worker does not have the code. */
  #run(rule: Rule | undefined, name: string, given: unknown): unknown {
    // A worker carries the code for resources only if it calls `forResource`.
    const ofResource = Reflect.get(globalThis, SERVE_RESOURCE) as ServeResource | undefined
    const run = rule && (member(given, 'resource') ? ofResource : rule.run)
    if (run) return run(given as never, name, this.#tokens, this)
    throw new TypeError(
      `The worker does not support ${name}: its script is from another release of axios-evergreen, or lacks forResource()`,
    )
  }

  /** Notifies all pages, and removes those that have long sent no message: they are gone, or frozen. */
  notify(name: keyof LoginEvents, event: object): void {
    const error = member(event, 'error')
    const sent = error === undefined ? event : { ...event, error: transferred(error) }
    for (const [page, { port, askedAt }] of this.#pages) {
      if (this.#now - askedAt > FORGOTTEN_AFTER_MS) this.#pages.delete(page)
      else port?.postMessage({ state: this.#state, event: [name, sent] } satisfies Notification)
    }
  }

  #endOfLogin(): TokenError {
    return endOfLogin(this.#internals.isLoginPresent?.())
  }

  get #now(): number {
    return this.#internals.clock.monotonicNow()
  }

  get #login(): Login {
    return { worker: this.#name, generation: this.#internals.firstGeneration?.() ?? 0 }
  }

  get #state(): State {
    const { clock, hasLogins = false, maxWaitMs, origin } = this.#internals
    const status = this.#tokens.status()
    const livesMs = (status.accessExpiresAt ?? 0) - clock.wallNow()
    const isLoginAwaited = this.#internals.isLoginAwaited?.() ?? false
    return { isLoginAwaited, login: this.#login, at: (this.#sent += 1), status, livesMs, hasLogins, maxWaitMs, origin }
  }
}
