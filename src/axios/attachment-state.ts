import type { AxiosInstance, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import type { UnauthenticatedRequests } from '../client/unauthenticated-requests.ts'
import {
  AdapterBeneath,
  isWrapped,
  noteCallBeneath,
  noting,
  type Outer,
  type WithAdapter,
  type Wrapper,
} from './adapter-beneath.ts'
import { type Bearer, sendWithToken } from './bearer-adapter.ts'
import { headerIn, isDefault } from './header-names.ts'
import { LateLook } from './late-look.ts'
import { memberOf } from './member-of.ts'
import type { OriginScope } from './origin-scope.ts'
import { mayFollowByItself, OWN_TRANSPORT } from './own-transport.ts'

type Config = InternalAxiosRequestConfig

/** A grantee, and the mark of its manager under which a request began. */
interface ActiveBinding {
  readonly bearer: Bearer
  readonly generation: number | undefined
}

/** What all requests of an instance share. */
export interface Shared {
  readonly instance: Pick<AxiosInstance, 'defaults'>
  readonly scope: OriginScope
  readonly bare: UnauthenticatedRequests
}

/**
 * What holds for all requests that begin now: whose token they get, and under which mark. It is replaced, never changed, so a request keeps what it
 * began with.
 */
export class AttachmentState {
  readonly #shared: Shared
  readonly #all: readonly ActiveBinding[]
  readonly #byOrigin: ReadonlyMap<string, ActiveBinding>
  /** That of the last request. */
  #last: { readonly beneath: AdapterBeneath; readonly wrapper: Wrapper } | undefined
  /** Looks whether an interceptor that ran after ours has put another adapter in the place of our wrapper. */
  readonly lateLook = new LateLook((config, isCopy) => {
    if (!isWrapped(config)) config.adapter = this.#lateWrapper(new AdapterBeneath(config), isCopy)
  })

  constructor(bearers: ReadonlyMap<string, Bearer>, shared: Shared) {
    this.#shared = shared
    this.#all = [...new Set(bearers.values())].map((bearer) => ({
      bearer,
      generation: bearer.access.currentGeneration?.(),
    }))
    this.#byOrigin = new Map(
      this.#all.flatMap((generation) => originsOf(bearers, generation.bearer).map((origin) => [origin, generation])),
    )
  }

  /** Whether it still holds: no login of a manager has begun or ended since. */
  get isCurrent(): boolean {
    return this.#all.every(({ bearer, generation }) => bearer.access.currentGeneration?.() === generation)
  }

  /** @returns What stands in the place of the adapter of a request. Requests with the same adapter share it. */
  wrapperFor(config: WithAdapter): Wrapper {
    if (this.#last?.beneath.isOf(config)) return this.#last.wrapper
    const beneath = new AdapterBeneath(config)
    const wrapper = this.#wrapperOf(beneath, (final, { bearer, generation }) =>
      sendWithToken(final, beneath.sender(final), bearer, generation),
    )
    this.#last = { beneath, wrapper }
    return wrapper
  }

  #lateWrapper(beneath: AdapterBeneath, isCopy: boolean): Wrapper {
    return this.#wrapperOf(beneath, async (final, { bearer, generation }) => {
      const { access, header, refuses } = bearer
      const outer: Outer = { header, hasCalledOurs: false }
      // If that adapter has called our wrapper, the wrapper has replayed the request already.
      const relieved: Bearer = { ...bearer, refuses: (response) => !outer.hasCalledOurs && refuses(response) }
      if (!isCopy) return sendWithToken(final, noting(beneath.sender(final), outer), relieved, generation)
      try {
        return await noting(beneath.plain(final), outer)(final)
      } finally {
        if (!outer.hasCalledOurs) access.anomaly('adapter-replaced', REPLACED)
      }
    })
  }

  /** @param send Sends a request that gets a token. */
  #wrapperOf(
    beneath: AdapterBeneath,
    send: (final: Config, generation: ActiveBinding) => Promise<AxiosResponse>,
  ): Wrapper {
    return beneath.wrapped((final) => {
      noteCallBeneath(final)
      const generation = this.#activeBindingOf(final)
      if (generation && !mayFollowByItself(final, beneath)) return send(final, generation)
      generation?.bearer.access.anomaly('custom-transport', OWN_TRANSPORT)
      return beneath.plain(final)(final)
    })
  }

  /** @returns Whose token the request gets, if any. */
  #activeBindingOf(config: Config): ActiveBinding | undefined {
    if (memberOf(config, 'evergreen') === false || memberOf(config, 'auth') || memberOf(config, 'socketPath'))
      return undefined
    const origin = this.#shared.scope.originOf(config)
    const generation = origin === undefined ? undefined : this.#byOrigin.get(origin)
    const own = generation && headerIn(config.headers, generation.bearer.name)
    if (generation && own === undefined) return generation
    if (generation) this.#reportOwn(generation.bearer, own)
    else this.#reportBare(config, origin ?? 'an address without an origin')
    return undefined
  }

  /** Reports a request that has the header already, if that is a mistake. */
  #reportOwn(bearer: Bearer, value: unknown): void {
    const { instance, bare } = this.#shared
    const { access, header } = bearer
    if (!isDefault(instance.defaults, header)) bare.reportLeftover(value, bearer)
    else
      access.anomaly(
        'header-in-defaults',
        `Delete the default header ${header} of the instance: requests do not get the fresh token`,
      )
  }

  /** Reports a request without a token, once per origin, so that users find the cause. */
  #reportBare({ headers }: Config, where: string): void {
    if (this.#all.some(({ bearer }) => headers.has(bearer.header))) return
    const accesses = this.#all.map(({ bearer }) => bearer.access)
    this.#shared.bare.tell(where, this.#byOrigin.keys(), accesses)
  }
}

const originsOf = (bearers: ReadonlyMap<string, Bearer>, bearer: Bearer) =>
  [...bearers].filter(([, one]) => one === bearer).map(([origin]) => origin)

const REPLACED =
  'A request went out without a token: an interceptor returned a copy of its config with another adapter. Register that interceptor after ' +
  'attachBearer, or let it change the config that it receives'
