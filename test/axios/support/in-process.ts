import { AxiosError, type AxiosAdapter, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios'

/** The arguments of one adapter call. */
export interface Call {
  readonly authorization: unknown
  readonly headers: Record<string, unknown>
  readonly url: string | undefined
  readonly config: InternalAxiosRequestConfig
}

export interface InProcess {
  readonly adapter: AxiosAdapter
  readonly calls: readonly Call[]
}

/** An adapter function without a socket, such as that of a mock library or an edge runtime. */
export function inProcess(statusOf: (call: Call, index: number) => number = () => 200): InProcess {
  const calls: Call[] = []
  const adapter: AxiosAdapter = (config) => {
    const { headers, url } = config
    const call = { authorization: headers.get('Authorization'), headers: headers.toJSON(), url, config }
    const status = statusOf(call, calls.push(call) - 1)
    const response: AxiosResponse = { status, statusText: '', headers: {}, data: '{"ok":true}', config }
    if (config.validateStatus?.(status) ?? true) return Promise.resolve(response)
    return Promise.reject(new AxiosError(`status ${status}`, 'ERR_BAD_REQUEST', config, undefined, response))
  }
  return { adapter, calls }
}
