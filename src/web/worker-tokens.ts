import { ChangeSignal } from '../login/change-signal.ts'
import { checkNotAborted, withinLimit } from '../core/deadline.ts'
import { systemClock } from '../core/clock.ts'
import { endOfLogin, isTokenError, NO_TOKEN_IN_TIME, TokenError } from '../core/errors.ts'
import { type AnyListener, Events, type LoginEvents, type TokenEvents } from '../core/events.ts'
import { INTERNALS, type ManagerInternals, type PageParts } from '../core/manager-internals.ts'
import { ownOption } from '../core/option-checks.ts'
import type { LoginStatus } from '../core/status.ts'
import type { LoginManager } from '../core/token-manager.ts'
import { isPromise, member } from '../core/thrown.ts'
import { readAdopted } from '../core/grant.ts'
import type { AdoptedGrant } from '../core/token-source.ts'
import type { GivenLogin } from '../core/login-port.ts'
import { type Call, PendingLogins } from '../login/pending-logins.ts'
import { waitMsOf, type WaitOptions } from '../core/waiting-room.ts'
import { type PageAct, PageLogin } from './page-login.ts'
import type { Link } from './worker-link.ts'
import { changeIn, isSameLogin, relay } from './page-events.ts'
import { closed, restored, type State } from './worker-messages.ts'

/** The interval of messages to the worker: a browser stops a service worker that is idle for half a minute. */
const CHECK_EVERY_MS = 20_000
/** The longest time of an act: a logout waits for the exchange in flight and for the revocation. */
const ACT_LIMIT_MS = 60_000

/** A caller whose request is bound to one login. */
interface Caller {
  readonly name: string
  readonly ms: number
  readonly given: object
  /** The login generation in which the caller asked. */
  readonly generation: number
  /** The caller waits no longer, so nothing more is sent for it. */
  hasLeft: boolean
}

/** The page's side of a worker's manager. */
export class WorkerTokens implements LoginManager {
  readonly #link: Link
  readonly #events = new Events(systemClock)
  #state: State
  readonly #login: PageLogin
  /** The last token that the worker returned, and until when it is valid, monotonic ms. */
  #given: { readonly token: unknown; readonly until: number } | undefined
  /** Pending logins of this page. Other pages do not wait for them. */
  readonly #pendingLogins = new PendingLogins()
  /** Notifies callers that wait for a login of this page. */
  readonly #changes = new ChangeSignal()
  #onResource: Parameters<PageParts['onEvent']>[0] | undefined
  #cancelCheck: () => void = () => undefined
  #isClosed = false

  constructor(link: Link, state: State) {
    this.#link = link
    this.#state = state
    this.#login = new PageLogin(state)
    link.onEvent = ({ state, event: [name, event] }) => {
      this.#observe(state, member(event, 'login') === 'present')
      this.#emit(name, event)
    }
    link.onLost = () => this.#notify('look')
    // Not a computed member of the class, which bundlers would keep for an application that does not use it.
    Object.defineProperty(this, INTERNALS, { value: this.#internals })
    this.#checkLater()
  }

  getAccessToken(options?: WaitOptions): Promise<string> {
    return this.#ofLogin('get', options) as Promise<string>
  }

  /** A page holds no token. */
  peekAccessToken(): undefined {
    return undefined
  }

  replaceAccessToken(refused: string, options?: WaitOptions): Promise<string> {
    return this.#ofLogin('replace', options, { refused }) as Promise<string>
  }

  renew(options?: WaitOptions): Promise<void> {
    return this.#ofLogin('renew', options) as Promise<void>
  }

  async adopt(given: GivenLogin): Promise<void> {
    if (!isPromise(given)) {
      await this.#adopt(given)
      return
    }
    // The caller may ignore the result.
    const promise = Promise.resolve(given)
    promise.catch(() => undefined)
    this.#checkOpen()
    await this.#pendingLogins.add(promise, {
      adopt: (grant, call) => this.#adopt(grant, call),
      superseded: (grant) => this.#ask('discard', ACT_LIMIT_MS, readAdopted(grant)),
      abandoned: () => this.#loginAbandoned(),
    })
  }

