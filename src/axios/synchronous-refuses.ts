import type { AxiosResponse } from 'axios'
import { isUnauthorized, type Refuses } from '../client/bearer-options.ts'
import { isPromise } from '../core/thrown.ts'

/** axios has read the body when it gives its response, so nothing is to be awaited. A promise would count as true: each request would be sent twice. */
const ASYNC = 'refuses must not be async'

/**
 * @returns A function that never gives a promise.
 * @throws {TypeError} if it is async. A compiler may have made an async function into one that is not seen to be async: then each request rejects so.
 */
export function synchronous(refuses: Refuses<AxiosResponse>): (response: AxiosResponse) => boolean {
  if (refuses === isUnauthorized) return isUnauthorized
  if (Object.prototype.toString.call(refuses) === '[object AsyncFunction]') throw new TypeError(ASYNC)
  return (response) => {
    const answer: unknown = refuses(response)
    if (!isPromise(answer)) return Boolean(answer)
    // Nobody awaits the promise: its rejection would end the process.
    Promise.resolve(answer).catch(() => undefined)
    throw new TypeError(ASYNC)
  }
}
