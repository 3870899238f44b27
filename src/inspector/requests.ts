import type { AxiosInstance, InternalAxiosRequestConfig } from 'axios'
import { kindOfEnd, type RequestEnd } from './dots.ts'

type Check = InternalAxiosRequestConfig['validateStatus']

/**
 * Reports how the requests of an instance end.
 *
 * @returns A function that removes the interceptors.
 */
export function followRequests(
  { interceptors }: Pick<AxiosInstance, 'interceptors'>,
  report: (kind: RequestEnd) => void,
): () => void {
  const { request, response } = interceptors
  const rejections = rejectionCounter()
  /** The reported responses and errors. A library that repeats a request passes on those of the second request. */
  const reported = new WeakSet<object>()

  function end(ended: unknown, { config, response, code, isError }: Ended): void {
    if (reported.has(Object(ended) as object)) return
    reported.add(Object(ended) as object)
    const kind = kindOfEnd({ isError, code, status: response?.status, rejections: rejections.end(config) })
    if (kind) report(kind)
  }

  const beginning = request.use((config) => rejections.begin(config), undefined, { synchronous: true })
  const ending = response.use(
    (response) => {
      end(response, { isError: false, config: response.config, response: response })
      return response
    },
    (error: unknown) => {
      end(error, { ...endOfError(error), isError: true })
      throw error
    },
  )
  return () => {
    request.eject(beginning)
    response.eject(ending)
  }
}

/** Counts the 401 responses of each request. axios calls `validateStatus` for each response, including the 401 before a replay, which no interceptor sees. */
function rejectionCounter() {
  /** Keyed by the `validateStatus` that we set: another library may pass on a copy of the config. */
  const watched = new WeakMap<object, { readonly check: Check; rejections: number }>()
  return {
    begin(config: InternalAxiosRequestConfig): InternalAxiosRequestConfig {
      if (config.validateStatus && watched.has(config.validateStatus)) return config
      const watch = { check: config.validateStatus, rejections: 0 }
      const watching = (status: number) => {
        if (status === 401) watch.rejections += 1
        return watch.check ? watch.check(status) : true
      }
      watched.set(watching, watch)
      // Unlike an assignment, this does not throw on a frozen config.
      Reflect.set(config, 'validateStatus', watching)
      return config
    },
    end(config: InternalAxiosRequestConfig | undefined): number {
      const watch = config?.validateStatus && watched.get(config.validateStatus)
      // A library may send this config again, which must then have its own validateStatus.
      if (config && watch) Reflect.set(config, 'validateStatus', watch.check)
      return watch?.rejections ?? 0
    },
  }
}

interface Ended {
  readonly isError: boolean
  readonly config?: InternalAxiosRequestConfig | undefined
  readonly response?: { readonly status: number } | undefined
  readonly code?: string | undefined
}

/** @param error Anything that was thrown. */
function endOfError(error: unknown): Omit<Ended, 'isError'> {
  const { config, response, code } = (error ?? {}) as Omit<Ended, 'isError'>
  return { config, response, code }
}
