import type { AxiosAdapter, AxiosInstance, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { BareRequests } from '../client/bare-requests.ts'
import { type Adapter, AdapterChoice } from './adapter-choice.ts'
import { type Bearer, sendWithToken } from './bearer-adapter.ts'
import { headerIn, isDefault } from './header-names.ts'
import { noting, type Outer, relieveOuter } from './late-adapter.ts'
import { memberOf } from './member-of.ts'
import { OriginScope } from './origin-scope.ts'
import { mayFollowByItself, OWN_TRANSPORT } from './own-transport.ts'
import { checkStays } from './unfollowed.ts'

/** A grantee, and the mark of its manager under which a request began. */
export interface Begun {
  readonly bearer: Bearer
  readonly mark: number | undefined
}
/** Whose token the requests get that begin now. It is replaced, never changed. */
type ByOrigin = ReadonlyMap<string, Begun>

/** All copies of the package in one process share it: no wrapper wraps a wrapper. */
const WRAPPED = Symbol.for('axios-evergreen.adapter')

/** What stands in the place of the adapters of an instance: decides whether a request gets a token, and has it sent. */
export class Wrappers {
  readonly #instance: Pick<AxiosInstance, 'defaults'>
  readonly #scope = new OriginScope()
  readonly #bare = new BareRequests()
  /** The wrapper of the last request, with what it was made for. */
  #kept: { wrapper: Wrapper; choice: AdapterChoice; byOrigin: ByOrigin } | undefined

  constructor(instance: Pick<AxiosInstance, 'defaults'>) {
    this.#instance = instance
  }

  /** Requests with the same adapter that begin alike share one wrapper. */
  wrapperFor(config: Chosen, byOrigin: ByOrigin): Wrapper {
    const adapter = adapterOf(config)
    if (this.#kept?.byOrigin === byOrigin && this.#kept.choice.isOf(adapter)) return this.#kept.wrapper
    const choice = new AdapterChoice(adapter)
    const send = this.#inPlaceOf(choice, byOrigin, (final, { bearer, mark }) =>
      sendWithToken(final, choice.telling(final), bearer, mark),
    )
    const wrapper: Wrapper = Object.assign(send, { [WRAPPED]: choice.adapter })
    this.#kept = { wrapper, choice, byOrigin }
    return wrapper
  }

  /** Looks whether an interceptor that ran after ours has put another adapter in the place of our wrapper. */
  lookAgain(config: InternalAxiosRequestConfig, isCopy: boolean, byOrigin: ByOrigin): void {
    if ((config.adapter as Wrapper | undefined)?.[WRAPPED] !== undefined) return
    const choice = new AdapterChoice(adapterOf(config))
    config.adapter = this.#inPlaceOf(choice, byOrigin, async (final, { bearer, mark }) => {
      const { access, header, refuses } = bearer
      const outer: Outer = { header, isRelieved: false }
      // If that adapter has called our wrapper, the wrapper has replayed the request already.
      const relieved: Bearer = { ...bearer, refuses: (response) => !outer.isRelieved && refuses(response) }
      if (!isCopy) return sendWithToken(final, noting(choice.telling(final), outer), relieved, mark)
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
    byOrigin: ByOrigin,
    send: (final: InternalAxiosRequestConfig, begun: Begun) => Promise<AxiosResponse>,
  ): AxiosAdapter {
    return (final) => {
      final.adapter = choice.adapter
      relieveOuter(final)
      const begun = this.#begunOf(final, byOrigin)
      if (!begun) return choice.plain(final)(final)
      if (!mayFollowByItself(final, choice)) return send(final, begun)
      begun.bearer.access.anomaly('custom-transport', OWN_TRANSPORT)
      return choice.plain(final)(final)
    }
  }

  /** @returns Whose token the request gets, if any. */
  #begunOf(config: InternalAxiosRequestConfig, byOrigin: ByOrigin): Begun | undefined {
    if (memberOf(config, 'evergreen') === false || memberOf(config, 'auth') || memberOf(config, 'socketPath'))
      return undefined
    const origin = this.#scope.originOf(config)
    const begun = origin === undefined ? undefined : byOrigin.get(origin)
    if (!begun) {
      this.#reportBare(config, origin, byOrigin)
      return undefined
    }
    const own = headerIn(config.headers, begun.bearer.name)
    if (own === undefined) return begun
    this.#reportOwn(begun.bearer, own)
    return undefined
  }

  /** Reports a request that has the header already, if that is a mistake. */
  #reportOwn(bearer: Bearer, value: unknown): void {
    const { access, header } = bearer
    if (!isDefault(this.#instance.defaults, header)) this.#bare.tellLeftover(value, bearer)
    else
      access.anomaly(
        'header-in-defaults',
        `Delete the default header ${header} of the instance: requests do not get the fresh token`,
      )
  }

  /** Reports a request without a token, once per origin, so that users find the cause. */
  #reportBare(config: InternalAxiosRequestConfig, origin: string | undefined, byOrigin: ByOrigin): void {
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
export function checkAdapter(defaults: AxiosInstance['defaults'], bearer: Bearer): void {
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
