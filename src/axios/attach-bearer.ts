import {
  type AxiosAdapter,
  type AxiosInstance,
  type AxiosResponse,
  getAdapter,
  type InternalAxiosRequestConfig,
} from 'axios'
import { systemClock } from '../core/clock.ts'
import { checkFlag, checkFunction, checkObject, checkText } from '../core/option-checks.ts'
import { checkedSecureUrl, mayCarrySecrets } from '../core/secure-origin.ts'
import { INTERNALS, type ManagerInternals, type TokenManager } from '../core/token-manager.ts'
import { type Bearer, sendWithToken } from './bearer-adapter.ts'
import { OriginScope } from './origin-scope.ts'
import { tellingRedirects } from './redirects.ts'

export interface AttachOptions {
  /** Origins that may receive the token. Default: the origins of `instance.defaults.baseURL` and of the token source. */
  origins?: readonly (string | URL)[] | undefined
  /**
   * Default `Authorization`. Under another name redirects are not followed: axios strips only `Authorization` across origins.
   */
  header?: string | undefined
  /** Word before the token. Default `Bearer`; an empty string sends the bare token. */
  scheme?: string | undefined
  /** Says whether a response, its `data` not yet transformed, refuses the token. Default: status 401. */
  refuses?: ((response: AxiosResponse) => boolean) | undefined
  /** Send tokens over plain http to hosts that are not loopback. Default false. */
  allowInsecureHttp?: boolean | undefined
}

export interface Attachment {
  /** Takes the interceptor off the instance. Requests in flight finish; the manager stays open. */
  detach(): void
}

declare module 'axios' {
  interface AxiosRequestConfig {
    /** `false`: send this request without a token and never replay it. */
    evergreen?: boolean
  }
}

/** Its other members differ between the type declarations that axios has for ESM and for CommonJS. */
type Instance = Pick<AxiosInstance, 'defaults' | 'interceptors'>

/**
 * Gives every request of `instance` a fresh token, and replays a request once when the API refuses its token. Requests that
 * carry the header, have `auth` or say `evergreen: false` are left alone. Attaching a manager twice changes nothing.
 *
 * @throws {TypeError} naming the option; when no origin is known; when another manager has an origin already; when the header
 * is among the instance's defaults.
 */
export function attachBearer(
  instance: Pick<AxiosInstance, 'defaults' | 'interceptors'>,
  tokens: TokenManager,
  options: AttachOptions = {},
): Attachment {
  checkArguments(instance, tokens, options)
  return attachmentsOf(instance).attach(tokens, options)
}

type Adapter = InternalAxiosRequestConfig['adapter']

// Shared by all copies of the package in one process: an instance is wrapped once, a wrapper never wraps a wrapper.
const ATTACHMENTS = Symbol.for('axios-evergreen.attachments')
const WRAPPED = Symbol.for('axios-evergreen.adapter')

interface Claim extends Bearer {
  readonly anomaly: ManagerInternals['anomaly']
}

function attachmentsOf(instance: Instance): Attachments {
  const holder = instance as { [ATTACHMENTS]?: Attachments }
  return holder[ATTACHMENTS] ?? new Attachments(instance)
}

/** All that is attached to one instance: whose token goes to which origin. */
class Attachments {
  readonly #instance: Instance
  readonly #scope = new OriginScope()
  readonly #attached = new Map<TokenManager, Attachment>()
  readonly #reported = new Set<string>()
  /** By origin. Replaced, never changed: a request keeps the claims that it began with. */
  #claims: ReadonlyMap<string, Claim> = new Map()
  #interceptor: number | undefined

  constructor(instance: Instance) {
    this.#instance = instance
  }

