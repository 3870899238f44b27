import type { LoginEvents } from '../core/events.ts'
import { randomHex } from '../core/digest.ts'
import { internalsOf, type ManagerInternals } from '../core/manager-internals.ts'
import { checkObject } from '../core/option-checks.ts'
import type { LoginManager, TokenManager } from '../core/token-manager.ts'
import type { AdoptedGrant } from '../core/token-source.ts'
import { member } from '../core/thrown.ts'
import type { WaitOptions } from '../core/waiting-room.ts'
import {
  type Answer,
  isSame,
  type Listened,
  type Login,
  loginEnded,
  type Message,
  type Port,
  type Question,
  QUESTION,
  type State,
  type Notification,
  transferred,
} from './worker-messages.ts'

/** A page asks every 20 s. Browsers let a hidden page run once a minute, and a frozen one not at all: then it asks when it runs again. */
const FORGOTTEN_AFTER_MS = 600_000

/**
 * In the worker that has the manager: serves it to the pages that call `connectTokens()`. Call it before the first `await` of the worker, because later it
 * may miss the first pages. Pages get access tokens, events and the status, and never a refresh token. A question of a page that belongs to a login that
 * has ended gets `ERR_LOGIN_REQUIRED`. Other messages are left to their own listeners.
 *
 * @example
 * ```ts
 * import { exposeTokens } from 'axios-evergreen/web'
 *
 * exposeTokens(tokens)
 * ```
 * @param tokens The manager that `createTokenManager()` made.
 * @param scope Whose messages to answer. Default: the worker in which this runs (shared, service or dedicated); or a `MessagePort`.
 * @returns A function that stops this. The manager stays open.
 * @throws {TypeError} naming the argument.
 */
export function exposeTokens(tokens: TokenManager, scope: object = globalThis): () => void {
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
  const heard = (message: Message) => {
    if (!isStopped) server.hear(message)
  }
  /** A page has connected to a shared worker. Its port ends with the page. */
  const connected = ({ ports }: Message) => {
    ports?.[0]?.addEventListener('message', heard)
    ports?.[0]?.start()
  }
  target.addEventListener('message', heard)
  target.addEventListener('connect', connected)
  target.start?.()
  const stopTelling = tokens.onAny((...event) => server.tell(...event))
  return () => {
    isStopped = true
    stopTelling()
    target.removeEventListener('message', heard)
    target.removeEventListener('connect', connected)
  }
}

/** What becomes of a question that means another login: it is `refused`, it does `nothing`, or it names no login and is answered. */
interface Rule {
  readonly otherwise?: 'refused' | 'nothing'
  /** It begins or ends a login. */
  readonly isAct?: true
  readonly run: (given: never) => unknown
}

/** What `logout()` answers then. */
const NOTHING = Object.freeze({ revoked: false, reason: 'nothing' })

class Server {
  /** Every manager has the methods of a login, and only the types of some tell so. */
  readonly #tokens: LoginManager
  readonly #internals: ManagerInternals
  readonly #name = randomHex()
  readonly #pages = new Map<string, { readonly port: Port; readonly heardAt: number }>()
  readonly #rules: Readonly<Record<string, Rule>>
  #sent = 0

  constructor(given: TokenManager, internals: ManagerInternals) {
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
      discard: { run: (grant: AdoptedGrant) => internals.discard?.(grant) },
      settled: { run: () => tokens.settled() },
      adopt: { isAct: true, run: (grant: AdoptedGrant) => tokens.adopt(grant) },
      logout: { isAct: true, otherwise: 'nothing', run: () => tokens.logout() },
      reset: { isAct: true, otherwise: 'nothing', run: () => tokens.reset() },
    }
  }

  /** Anybody may post anything: what is no question of a page is left alone, and so is a window of another origin. */
  hear(message: Message): void {
    const { data, origin = '', ports } = message
    const asked = Object(data) as { [QUESTION]?: Partial<Question> }
    const question = Object.hasOwn(asked, QUESTION) ? asked[QUESTION] : undefined
    const [port] = ports ?? []
    const isForeign = origin !== '' && origin !== (globalThis as { origin?: string }).origin
    if (!port || isForeign || typeof question?.name !== 'string' || typeof question.page !== 'string') return
    const work = this.#answer(question as Question, port)
    message.waitUntil?.(work)
  }

  async #answer(question: Question, port: Port): Promise<void> {
    const { name, page } = question
    const known = this.#pages.get(page)
    const told = name === 'connect' ? port : known?.port
    if (told) this.#pages.set(page, { port: told, heardAt: this.#now })
    const { work, own } = this.#begin(question)
    const outcome = await work.then(
      (value) => ({ value }),
      (error: unknown) => ({ error: transferred(error) }),
    )
    port.postMessage({ state: this.#state, isUnknown: !known, own, ...outcome } satisfies Answer)
  }

  /** @returns `own`: the login of this act, and not that of an act that follows before the work is done. */
  #begin({ name, given, login, isOfNext = false }: Question): { work: Promise<unknown>; own?: Login | undefined } {
    const rule = Object.hasOwn(this.#rules, name) ? this.#rules[name] : undefined
    const {
      needsLogin = false,
      currentGeneration: currentGeneration,
      firstGeneration: firstGeneration,
    } = this.#internals
    // A page that has not heard of a loss asks in the login that was lost, whatever is known here.
    const generation = (isOfNext ? currentGeneration : firstGeneration)?.() ?? 0
    const isOfOther = needsLogin && !isSame(login, this.#login)
    if (rule?.otherwise === 'nothing' && isOfOther) return { work: Promise.resolve(NOTHING) }
    const work = async () => {
      if (!rule)
        throw new TypeError(
          `The worker does not support ${name}: its script is from another release of axios-evergreen`,
        )
      if (rule.otherwise !== 'refused') return rule.run(given as never)
      if (isOfOther) throw loginEnded()
      const value = await rule.run(given as never)
      if (needsLogin && generation < (firstGeneration?.() ?? 0)) throw loginEnded()
      return value
    }
    return { work: work(), own: rule?.isAct && this.#login }
  }

  /** Tells all pages. Those that have not asked for long are gone, or frozen. */
  tell(name: keyof LoginEvents, event: object): void {
    const error = member(event, 'error')
    const told = error === undefined ? event : { ...event, error: transferred(error) }
    for (const [page, { port, heardAt }] of this.#pages) {
      if (this.#now - heardAt > FORGOTTEN_AFTER_MS) this.#pages.delete(page)
      else port.postMessage({ state: this.#state, event: [name, told] } satisfies Notification)
    }
  }

  get #now(): number {
    return this.#internals.clock.monotonicNow()
  }

  get #login(): Login {
    return { worker: this.#name, generation: this.#internals.firstGeneration?.() ?? 0 }
  }

  get #state(): State {
    const { clock, needsLogin = false, maxWaitMs, origin } = this.#internals
    const status = this.#tokens.status()
    const livesMs = (status.accessExpiresAt ?? 0) - clock.wallNow()
    const isLoginAwaited = this.#internals.isLoginAwaited?.() ?? false
    return { isLoginAwaited, login: this.#login, at: (this.#sent += 1), status, livesMs, needsLogin, maxWaitMs, origin }
  }
}
