import type { AxiosResponse } from 'axios'
import { isUnauthorized, type Refuses } from '../client/bearer-options.ts'
import { isPromise } from '../core/thrown.ts'

/** axios resolves after it has read the body, so there is nothing to await. A promise would count as true, and each request would be sent twice. */
const ASYNC = 'refuses must not be async'

/**
 * @returns A function that never returns a promise.
 * @throws {TypeError} if it is async. If a compiler has hidden that it is async, each request rejects with the error instead.
 */
export function synchronous(refuses: Refuses<AxiosResponse>): (response: AxiosResponse) => boolean {
  if (refuses === isUnauthorized) return isUnauthorized
  if (Object.prototype.toString.call(refuses) === '[object AsyncFunction]') throw new TypeError(ASYNC)
  return (response) => {
    const verdict: unknown = refuses(response)
    if (!isPromise(verdict)) return Boolean(verdict)
    // The promise is not awaited, so its rejection would end the process.
    Promise.resolve(verdict).catch(() => undefined)
    throw new TypeError(ASYNC)
  }
}