  attach(tokens: TokenManager, options: AttachOptions): Attachment {
    const attached = this.#attached.get(tokens)
    if (attached) return attached
    const { header = 'Authorization', scheme = 'Bearer', refuses = ({ status }) => status === 401 } = options
    if (this.#isDefault(header))
      throw new TypeError(
        `${header} is among the defaults of this axios instance and would switch the attachment off: delete it there`,
      )
    const known = (tokens as Partial<Record<typeof INTERNALS, ManagerInternals>>)[INTERNALS]
    const { clock = systemClock, maxWaitMs = 30_000, anomaly = () => true, hasEnded = () => false } = known ?? {}
    const origins = claimedOrigins(this.#instance, known?.origin, options)
    const taken = origins.find((origin) => this.#claims.has(origin))
    if (taken !== undefined)
      throw new TypeError(`${taken} already gets the token of another manager on this instance: give origins to both`)
    const isHandMade = known === undefined
    const claim: Claim = Object.freeze({
      tokens,
      clock,
      isHandMade,
      maxWaitMs,
      anomaly,
      hasEnded,
      header,
      scheme,
      refuses,
    })
    this.#claims = new Map([...this.#claims, ...origins.map((origin) => [origin, claim] as const)])
    if (this.#attached.size === 0) this.#install()
    const attachment: Attachment = Object.freeze({
      detach: () => {
        // A second call must not detach what was attached since.
        if (this.#attached.get(tokens) === attachment) this.#detach(tokens, claim)
      },
    })
    this.#attached.set(tokens, attachment)
    return attachment
  }

  #install(): void {
    Object.defineProperty(this.#instance, ATTACHMENTS, { value: this, configurable: true })
    const wrap = (config: InternalAxiosRequestConfig) => this.#wrap(config)
    // Synchronous: one asynchronous interceptor makes all of an instance's requests wait for a microtask.
    this.#interceptor = this.#instance.interceptors.request.use(wrap, undefined, { synchronous: true })
  }

  #detach(tokens: TokenManager, claim: Claim): void {
    this.#attached.delete(tokens)
    this.#claims = new Map([...this.#claims].filter(([, one]) => one !== claim))
    if (this.#attached.size > 0 || this.#interceptor === undefined) return
    this.#instance.interceptors.request.eject(this.#interceptor)
    Reflect.deleteProperty(this.#instance, ATTACHMENTS)
  }

  /** Puts a wrapper in the place of the adapter: what other interceptors and transforms do is done when it runs. */
  #wrap(config: InternalAxiosRequestConfig): InternalAxiosRequestConfig {
    const found = config.adapter as (Adapter & { [WRAPPED]?: Adapter }) | undefined
    const adapter: Adapter = found?.[WRAPPED] ?? found ?? ['xhr', 'http', 'fetch']
    const claims = this.#claims
    const wrapper: AxiosAdapter & { [WRAPPED]?: Adapter } = (final) => {
      final.adapter = adapter
      const claim = this.#claimOn(final, claims)
      if (!claim) return resolved(adapter, final)(final)
      const send = typeof adapter === 'function' ? adapter : resolved(adapter, tellingRedirects(final))
      return sendWithToken(final, send, claim)
    }
    wrapper[WRAPPED] = adapter
    // An interceptor may have frozen it.
    return Reflect.set(config, 'adapter', wrapper) ? config : { ...config, adapter: wrapper }
  }

  /** @returns Whose token the request gets, if any. */
  #claimOn(config: InternalAxiosRequestConfig, claims: ReadonlyMap<string, Claim>): Claim | undefined {
    if (config.evergreen === false || config.auth || config.socketPath) return undefined
    const origin = this.#scope.originOf(config)
    const claim = origin === undefined ? undefined : claims.get(origin)
    if (!claim) this.#reportBare(config, origin, claims)
    else if (!config.headers.has(claim.header)) return claim
    else if (this.#isDefault(claim.header))
      claim.anomaly(
        'header-in-defaults',
        `${claim.header} is among the instance's defaults: requests do not get the fresh token`,
      )
    return undefined
  }

  /** Once per origin, so that nobody searches long. */
  #reportBare(
    config: InternalAxiosRequestConfig,
    origin: string | undefined,
    claims: ReadonlyMap<string, Claim>,
  ): void {
    const where = origin ?? 'an address without an origin'
    const ones = new Set(claims.values())
    if (this.#reported.has(where) || this.#reported.size > 99) return
    if ([...ones].some(({ header }) => config.headers.has(header))) return
    const message = `A request to ${where} went out without a token: only ${[...claims.keys()].join(', ')} may have it`
    const told = [...ones].map(({ anomaly }) => anomaly('origin-not-allowed', message))
    if (told.includes(true)) this.#reported.add(where)
  }

  #isDefault(header: string): boolean {
    const name = header.toLowerCase()
    const among = (headers: unknown) =>
      typeof headers === 'object' &&
      headers !== null &&
      Object.entries(headers).some(([key, value]) => key.toLowerCase() === name && value !== undefined)
    // Among the headers for all methods, and among those for one of them.
    const { headers } = this.#instance.defaults as { headers?: object }
    return among(headers) || Object.values(headers ?? {}).some(among)
  }
}

/** `getAdapter` as axios itself calls it; its second argument is missing in its types. */
function resolved(adapter: Adapter, config: object): AxiosAdapter {
  return (getAdapter as (adapters: Adapter, config: object) => AxiosAdapter)(adapter, config)
}

function claimedOrigins(instance: Instance, sourceOrigin: string | undefined, options: AttachOptions): string[] {
  const { origins, allowInsecureHttp = false } = options
  const given = (name: string, value: unknown) => checkedSecureUrl(name, value, allowInsecureHttp).origin
  if (origins) {
    if (origins.length === 0) throw new TypeError('origins must name at least one origin')
    return [...new Set(origins.map((origin) => given('origins', origin)))]
  }
  const { baseURL } = instance.defaults
  const known = new Set<string>()
  if (baseURL !== undefined && URL.canParse(baseURL)) known.add(given('baseURL of the instance', baseURL))
  const source = sourceOrigin === undefined ? undefined : new URL(sourceOrigin)
  if (source && mayCarrySecrets(source, allowInsecureHttp)) known.add(source.origin)
  if (known.size > 0) return [...known]
  throw new TypeError('No origin is known that may receive the token: set baseURL on the instance, or pass origins')
}

function checkArguments(instance: Instance, tokens: TokenManager, options: AttachOptions): void {
  const { request } = (instance as Partial<Instance> | undefined)?.interceptors ?? {}
  if (typeof request?.use !== 'function') throw new TypeError('instance must be an axios instance')
  checkObject('tokens', tokens)
  for (const method of ['peekAccessToken', 'getAccessToken', 'replaceAccessToken'])
    checkFunction(`tokens.${method}`, Reflect.get(tokens, method))
  checkObject('The options of attachBearer', options)
  const { origins, header, scheme, refuses, allowInsecureHttp = false } = options
  checkFlag('allowInsecureHttp', allowInsecureHttp)
  if (origins !== undefined && !Array.isArray(origins)) throw new TypeError('origins must be an array of origins')
  if (header !== undefined) checkText('header', header)
  if (header !== undefined && !/^[\w!#$%&'*+.^`|~-]+$/.test(header))
    throw new TypeError('header must be the name of a header, such as X-Api-Token')
  if (scheme !== undefined && scheme !== '') checkText('scheme', scheme)
  // Anything else would end the header line, or be stripped on the way.
  if (scheme !== undefined && !/^[\x21-\x7e]*$/.test(scheme))
    throw new TypeError('scheme must be one word of visible ASCII')
  if (refuses !== undefined) checkFunction('refuses', refuses)
}
