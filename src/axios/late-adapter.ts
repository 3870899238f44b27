import type { InternalAxiosRequestConfig } from 'axios'

type Transform = (this: InternalAxiosRequestConfig, data: unknown) => unknown

/**
 * Looks at a request after all interceptors have run, and before axios chooses its adapter. Only `transformRequest` runs at that moment. So one
 * function, the same for all requests, is appended to `transformRequest`. It removes itself when it runs.
 */
export class LateLook {
  readonly #transform: Transform
  /** The configs that we were given. Any other config is a copy that an interceptor made. */
  readonly #given = new WeakSet<object>()

  constructor(look: (config: InternalAxiosRequestConfig, isCopy: boolean) => void) {
    const given = this.#given
    const transform: Transform = function (data) {
      this.transformRequest = listed(this.transformRequest).filter((one) => one !== transform)
      look(this, !given.has(this))
      return data
    }
    this.#transform = transform
  }

  at(config: InternalAxiosRequestConfig): void {
    this.#given.add(config)
    const transforms = listed(config.transformRequest)
    if (!transforms.includes(this.#transform)) config.transformRequest = [...transforms, this.#transform]
  }
}

type Transforms = NonNullable<InternalAxiosRequestConfig['transformRequest']>
const listed = (transforms: Transforms | undefined) =>
  Array.isArray(transforms) ? transforms : transforms ? [transforms] : []

/** A request that another adapter sends in the place of ours. That adapter may call ours, and ours then does everything. */
export interface Outer {
  readonly header: string
  isRelieved: boolean
}

/** The key is the headers object, because copies of a config share it. */
export const OUTERS = new WeakMap<object, Outer>()

export function relieveOuter(config: InternalAxiosRequestConfig): void {
  const outer = OUTERS.get(config.headers)
  if (!outer) return
  outer.isRelieved = true
  config.headers.delete(outer.header)
}
