import type { AxiosAdapter, AxiosInstance, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { BareRequests } from '../client/bare-requests.ts'
import type { BearerSettings } from '../client/bearer-options.ts'
import { granteeOf, maySeeRedirects } from '../client/client-port.ts'
import { grantedOrigins } from '../client/origins.ts'
import { accessTo } from '../client/token-access.ts'
import type { TokenManager } from '../core/token-manager.ts'
import { type Adapter, AdapterChoice } from './adapter-choice.ts'
import { type Bearer, sendWithToken } from './bearer-adapter.ts'
import { hasHeader } from './header-names.ts'
import { LateLook, noting, type Outer, relieveOuter } from './late-adapter.ts'
import { memberOf } from './member-of.ts'
import { OriginScope } from './origin-scope.ts'
import { mayFollowByItself, OWN_TRANSPORT } from './own-transport.ts'
import { checkStays } from './unfollowed.ts'

export interface Attachment {
  /** Takes this attachment off the instance. Requests in flight finish. The manager stays open. */
  detach(): void
}

/** Only members that axios declares alike for ESM and for CommonJS. */
export type Instance = Pick<AxiosInstance, 'defaults' | 'interceptors'>

type AttachSettings = BearerSettings<AxiosResponse>

// All copies of the package in one process share these: an instance is wrapped once, and no wrapper wraps a wrapper.
const ATTACHMENTS = Symbol.for('axios-evergreen.attachments')
const WRAPPED = Symbol.for('axios-evergreen.adapter')

/** @returns What is attached to the instance; nothing yet, the first time. */
export function attachmentsOf(instance: Instance): Attachments {
  const holder = instance as { [ATTACHMENTS]?: Attachments }
  return holder[ATTACHMENTS] ?? new Attachments(instance)
}

/** A grantee, and the login of its manager in which a request began. */
interface Begun {
  readonly bearer: Bearer
  readonly login: number | undefined
}

/** What holds for all requests that begin now. It is replaced, never changed, so a request keeps what it began with. */
interface Beginning {
  readonly all: readonly Begun[]
  readonly byOrigin: ReadonlyMap<string, Begun>
  readonly lateLook: LateLook
}

/** The attachments of one instance: which manager's token goes to which origin. */
class Attachments {
  readonly #instance: Instance
  readonly #scope = new OriginScope()
  readonly #attached = new Map<TokenManager, Attachment>()
  readonly #bare = new BareRequests()
  #grantees: ReadonlyMap<string, Bearer> = new Map()
  /** That of the last request. */
  #beginning: Beginning | undefined
  readonly #interceptor = (config: InternalAxiosRequestConfig) => this.#wrap(config)
  #interceptorId = 0
  /** The wrapper of the last request, with the adapter and the beginning that it was made for. */
  #kept: { wrapper: Wrapper; choice: AdapterChoice; beginning: Beginning } | undefined

  constructor(instance: Instance) {
    this.#instance = instance
  }

  attach(tokens: TokenManager, settings: AttachSettings): Attachment {
    const attached = this.#attached.get(tokens)
    if (attached) {
      this.#install()
      return attached
    }
    const { header } = settings
    if (this.#isDefault(header))
      throw new TypeError(
        `${header} is among the defaults of this axios instance and would switch the attachment off: delete it there`,
      )
    const access = accessTo(tokens)
    const bearer: Bearer = granteeOf(settings, access)
    if (!maySeeRedirects(bearer)) checkAdapter(this.#instance.defaults, bearer)
    const base = { name: 'baseURL of the instance', address: memberOf(this.#instance.defaults, 'baseURL') }
    const origins = grantedOrigins(settings, base, access.origin, 'set baseURL on the instance, or pass origins')
    const taken = origins.find((origin) => this.#grantees.has(origin))
    if (taken !== undefined)
      throw new TypeError(
        `${taken} already gets the token of another manager on this instance: give origins to both attachments`,
      )
    this.#grant(new Map([...this.#grantees, ...origins.map((origin) => [origin, bearer] as const)]))
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

  #grant(grantees: ReadonlyMap<string, Bearer>): void {
    this.#grantees = grantees
    this.#beginning = undefined
  }

  /** A request belongs to the logins that the managers know now, so their marks are taken before later interceptors run. */
  #begin(): Beginning {
    const last = this.#beginning
    if (last?.all.every(({ bearer, login }) => bearer.access.login?.() === login)) return last
    const all = [...new Set(this.#grantees.values())].map((bearer) => ({ bearer, login: bearer.access.login?.() }))
    const begunBy = new Map(all.map((begun) => [begun.bearer, begun]))
    const byOrigin = new Map([...this.#grantees].map(([origin, bearer]) => [origin, begunBy.get(bearer) as Begun]))
    const lateLook = new LateLook((config, isCopy) => this.#lookAgain(config, isCopy, beginning))
    const beginning: Beginning = { all, byOrigin, lateLook }
    return (this.#beginning = beginning)
  }

  #install(): void {
    if (this.#isInstalled) return
    Object.defineProperty(this.#instance, ATTACHMENTS, { value: this, configurable: true })
    const { request } = this.#instance.interceptors
    // Synchronous: one asynchronous interceptor makes all requests of the instance wait for a microtask.
    this.#interceptorId = request.use(this.#interceptor, undefined, { synchronous: true })
  }

  /** `interceptors.request.clear()` of the user removes our interceptor, too. Older axios then gives its id to another one. */
  get #isInstalled(): boolean {
    const handlers: readonly ({ fulfilled?: unknown } | null)[] | undefined =
      this.#instance.interceptors.request.handlers
    return handlers?.some((one) => one?.fulfilled === this.#interceptor) ?? false
  }

  #detach(tokens: TokenManager, bearer: Bearer): void {
    this.#attached.delete(tokens)
    this.#grant(new Map([...this.#grantees].filter(([, one]) => one !== bearer)))
    if (this.#attached.size > 0) return
    if (this.#isInstalled) this.#instance.interceptors.request.eject(this.#interceptorId)
    Reflect.deleteProperty(this.#instance, ATTACHMENTS)
  }

  /** Puts a wrapper in the place of the adapter. It runs after all other interceptors and transforms. */
  #wrap(config: InternalAxiosRequestConfig): InternalAxiosRequestConfig {
    const beginning = this.#begin()
    const adapter = this.#wrapperOf(adapterOf(config), beginning)
    let wrapped = config
    try {
      config.adapter = adapter
    } catch {
      wrapped = { ...config, adapter } // an interceptor has frozen the config
    }
    // Only another interceptor can replace the wrapper.
    if (this.#instance.interceptors.request.handlers?.length !== 1) beginning.lateLook.at(wrapped)
    return wrapped
  }

  /** Requests with the same adapter that begin alike share one wrapper. */
  #wrapperOf(adapter: Adapter, beginning: Beginning): Wrapper {
    if (this.#kept?.beginning === beginning && this.#kept.choice.isOf(adapter)) return this.#kept.wrapper
    const choice = new AdapterChoice(adapter)
    const send = this.#inPlaceOf(choice, beginning, (final, { bearer, login }) =>
      sendWithToken(final, choice.telling(final), bearer, login),
    )
    const wrapper: Wrapper = Object.assign(send, { [WRAPPED]: choice.adapter })
    this.#kept = { wrapper, choice, beginning }
    return wrapper
  }

  /** Looks whether an interceptor that ran after ours has put another adapter in the place of our wrapper. */
  #lookAgain(config: InternalAxiosRequestConfig, isCopy: boolean, beginning: Beginning): void {
    if ((config.adapter as Wrapper | undefined)?.[WRAPPED] !== undefined) return
    const choice = new AdapterChoice(adapterOf(config))
    config.adapter = this.#inPlaceOf(choice, beginning, async (final, { bearer, login }) => {
      const { access, header, refuses } = bearer
      const outer: Outer = { header, isRelieved: false }
      // If that adapter has called our wrapper, the wrapper has replayed the request already.
      const relieved: Bearer = { ...bearer, refuses: (response) => !outer.isRelieved && refuses(response) }
      if (!isCopy) return sendWithToken(final, noting(choice.telling(final), outer), relieved, login)
      try {
        return await noting(choice.plain(final), outer)(final)
      } finally {
        if (!outer.isRelieved) access.anomaly('adapter-replaced', REPLACED)
      }
    })
  }

  /** @returns An adapter that first puts the given one back on the config. Only requests that get a token go to `send`. */
  #inPlaceOf(
    choice: AdapterChoice,
    { byOrigin }: Beginning,
    send: (final: InternalAxiosRequestConfig, begun: Begun) => Promise<AxiosResponse>,
  ): AxiosAdapter {
    return (final) => {
      final.adapter = choice.adapter
      relieveOuter(final)
      const begun = this.#begunOf(final, byOrigin)
      if (!begun) return choice.plain(final)(final)
      if (!mayFollowByItself(final, choice)) return send(final, begun)
      begun.bearer.access.anomaly('transport-own', OWN_TRANSPORT)
      return choice.plain(final)(final)
    }
  }

  /** @returns Whose token the request gets, if any. */
  #begunOf(config: InternalAxiosRequestConfig, byOrigin: Beginning['byOrigin']): Begun | undefined {
    if (memberOf(config, 'evergreen') === false || memberOf(config, 'auth') || memberOf(config, 'socketPath'))
      return undefined
    const origin = this.#scope.originOf(config)
    const begun = origin === undefined ? undefined : byOrigin.get(origin)
    if (!begun) this.#reportBare(config, origin, byOrigin)
    else if (!hasHeader(config.headers, begun.bearer.name)) return begun
    else if (this.#isDefault(begun.bearer.header))
      begun.bearer.access.anomaly(
        'header-in-defaults',
        `Delete the default header ${begun.bearer.header} of the instance: requests do not get the fresh token`,
      )
    return undefined
  }

  /** Reports a request without a token, once per origin, so that users find the cause. */
  #reportBare(config: InternalAxiosRequestConfig, origin: string | undefined, byOrigin: Beginning['byOrigin']): void {
    const where = origin ?? 'an address without an origin'
    if (this.#bare.isTold(where)) return
    const ones = [...new Set(Array.from(byOrigin.values(), ({ bearer }) => bearer))]
    if (ones.some(({ header }) => config.headers.has(header))) return
    this.#bare.tell(
      where,
      byOrigin.keys(),
      ones.map(({ access }) => access),
    )
  }

  #isDefault(header: string): boolean {
    const name = header.toLowerCase()
    const among = (headers: unknown) => typeof headers === 'object' && headers !== null && hasHeader(headers, name)
    // Among the headers for all methods, and among those for one of them.
    const headers = memberOf(this.#instance.defaults, 'headers') as object | undefined
    return among(headers) || Object.values(headers ?? {}).some(among)
  }
}

const REPLACED =
  'A request went out without a token: an interceptor returned a copy of its config with another adapter. Register that interceptor after ' +
  'attachBearer, or let it change the config that it receives'

type Chosen = Pick<InternalAxiosRequestConfig, 'adapter'>
type Wrapper = AxiosAdapter & { readonly [WRAPPED]?: Adapter }

/** The adapter beneath all wrappers. */
function adapterOf(config: Chosen): Adapter {
  const found = memberOf(config, 'adapter') as Wrapper | undefined
  return found?.[WRAPPED] ?? found ?? ['xhr', 'http', 'fetch']
}

/** Checks the adapter of the defaults. A request may have another one, so it is checked again when a request is sent. */
function checkAdapter(defaults: Instance['defaults'], bearer: Bearer): void {
  const given = adapterOf(defaults as Chosen)
  let adapter: AxiosAdapter | undefined
  try {
    adapter = new AdapterChoice(given).plain(defaults)
  } catch {
    // axios finds none, and then each request fails with its error
  }
  // A page or a test environment may bring XMLHttpRequest only later.
  checkStays(adapter ?? { adapterName: [given].flat().find((name) => name === 'xhr') }, bearer)
}
