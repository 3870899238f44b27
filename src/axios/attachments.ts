import type { AxiosInstance, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { UnauthenticatedRequests } from '../client/unauthenticated-requests.ts'
import type { BearerSettings } from '../client/bearer-options.ts'
import { originBindingOf, maySeeRedirects } from '../client/origin-binding.ts'
import { grantedOrigins } from '../client/origins.ts'
import { accessTo } from '../client/token-access.ts'
import type { TokenManager } from '../core/token-manager.ts'
import { AdapterBeneath, type WithAdapter } from './adapter-beneath.ts'
import type { Bearer } from './bearer-adapter.ts'
import { AttachmentState, type Shared } from './attachment-state.ts'
import { isDefault } from './header-names.ts'
import { memberOf } from './member-of.ts'
import { OriginScope } from './origin-scope.ts'
import { checkForbidsRedirects } from './without-redirects.ts'

export interface Attachment {
  /** Takes this attachment off the instance. Requests in flight finish. The manager stays open. */
  detach(): void
}

/** Only members that axios declares alike for ESM and for CommonJS. */
export type Instance = Pick<AxiosInstance, 'defaults' | 'interceptors'>

type AttachSettings = BearerSettings<AxiosResponse>

/** All copies of the package in one process share it: an instance is wrapped once. */
const ATTACHMENTS = Symbol.for('axios-evergreen.attachments')

/** @returns What is attached to the instance; nothing yet, the first time. */
export function attachmentsOf(instance: Instance): Attachments {
  const holder = instance as { [ATTACHMENTS]?: Attachments }
  return holder[ATTACHMENTS] ?? new Attachments(instance)
}

/** Takes what a request began with past the interceptors that run before ours. Copies keep it, unless they are made by JSON. */
const STATE = Symbol('axios-evergreen.begun')
/** A function, so that nothing prints what it holds, and a deep copy holds the same. */
type Config = InternalAxiosRequestConfig & { [STATE]?: () => AttachmentState }

/** The attachments of one instance: which manager's token goes to which origin. */
class Attachments {
  readonly #instance: Instance
  readonly #attached = new Map<TokenManager, Attachment>()
  readonly #shared: Shared
  #bindings: ReadonlyMap<string, Bearer> = new Map()
  /** That of the last request. */
  #state: AttachmentState | undefined
  readonly #interceptor = (config: Config) => this.#wrap(config)
  /** axios asks it in the turn of the call. Other interceptors may hold the request until somebody else has logged in. */
  readonly #runWhen = (config: Config) => {
    if (this.#hasOthers) config[STATE] = asFunction(this.#begin())
    return true
  }
  #interceptorId = 0

  constructor(instance: Instance) {
    this.#instance = instance
    this.#shared = { instance, scope: new OriginScope(), bare: new UnauthenticatedRequests() }
  }

  attach(tokens: TokenManager, settings: AttachSettings): Attachment {
    const attached = this.#attached.get(tokens)
    if (attached) {
      this.#install()
      return attached
    }
    const { header } = settings
    const { defaults } = this.#instance
    if (isDefault(defaults, header))
      throw new TypeError(
        `${header} is among the defaults of this axios instance and would switch the attachment off: delete it there`,
      )
    const access = accessTo(tokens)
    const bearer: Bearer = originBindingOf(settings, access)
    // A request may have another adapter, so it is checked again when a request is sent.
    if (!maySeeRedirects(bearer))
      checkForbidsRedirects(new AdapterBeneath(defaults as WithAdapter).expected(defaults), bearer)
    const base = { name: 'baseURL of the instance', address: memberOf(defaults, 'baseURL') }
    const origins = grantedOrigins(settings, base, access.origin, 'set baseURL on the instance, or pass origins')
    const taken = origins.find((origin) => this.#bindings.has(origin))
    if (taken !== undefined)
      throw new TypeError(
        `${taken} already gets the token of another manager on this instance: give origins to both attachments`,
      )
    this.#grant(new Map([...this.#bindings, ...origins.map((origin) => [origin, bearer] as const)]))
    this.#install()
    const attachment: Attachment = Object.freeze({
      detach: () => {
        // A second call must not detach a later attachment.
        if (this.#attached.get(tokens) === attachment) this.#detach(tokens, bearer)
      },
    })
    this.#attached.set(tokens, attachment)
    return attachment
  }

  #grant(bindings: ReadonlyMap<string, Bearer>): void {
    this.#bindings = bindings
    this.#state = undefined
  }

  /** A request belongs to the logins that the managers know now, so their marks are taken before later interceptors run. */
  #begin(): AttachmentState {
    if (!this.#state?.isCurrent) this.#state = new AttachmentState(this.#bindings, this.#shared)
    return this.#state
  }

  #install(): void {
    if (this.#isInstalled) return
    Object.defineProperty(this.#instance, ATTACHMENTS, { value: this, configurable: true })
    const { request } = this.#instance.interceptors
    // Synchronous: one asynchronous interceptor makes all requests of the instance wait for a microtask.
    this.#interceptorId = request.use(this.#interceptor, undefined, { synchronous: true, runWhen: this.#runWhen })
  }

  /** Whether the instance has interceptors beside ours. */
  get #hasOthers(): boolean {
    return this.#instance.interceptors.request.handlers?.length !== 1
  }

  /** `interceptors.request.clear()` of the user removes our interceptor, too. Older axios then gives its id to another one. */
  get #isInstalled(): boolean {
    const handlers: readonly ({ fulfilled?: unknown } | null)[] | undefined =
      this.#instance.interceptors.request.handlers
    return handlers?.some((one) => one?.fulfilled === this.#interceptor) ?? false
  }

  #detach(tokens: TokenManager, bearer: Bearer): void {
    this.#attached.delete(tokens)
    this.#grant(new Map([...this.#bindings].filter(([, one]) => one !== bearer)))
    if (this.#attached.size > 0) return
    if (this.#isInstalled) this.#instance.interceptors.request.eject(this.#interceptorId)
    Reflect.deleteProperty(this.#instance, ATTACHMENTS)
  }

  /** Puts a wrapper in the place of the adapter. It runs after all other interceptors and transforms. */
  #wrap(config: Config): Config {
    const state = config[STATE]?.() ?? this.#begin()
    const adapter = state.wrapperFor(config)
    let wrapped = config
    try {
      config.adapter = adapter
    } catch {
      wrapped = { ...config, adapter } // an interceptor has frozen the config
    }
    if (!this.#hasOthers) return wrapped
    Reflect.deleteProperty(wrapped, STATE)
    // Only another interceptor can replace the wrapper.
    state.lateLook.at(wrapped)
    return wrapped
  }
}

const asFunction = (state: AttachmentState) => () => state
