import { type AxiosAdapter, getAdapter, type InternalAxiosRequestConfig } from 'axios'
import { memberOf } from './member-of.ts'
import { tellingRedirects } from './redirects.ts'

export type Adapter = NonNullable<InternalAxiosRequestConfig['adapter']>
type Env = InternalAxiosRequestConfig['env']

/** The adapter that axios chooses for a given one: a function, a name, or a list of these. */
export class AdapterChoice {
  readonly #adapter: Adapter
  #kept: { sender: AxiosAdapter; env: Env; Request: unknown; Response: unknown } | undefined

  constructor(adapter: Adapter) {
    this.#adapter = copyOf(adapter)
  }

  get adapter(): Adapter {
    return copyOf(this.#adapter)
  }

  isOf(adapter: Adapter): boolean {
    return adapter === this.#adapter || (Array.isArray(adapter) && isSameList(this.#adapter, adapter))
  }

  /** Whether the adapter for this request may use its `transport`: that of Node does, and a function of the user may call it. */
  mayUseTransport(config: object): boolean {
    const adapter = this.plain(config)
    return Reflect.get(adapter, 'adapterName') === 'http' || [this.#adapter].flat().includes(adapter)
  }

  /** The adapter for a request without a token. */
  plain(config: object): AxiosAdapter {
    return chosen(this.#adapter, config)
  }

  /** The adapter for a request with a token. It is kept as long as axios would choose the same. */
  telling(config: InternalAxiosRequestConfig): AxiosAdapter {
    if (typeof this.#adapter === 'function') return this.#adapter
    const env = memberOf(config, 'env')
    const { Request, Response } = globalThis
    const kept = this.#kept
    if (kept?.Request === Request && kept.Response === Response && isAlike(kept.env, env)) return kept.sender
    const sender = tellingRedirects(env, (telling) => chosen(this.#adapter, { env: telling }))
    this.#kept = { sender, env: env && { ...env }, Request, Response }
    return sender
  }
}

/** `getAdapter` as axios itself calls it; its second argument is missing in its types. */
function chosen(adapter: Adapter, config: object): AxiosAdapter {
  return (getAdapter as (adapters: Adapter, config: object) => AxiosAdapter)(adapter, config)
}

/** A list is copied, because its owner may change it later. */
const copyOf = (adapter: Adapter) => (Array.isArray(adapter) ? [...adapter] : adapter)

function isSameList(one: Adapter, other: readonly unknown[]): boolean {
  return Array.isArray(one) && one.length === other.length && one.every((each, n) => each === other[n])
}

function isAlike(one: object | undefined, other: object | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  // Unlike Object.keys, this makes no list.
  for (const name in { ...one, ...other })
    if (Object.hasOwn(one, name) !== Object.hasOwn(other, name) || Reflect.get(one, name) !== Reflect.get(other, name))
      return false
  return true
}
