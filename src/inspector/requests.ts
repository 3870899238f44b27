import type { AxiosInstance, InternalAxiosRequestConfig } from 'axios'
import { kindOfEnd, type RequestEnd } from './dots.ts'

type Check = InternalAxiosRequestConfig['validateStatus']

/**
 * Tells how the requests of an instance end.
 *
 * @returns A function that takes the interceptors off again.
 */
export function followRequests(
  { interceptors }: Pick<AxiosInstance, 'interceptors'>,
  tell: (kind: RequestEnd) => void,
): () => void {
  const { request, response } = interceptors
  const refusals = refusalCounter()
  /** Responses and errors that were told. A library that sends a request again passes on those of the second request. */
  const told = new WeakSet<object>()

  function end(ended: unknown, { config, response, code, isError }: Ended): void {
    if (told.has(Object(ended) as object)) return
    told.add(Object(ended) as object)
    const kind = kindOfEnd({ isError, code, status: response?.status, refusals: refusals.end(config) })
    if (kind) tell(kind)
  }

  const beginning = request.use((config) => refusals.begin(config), undefined, { synchronous: true })
  const ending = response.use(
    (answer) => {
      end(answer, { isError: false, config: answer.config, response: answer })
      return answer
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

/** Counts the answers 401 of each request. axios calls `validateStatus` for each answer, so also for the 401 before a replay, which no interceptor sees. */
function refusalCounter() {
  /** Keyed by the `validateStatus` that we set: another library may pass on a copy of the config. */
  const watched = new WeakMap<object, { readonly check: Check; refusals: number }>()
  return {
    begin(config: InternalAxiosRequestConfig): InternalAxiosRequestConfig {
      if (config.validateStatus && watched.has(config.validateStatus)) return config
      const watch = { check: config.validateStatus, refusals: 0 }
      const watching = (status: number) => {
        if (status === 401) watch.refusals += 1
        return watch.check ? watch.check(status) : true
      }
      watched.set(watching, watch)
      // Unlike an assignment, this does not throw on a frozen config.
      Reflect.set(config, 'validateStatus', watching)
      return config
    },
    end(config: InternalAxiosRequestConfig | undefined): number {
      const watch = config?.validateStatus && watched.get(config.validateStatus)
      // A library may send this config again: it must find its own validateStatus.
      if (config && watch) Reflect.set(config, 'validateStatus', watch.check)
      return watch?.refusals ?? 0
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
