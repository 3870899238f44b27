import { type AxiosAdapter, type AxiosResponse, getAdapter, type InternalAxiosRequestConfig } from 'axios'
import { quietly } from '../core/thrown.ts'
import { memberOf } from './member-of.ts'
import { observingRedirects } from './redirects.ts'

type Config = InternalAxiosRequestConfig
export type Adapter = NonNullable<Config['adapter']>
export type WithAdapter = Pick<Config, 'adapter'>
export type Wrapper = AxiosAdapter & { readonly [WRAPPED]?: Adapter }

/** All copies of this package in one process share the symbol, so that no wrapper wraps a wrapper. */
const WRAPPED = Symbol.for('axios-evergreen.adapter')

export const isWrapped = ({ adapter }: WithAdapter) => (adapter as Wrapper | undefined)?.[WRAPPED] !== undefined

/** @returns The adapter that a config would have without this package: a function, a name, or a list of these. */
function adapterOf(config: WithAdapter): Adapter {
  const found = memberOf(config, 'adapter') as Wrapper | undefined
  return found?.[WRAPPED] ?? found ?? ['xhr', 'http', 'fetch']
}

/** The adapter beneath our wrapper. */
export class AdapterBeneath {
  readonly #adapter: Adapter
  /** The sender of the last request, and the values by which axios chose it. */
  #sender: { send: AxiosAdapter; env: Config['env']; Request: unknown; Response: unknown } | undefined

  constructor(config: WithAdapter) {
    this.#adapter = copyOf(adapterOf(config))
  }

  /** Whether the config would have the same adapter without this package. */
  isOf(config: WithAdapter): boolean {
    const [own, other] = [this.#adapter, adapterOf(config)]
    if (own === other || !Array.isArray(own)) return own === other
    return Array.isArray(other) && own.length === other.length && own.every((each, n) => each === other[n])
  }

  /** @returns A wrapper to use instead of this adapter. It restores this adapter on the config before it calls `send`. */
  wrapped(send: (config: Config) => Promise<AxiosResponse>): Wrapper {
    const wrapper: AxiosAdapter = (config) => {
      config.adapter = copyOf(this.#adapter)
      return send(config)
    }
    return Object.assign(wrapper, { [WRAPPED]: this.#adapter })
  }

  /** Whether the adapter may use the `transport` of this request. The http adapter does, and a custom function may call the http adapter. */
  mayUseTransport(config: object): boolean {
    const adapter = this.plain(config)
    return Reflect.get(adapter, 'adapterName') === 'http' || [this.#adapter].flat().includes(adapter)
  }

  /** @returns The adapter that axios will probably choose. A page or a test environment may define XMLHttpRequest later. */
  expected(config: object): object {
    return quietly(() => this.plain(config)) ?? { adapterName: [this.#adapter].flat().find((name) => name === 'xhr') }
  }

  /** The adapter for a request without a token. */
  plain(config: object): AxiosAdapter {
    return chosen(this.#adapter, config)
  }

  /** The adapter for a request with a token: it observes redirects. It is reused as long as axios would choose the same. */
  sender(config: Config): AxiosAdapter {
    if (typeof this.#adapter === 'function') return this.#adapter
    const env = memberOf(config, 'env')
    const { Request, Response } = globalThis
    const last = this.#sender
    // Some test environments have no Request, so `last?.Request === Request` would hold before the first request.
    if (last && isAlike(last.env, env) && last.Request === Request && last.Response === Response) return last.send
    const send = observingRedirects(env, (observing) => chosen(this.#adapter, { env: observing }))
    this.#sender = { send, env: env && { ...env }, Request, Response }
    return send
  }
}

/** `getAdapter` as axios itself calls it. Its type lacks the second argument. */
function chosen(adapter: Adapter, config: object): AxiosAdapter {
  return (getAdapter as (adapters: Adapter, config: object) => AxiosAdapter)(adapter, config)
}

/** A list is copied because its owner may change it later. */
const copyOf = (adapter: Adapter) => (Array.isArray(adapter) ? [...adapter] : adapter)

function isAlike(one: object | undefined, other: object | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  // Unlike Object.keys, this allocates no array.
  for (const name in { ...one, ...other })
    if (Object.hasOwn(one, name) !== Object.hasOwn(other, name) || Reflect.get(one, name) !== Reflect.get(other, name))
      return false
  return true
}

/** A request that a foreign adapter sends instead of our wrapper. If that adapter calls our wrapper, the wrapper applies the token instead. */
export interface Outer {
  readonly header: string
  hasCalledOurs: boolean
}

/** Keyed by the headers object, which copies of a config share. */
const OUTERS = new WeakMap<object, Outer>()

/** @returns The foreign adapter. It notes the headers that it is called with, because it may call our wrapper with them. */
export function noting(adapter: AxiosAdapter, outer: Outer): AxiosAdapter {
  const noted: AxiosAdapter = (config) => {
    OUTERS.set(config.headers, outer)
    return adapter(config)
  }
  return Object.assign(noted, { adapterName: Reflect.get(adapter, 'adapterName') as unknown })
}

/** Called when our wrapper runs. If a foreign adapter called it, the token of the outer request is removed. */
export function noteCallBeneath({ headers }: Config): void {
  const outer = OUTERS.get(headers)
  if (!outer) return
  outer.hasCalledOurs = true
  headers.delete(outer.header)
}
