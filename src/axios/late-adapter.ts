import type { InternalAxiosRequestConfig } from 'axios'

type Transform = (this: InternalAxiosRequestConfig, data: unknown) => unknown

/**
 * Sees a request once all interceptors have run, and before its adapter is chosen. axios calls nothing but `transformRequest` there: one function
 * for all requests stands among these, and takes itself away again before anybody looks.
 */
export class LateLook {
  readonly #transform: Transform
  /** What interceptors hand on instead of these are copies. */
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

/** A request in an adapter that stands in the place of ours: it may call ours in turn, which then does all that is to be done. */
export interface Outer {
  readonly header: string
  isRelieved: boolean
}

/** By their headers, which copies of a config share. */
export const OUTERS = new WeakMap<object, Outer>()

export function relieveOuter(config: InternalAxiosRequestConfig): void {
  const outer = OUTERS.get(config.headers)
  if (!outer) return
  outer.isRelieved = true
  config.headers.delete(outer.header)
}
