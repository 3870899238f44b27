import type { AxiosInstance, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { UnauthenticatedRequests } from '../client/unauthenticated-requests.ts'
import type { BearerSettings } from '../client/bearer-options.ts'
import { originBindingOf, mayFollowRedirects } from '../client/origin-binding.ts'
import { grantedOrigins } from '../client/origins.ts'
import { accessTo } from '../client/token-access.ts'
import type { ResourceTokens } from '../core/token-manager.ts'
import { AdapterBeneath, type WithAdapter } from './adapter-beneath.ts'
import type { Binding } from './bearer-adapter.ts'
import { AttachmentState, type InstanceParts } from './attachment-state.ts'
import { isDefault } from './header-names.ts'
import { memberOf } from './member-of.ts'
import { OriginScope } from './origin-scope.ts'
import { checkForbidsRedirects } from './without-redirects.ts'

export interface Attachment {
  /** Removes this attachment from the instance. Requests in flight finish. The manager stays open. */
  detach(): void
}

/** Contains only members whose types axios declares alike for ESM and CommonJS. */
export type Instance = Pick<AxiosInstance, 'defaults' | 'interceptors'>

type AttachSettings = BearerSettings<AxiosResponse>

/** All copies of this package in one process share the symbol, so that an instance is wrapped once. */
const ATTACHMENTS = Symbol.for('axios-evergreen.attachments')

/** @returns The attachments of the instance, created on the first call. */
export function attachmentsOf(instance: Instance): Attachments {
  const holder = instance as { [ATTACHMENTS]?: Attachments }
  return holder[ATTACHMENTS] ?? new Attachments(instance)
}

/** Carries the initial state of a request past the interceptors that run before ours. Copies of the config keep it, except JSON copies. */
const STATE = Symbol('axios-evergreen.begun')
/** A function, so that nothing prints the state, and a deep copy of the config shares it. */
type Config = InternalAxiosRequestConfig & { [STATE]?: () => AttachmentState }

/** The attachments of one instance: which origin receives which manager's token. */
class Attachments {
  readonly #instance: Instance
  readonly #attached = new Map<ResourceTokens, Attachment>()
  readonly #shared: InstanceParts
  #bindings: ReadonlyMap<string, Binding> = new Map()
  /** The state of the last request. */
  #state: AttachmentState | undefined
  readonly #interceptor = (config: Config) => this.#wrap(config)
  /** axios calls `runWhen` synchronously. Other interceptors may delay the request until another user has logged in. */
  readonly #runWhen = (config: Config) => {
    if (this.#hasOthers) config[STATE] = asFunction(this.#begin())
    return true
  }
  #interceptorId = 0

  constructor(instance: Instance) {
    this.#instance = instance
    this.#shared = { instance, scope: new OriginScope(), unauthenticated: new UnauthenticatedRequests() }
  }

  attach(tokens: ResourceTokens, settings: AttachSettings): Attachment {
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
    const binding: Binding = originBindingOf(settings, access)
    // A request may have an adapter of its own, so this is checked again when the request is sent.
    if (!mayFollowRedirects(binding))
      checkForbidsRedirects(new AdapterBeneath(defaults as WithAdapter).expected(defaults), binding)
    const base = { name: 'baseURL of the instance', address: memberOf(defaults, 'baseURL') }
    const origins = grantedOrigins(
      settings,
      base,
      access.origin,
      'set an absolute baseURL on the instance, or pass origins',
    )
    const taken = origins.find((origin) => this.#bindings.has(origin))
    if (taken !== undefined)
      throw new TypeError(`${taken} already gets the token of another manager on this instance: pass origins to both`)
    this.#grant(new Map([...this.#bindings, ...origins.map((origin) => [origin, binding] as const)]))
    this.#install()
    const attachment: Attachment = Object.freeze({
      detach: () => {
        // A second call must not remove a later attachment.
        if (this.#attached.get(tokens) === attachment) this.#detach(tokens, binding)
      },
    })
    this.#attached.set(tokens, attachment)
    return attachment
  }

  #grant(bindings: ReadonlyMap<string, Binding>): void {
    this.#bindings = bindings
    this.#state = undefined
  }

  /** A request belongs to the current logins of the managers, so their generations are read before other interceptors run. */
  #begin(): AttachmentState {
    if (!this.#state?.isCurrent) this.#state = new AttachmentState(this.#bindings, this.#shared)
    return this.#state
  }

  #install(): void {
    if (this.#isInstalled) return
    Object.defineProperty(this.#instance, ATTACHMENTS, { value: this, configurable: true })
    const { request } = this.#instance.interceptors
    // Synchronous: one asynchronous interceptor delays all requests of the instance by a microtask.
    this.#interceptorId = request.use(this.#interceptor, undefined, { synchronous: true, runWhen: this.#runWhen })
  }

  /** Whether the instance has other request interceptors. */
  get #hasOthers(): boolean {
    return this.#instance.interceptors.request.handlers?.length !== 1
  }

  /** `interceptors.request.clear()` removes our interceptor, too. Older versions of axios then reuse its id. */
  get #isInstalled(): boolean {
    const handlers: readonly ({ fulfilled?: unknown } | null)[] | undefined =
      this.#instance.interceptors.request.handlers
    return handlers?.some((one) => one?.fulfilled === this.#interceptor) ?? false
  }

  #detach(tokens: ResourceTokens, binding: Binding): void {
    this.#attached.delete(tokens)
    this.#grant(new Map([...this.#bindings].filter(([, one]) => one !== binding)))
    if (this.#attached.size > 0) return
    if (this.#isInstalled) this.#instance.interceptors.request.eject(this.#interceptorId)
    Reflect.deleteProperty(this.#instance, ATTACHMENTS)
  }

  /** Replaces the adapter with a wrapper, which runs after all interceptors and transforms. */
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
    state.lateCheck.at(wrapped)
    return wrapped
  }
}

const asFunction = (state: AttachmentState) => () => state
