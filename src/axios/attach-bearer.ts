import axios, { type AxiosInstance, type AxiosResponse } from 'axios'
import { bearerSettings } from '../client/bearer-options.ts'
import { checkManager } from '../client/token-access.ts'
import { checkAxios } from '../core/runtime.ts'
import type { TokenManager } from '../core/token-manager.ts'
import type { AttachOptions } from './attach-options.ts'
import { type Attachment, attachmentsOf, type Instance } from './attachments.ts'
import { synchronous } from './synchronous-refuses.ts'

declare module 'axios' {
  interface AxiosRequestConfig {
    /** `false`: send this request without a token and never replay it. */
    evergreen?: boolean
  }
}

/**
 * Gives every request of `instance` to an allowed origin a fresh token, and replays a request once if the API refuses its
 * token. If no token can be had, the request is not sent and rejects with a `TokenError`. Requests that carry the header, have
 * `auth` or `socketPath`, or say `evergreen: false` are left alone. Attaching a manager twice changes nothing.
 *
 * @example
 * ```ts
 * import axios from 'axios'
 * import { attachBearer } from 'axios-evergreen'
 *
 * const api = axios.create({ baseURL: 'https://payments.example.com' })
 * attachBearer(api, tokens)
 * await api.get('/wallet') // carries a fresh token
 * ```
 * @throws {TypeError} naming the option; when no origin is known, or another manager has it; when the header is a default of the instance, or unfit for xhr.
 */
export function attachBearer(
  instance: Pick<AxiosInstance, 'defaults' | 'interceptors'>,
  tokens: TokenManager,
  options: AttachOptions = {},
): Attachment {
  checkArguments(instance, tokens)
  const settings = bearerSettings<AxiosResponse>('attachBearer', options)
  return attachmentsOf(instance).attach(tokens, { ...settings, refuses: synchronous(settings.refuses) })
}

const NO_INSTANCE = 'instance must be an axios instance: if a test mocks axios, mock axios-evergreen, too'

function checkArguments(instance: Partial<Instance> | undefined, tokens: TokenManager): void {
  checkAxios(axios)
  const { request } = instance?.interceptors ?? ({} as Partial<Instance['interceptors']>)
  if (!instance?.defaults || typeof request?.use !== 'function') throw new TypeError(NO_INSTANCE)
  checkManager(tokens)
}
