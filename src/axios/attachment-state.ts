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
import { type Binding, sendWithToken } from './bearer-adapter.ts'
import { headerIn, isDefault } from './header-names.ts'
import { LateCheck } from './late-check.ts'
import { memberOf } from './member-of.ts'
import type { OriginScope } from './origin-scope.ts'
import { mayFollowByItself, OWN_TRANSPORT } from './own-transport.ts'

type Config = InternalAxiosRequestConfig

/** A binding, and the login generation of its manager when the request began. */
interface ActiveBinding {
  readonly binding: Binding
  readonly generation: number | undefined
}

/** What all requests of an instance share. */
export interface InstanceParts {
  readonly instance: Pick<AxiosInstance, 'defaults'>
  readonly scope: OriginScope
  readonly unauthenticated: UnauthenticatedRequests
}

/**
 * The attachments of an instance and the login generations of their managers at one moment. A request keeps the state in which it began. A state is
 * replaced, never changed.
 */
export class AttachmentState {
  readonly #shared: InstanceParts
  readonly #all: readonly ActiveBinding[]
  readonly #byOrigin: ReadonlyMap<string, ActiveBinding>
  /** The adapter of the last request. */
  #last: { readonly beneath: AdapterBeneath; readonly wrapper: Wrapper } | undefined
  /** Checks whether an interceptor that ran after ours has replaced our wrapper with another adapter. */
  readonly lateCheck = new LateCheck((config, isCopy) => {
    if (!isWrapped(config)) config.adapter = this.#lateWrapper(new AdapterBeneath(config), isCopy)
  })

  constructor(bindings: ReadonlyMap<string, Binding>, shared: InstanceParts) {
    this.#shared = shared
    const active = new Map<Binding, ActiveBinding>()
    const byOrigin = new Map<string, ActiveBinding>()
    for (const [origin, binding] of bindings) {
      const one = active.get(binding) ?? { binding, generation: binding.access.currentGeneration?.() }
      active.set(binding, one)
      byOrigin.set(origin, one)
    }
    this.#all = [...active.values()]
    this.#byOrigin = byOrigin
  }

  /** Whether no login of a manager has begun or ended since this state was created. */
  get isCurrent(): boolean {
    return this.#all.every(({ binding, generation }) => binding.access.currentGeneration?.() === generation)
  }

  /** @returns The wrapper to use instead of the request's adapter. Requests with the same adapter share it. */
  wrapperFor(config: WithAdapter): Wrapper {
    if (this.#last?.beneath.isOf(config)) return this.#last.wrapper
    const beneath = new AdapterBeneath(config)
    const wrapper = this.#wrapperOf(beneath, (final, { binding, generation }) =>
      sendWithToken(final, beneath.sender(final), binding, generation),
    )
    this.#last = { beneath, wrapper }
    return wrapper
  }

  #lateWrapper(beneath: AdapterBeneath, isCopy: boolean): Wrapper {
    return this.#wrapperOf(beneath, async (final, { binding, generation }) => {
      const { access, header, refuses } = binding
      const outer: Outer = { header, hasCalledOurs: false }
      // If that adapter has called our wrapper, the wrapper has already replayed the request.
      const quiet: Binding = { ...binding, refuses: (response) => !outer.hasCalledOurs && refuses(response) }
      if (!isCopy) return sendWithToken(final, noting(beneath.sender(final), outer), quiet, generation)
      try {
        return await noting(beneath.plain(final), outer)(final)
      } finally {
        if (!outer.hasCalledOurs) access.anomaly('adapter-replaced', REPLACED)
      }
    })
  }

  /** @param send Sends a request that carries a token. */
  #wrapperOf(
    beneath: AdapterBeneath,
    send: (final: Config, generation: ActiveBinding) => Promise<AxiosResponse>,
  ): Wrapper {
    return beneath.wrapped((final) => {
      noteCallBeneath(final)
      const active = this.#activeBindingOf(final)
      if (active && !mayFollowByItself(final, beneath)) return send(final, active)
      active?.binding.access.anomaly('custom-transport', OWN_TRANSPORT)
      return beneath.plain(final)(final)
    })
  }

  /** @returns The binding whose token the request carries, if any. */
  #activeBindingOf(config: Config): ActiveBinding | undefined {
    if (memberOf(config, 'evergreen') === false || memberOf(config, 'auth') || memberOf(config, 'socketPath'))
      return undefined
    const origin = this.#shared.scope.originOf(config)
    const active = origin === undefined ? undefined : this.#byOrigin.get(origin)
    const own = active && headerIn(config.headers, active.binding.name)
    if (active && own === undefined) return active
    if (active) this.#reportOwn(active.binding, own)
    else this.#reportUnauthenticated(config, origin ?? 'an address without an origin')
    return undefined
  }

  /** Reports a request that already has the header, if that is a mistake. */
  #reportOwn(binding: Binding, value: unknown): void {
    const { instance, unauthenticated } = this.#shared
    const { access, header } = binding
    if (!isDefault(instance.defaults, header)) unauthenticated.reportLeftover(value, binding)
    else
      access.anomaly(
        'header-in-defaults',
        `Delete the default header ${header} of the instance: requests do not get the fresh token`,
      )
  }

  /** Reports a request without a token, once per origin, so that users find the cause. */
  #reportUnauthenticated({ headers }: Config, where: string): void {
    if (this.#all.some(({ binding }) => headers.has(binding.header))) return
    const accesses = this.#all.map(({ binding }) => binding.access)
    this.#shared.unauthenticated.reportOrigin(where, this.#byOrigin.keys(), accesses)
  }
}

const REPLACED =
  'A request went out without a token: an interceptor returned a copy of its config with another adapter. Register that interceptor after ' +
  'attachBearer, or let it change the config that it receives'