  #adopt(given: AdoptedGrant, call?: Call): Promise<unknown> {
    const grant = readAdopted(given)
    this.#pendingLogins.takesEffect(call)
    return this.#act('adopt', grant, grant.subject)
  }

  async logout(): ReturnType<LoginManager['logout']> {
    this.#pendingLogins.takesEffect()
    return (await this.#act('logout')) as Awaited<ReturnType<LoginManager['logout']>>
  }

  async reset(): Promise<void> {
    this.#pendingLogins.takesEffect()
    await this.#act('reset')
  }

  status(): LoginStatus {
    const { status } = this.#state
    const { loginReason, ...others } = status
    return {
      ...(this.#isPending ? { ...others, login: 'pending' } : status),
      counts: { ...status.counts },
      ...(this.#isClosed && { phase: 'closed', renewing: false }),
    }
  }

  on<Name extends keyof LoginEvents>(name: Name, listener: (event: LoginEvents[Name]) => void): () => void {
    return this.#events.on(name, listener)
  }

  onAny(listener: AnyListener | AnyListener<TokenEvents>): () => void {
    return this.#events.onAny(listener)
  }

  async settled(): Promise<void> {
    if (this.#isClosed) return
    // A worker that does not respond has no work for this page.
    await this.#ask('settled', ACT_LIMIT_MS).catch(() => undefined)
  }

  /** Closes this page's side. The worker's manager and other pages continue. */
  close(): Promise<void> {
    this.#isClosed = true
    this.#cancelCheck()
    this.#link.close(closed())
    this.#changes.report()
    return Promise.resolve()
  }

  get #internals(): ManagerInternals {
    const { origin, hasLogins, maxWaitMs } = this.#state
    return {
      origin,
      hasLogins,
      maxWaitMs,
      clock: systemClock,
      currentGeneration: () => this.#login.generations.current,
      firstGeneration: () => this.#login.generations.first,
      isLoginPresent: () => this.#login.isPresent(this.#state),
      anomaly: (kind, message) => this.#events.anomaly(kind, message),
      hasEnded: (token) => token === this.#given?.token && systemClock.monotonicNow() >= this.#given.until,
      renewInBackground: (token) => this.#notify('renewInBackground', token),
      challenged: (challenge) => this.#notify('challenged', challenge),
      page: {
        ofLogin: (...given) => this.#ofLogin(...given),
        ask: (...given) => this.#ask(...given),
        onEvent: (listener) => void (this.#onResource = listener),
      },
    }
  }

  /**
   * Sends a request that is bound to the current login.
   *
   * @throws {TokenError} `ERR_LOGIN_REQUIRED` or `ERR_LOGIN_REPLACED` if that login ends before the response.
   */
  async #ofLogin(name: string, options: WaitOptions | undefined, given?: object): Promise<unknown> {
    const signal = ownOption(options, 'signal')
    checkNotAborted(signal)
    this.#checkOpen()
    const ms = waitMsOf(options, this.#state.maxWaitMs)
    // The rejected token was sent in the current login, whenever its sender asks. The next login must not replace it.
    const generation = name === 'replace' ? this.#login.generations.first : this.#login.generations.current
    const caller: Caller = { name, ms, given: { ...given, maxWaitMs: ms }, generation, hasLeft: false }
    const atLimit = () => new TokenError('ERR_WAIT_TIMEOUT', NO_TOKEN_IN_TIME)
    try {
      return await withinLimit(this.#askFor(caller), { clock: systemClock, ms, signal, atLimit })
    } finally {
      caller.hasLeft = true
    }
  }

  async #askFor(caller: Caller): Promise<unknown> {
    const { name, ms, given, generation } = caller
    // Until the acts of this page have a response, the login of this request is unknown. If there is no login, callers wait for the pending login of this page.
    while (this.#login.arePending || (this.#isPending && !this.#login.isPresent(this.#state))) {
      await this.#changes.next()
      if (caller.hasLeft) return undefined
      this.#checkCurrent(generation)
    }
    try {
      const value = await this.#ask(name, ms, given, { begun: generation })
      this.#checkCurrent(generation)
      return value
    } catch (error) {
      const mayCome =
        this.#isPending && this.#state.status.login === 'required' && !this.#login.isPast(generation, this.#state)
      if (mayCome && isTokenError(error, 'ERR_LOGIN_REQUIRED')) return this.#askFor(caller)
      throw error
    }
  }

  #checkCurrent(generation: number): void {
    this.#checkOpen()
    if (this.#login.isPast(generation, this.#state)) throw endOfLogin(this.#login.isPresent(this.#state))
  }

  /** Begins or ends a login: synchronously for requests of this page; in the worker, as soon as the message arrives. */
  #act(name: string, given?: object, subject?: string): Promise<unknown> {
    this.#checkOpen()
    const act = this.#login.begins(name, this.#state, subject)
    this.#changes.report()
    return this.#ask(name, ACT_LIMIT_MS, given, { act }).finally(() => {
      this.#login.ended(act)
      this.#observe(this.#state)
    })
  }

  /** @param begun The login generation in which a caller asks. */
  async #ask(
    name: string,
    ms: number,
    given?: unknown,
    { act, begun = 0 }: { readonly act?: PageAct; readonly begun?: number } = {},
  ): Promise<unknown> {
    const isOfNext = this.#login.generations.belongsToNext(begun)
    const login = act?.follows ? undefined : this.#login.current
    const { own, state, error, value, isUnknown } = await this.#link.ask(name, ms, { given, login, isOfNext })
    const before = this.#state
    if (act && own) this.#login.performed(act, own)
    this.#observe(state)
    if (isUnknown) this.#reconnect(name, before)
    if (error) throw restored(error)
    if (typeof value === 'string') this.#given = { token: value, until: systemClock.monotonicNow() + state.livesMs }
    return value
  }

  #observe(state: State, isTold?: boolean): void {
    const isLate = state.login.worker === this.#state.login.worker && state.at < this.#state.at
    if (!isLate) this.#state = state
    if (this.#login.follow(this.#state, isTold)) this.#changes.report()
  }

  /** Reconnects to a worker that sent this page no events: it has restarted, or had removed this page. */
  #reconnect(name: string, before: State): void {
    if (this.#isClosed) return
    if (name !== 'connect') this.#notify('connect')
    const change = changeIn(this.#state, 'elsewhere')
    if (change && !isSameLogin(before, this.#state)) this.#emit('loginChanged', change)
  }

  get #isPending(): boolean {
    return this.#state.hasLogins && this.#pendingLogins.isPending
  }

  /** The pending login was not completed. Listeners that saw it pending are notified if a login is still required. */
  #loginAbandoned(): void {
    this.#changes.report()
    const change = changeIn(this.#state, 'here')
    if (this.#isClosed || !this.#state.hasLogins || change?.login !== 'required') return
    this.#login.generations.lossReported()
    this.#events.emit('loginChanged', change)
  }

  /** Emits an event of the worker. The worker's manager has a listener, so it logs no warnings. This page logs them if it has no listeners. */
  #emit(name: keyof LoginEvents, event: object): void {
    if (member(event, 'resource') !== undefined) {
      this.#onResource?.(name, event)
      return
    }
    const isLoss = member(event, 'login') === 'required'
    // The event may arrive after a later state. While a login is pending, new callers wait for it.
    if (isLoss) {
      if (this.#state.isLoginAwaited) this.#login.generations.lossReported()
      if (this.#isPending) return
    }
    relay(this.#events, name, event)
  }

  /** Sends a request whose response no caller needs. */
  #notify(name: string, given?: unknown): void {
    void this.#ask(name, CHECK_EVERY_MS, given).catch(() => undefined)
  }

  /** Keeps a service worker alive, and checks whether the worker still has this page. */
  #checkLater(): void {
    this.#cancelCheck = systemClock.setTimer(() => {
      this.#notify('look')
      this.#checkLater()
    }, CHECK_EVERY_MS)
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closed()
  }
}
