import type { InternalAxiosRequestConfig } from 'axios'

type Transform = (this: InternalAxiosRequestConfig, data: unknown) => unknown

/**
 * Checks a request after all interceptors have run and before axios chooses the adapter. Only `transformRequest` runs at that moment. So one
 * function, the same for all requests of an `AttachmentState`, is appended to `transformRequest`. It removes itself when it runs.
 */
export class LateCheck {
  readonly #transform: Transform
  /** The configs that our interceptor received. Any other config is a copy that an interceptor made. */
  readonly #given = new WeakSet<object>()

  constructor(check: (config: InternalAxiosRequestConfig, isCopy: boolean) => void) {
    const given = this.#given
    this.#transform = function (data) {
      this.transformRequest = withoutChecks(this)
      check(this, !given.has(this))
      return data
    }
    CHECKS.add(this.#transform)
  }

  at(config: InternalAxiosRequestConfig): void {
    this.#given.add(config)
    // The config of a request that was cancelled before it was sent still has the function that was appended then.
    config.transformRequest = [...withoutChecks(config), this.#transform]
  }
}

/** The functions that this file appends. */
const CHECKS = new WeakSet<object>()

const withoutChecks = ({ transformRequest: all = [] }: InternalAxiosRequestConfig) =>
  [all].flat().filter((one) => !CHECKS.has(one))
