import { systemClock } from '../core/clock.ts'
import { TokenError, type TokenErrorCode } from '../core/errors.ts'
import { type AnyListener, Events, type LoginEvents, type TokenEvents } from '../core/events.ts'
import { INTERNALS, type ManagerInternals, type PageParts } from '../core/manager-internals.ts'
import type { LoginStatus } from '../core/status.ts'
import type { LoginManager, ResourceTokens } from '../core/token-manager.ts'
import type { WaitOptions } from '../core/waiting-room.ts'
import type { Resource } from './resource-options.ts'
import type { ResourceResponse } from './worker-resource.ts'

/** The longest time of a request for which no caller waits. */
const LIMIT_MS = 20_000

/** The tokens of one resource in a page whose manager is in a worker. Each request is bound to the login in which it began. */
export class PageResource implements ResourceTokens {
  readonly #page: PageParts
  readonly #login: LoginManager
  readonly #resource: Resource
  readonly #events = new Events(systemClock)
  readonly #stopLogin: () => void
  readonly #onClose: () => void
  #status: LoginStatus | undefined
  /** The last token that the worker returned, and until when it is valid, monotonic ms. */
  #given: { readonly token: string | undefined; readonly until: number } | undefined
  #isClosed = false

  constructor(
    login: LoginManager,
    internals: ManagerInternals,
    page: PageParts,
    resource: Resource,
    onClose: () => void,
  ) {
    this.#login = login
    this.#page = page
    this.#resource = resource
    this.#onClose = onClose
    const tell = (name: string, given: object) => this.#tell(name, given)
    this.#stopLogin = login.on('loginChanged', (event) => {
      // The last status and token are those of the login before.
      this.#status = this.#given = undefined
      tell('look', {})
      this.#emit('loginChanged', event)
    })
    const own: Partial<ManagerInternals> = {
      resource: resource.options,
      hasEnded: (token) => token === this.#given?.token && systemClock.monotonicNow() >= this.#given.until,
      renewInBackground: (refused) => tell('renewInBackground', { refused }),
      challenged: (challenge) => tell('challenged', { challenge }),
      anomaly: (kind, message) => this.#events.anomaly(kind, message),
    }
    const { page: _, ...others } = internals
    Object.defineProperty(this, INTERNALS, { value: { ...others, ...own } })
    tell('look', {})
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

  async renew(options?: WaitOptions): Promise<void> {
    await this.#ofLogin('renew', options)
  }

  async #ofLogin(name: string, options: WaitOptions | undefined, given?: object): Promise<string | undefined> {
    if (this.#isClosed) throw new TokenError('ERR_CLOSED', 'This page has closed its side of the resource')
    const { options: resource } = this.#resource
    return this.#noted(await this.#page.ofLogin(name, options, { ...given, resource }))
  }

  #tell(name: string, given: object): void {
    this.#ask(name, given).catch(() => undefined)
  }

  async #ask(name: string, given: object): Promise<void> {
    this.#noted(await this.#page.ask(name, LIMIT_MS, { ...given, resource: this.#resource.options }))
  }

  #noted(response: unknown): string | undefined {
    const { token, status, livesMs } = response as ResourceResponse
    this.#status = status
    if (token !== undefined) this.#given = { token, until: systemClock.monotonicNow() + livesMs }
    return token
  }

  status(): LoginStatus {
    const { login, loginReason } = this.#login.status()
    const { loginReason: _, ...status } = this.#status ?? UNKNOWN
    return {
      ...status,
      ...(login && { login }),
      ...(loginReason && { loginReason }),
      ...(this.#isClosed && { phase: 'closed' as const, renewing: false }),
      counts: { ...status.counts },
      resource: this.#resource.options,
    }
  }

  on<Name extends keyof LoginEvents>(name: Name, listener: (event: LoginEvents[Name]) => void): () => void {
    return this.#events.on(name, listener)
  }

  onAny(listener: AnyListener | AnyListener<TokenEvents>): () => void {
    return this.#events.onAny(listener)
  }

  /** An event of the worker for this resource. */
  receive(name: keyof LoginEvents, event: object): void {
    const { state, error, ...others } = event as ResourceEvent
    this.#status = state
    this.#emit(name, error === undefined ? others : { ...others, error: restored(error) })
  }

  #emit(name: keyof LoginEvents, event: object): void {
    if (!this.#isClosed) this.#events.emit(name, { ...event, resource: this.#resource.options } as never)
  }

  async settled(): Promise<void> {
    if (!this.#isClosed) await this.#ask('settled', {}).catch(() => undefined)
  }

  /** Closes this page's side. The worker's manager and other pages continue. */
  close(): Promise<void> {
    this.#isClosed = true
    this.#stopLogin()
    this.#onClose()
    return Promise.resolve()
  }
}

/** An event as it crosses a port, where an error loses all members but its message. */
interface ResourceEvent {
  readonly state: LoginStatus
  readonly error?: { readonly code: TokenErrorCode; readonly message: string }
}

function restored({ code, message, ...details }: NonNullable<ResourceEvent['error']>): TokenError {
  return new TokenError(code, message, details)
}

const UNKNOWN: LoginStatus = {
  phase: 'empty',
  renewing: false,
  counts: { obtains: 0, refreshes: 0, adoptions: 0, failures: 0, suspicions: 0 },
}
