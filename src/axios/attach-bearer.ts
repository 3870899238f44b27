import axios, { type AxiosInstance, type AxiosResponse } from 'axios'
import { bearerSettings } from '../client/bearer-options.ts'
import { checkManager } from '../client/token-access.ts'
import { checkAxios } from '../core/runtime.ts'
import type { ResourceTokens } from '../core/token-manager.ts'
import type { AttachOptions } from './attach-options.ts'
import { type Attachment, attachmentsOf, type Instance } from './attachments.ts'
import { synchronous } from './synchronous-refuses.ts'

declare module 'axios' {
  interface AxiosRequestConfig {
    /** `false`: send this request without a token, and never replay it. */
    evergreen?: boolean
  }
}

/**
 * Adds a fresh token to every request of `instance` to an allowed origin, and replays a request once if the API rejects its token. If there is no
 * token, the request is not sent and rejects with a `TokenError`. Requests that already have the header, or have `auth`, `socketPath` or
 * `evergreen: false`, are sent unchanged. Attaching a manager twice has no effect.
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
 * @throws {TypeError} naming the option; if no origin is known, or another manager is attached for it; if the header is a default of the instance, or
 * cannot be used with xhr.
 */
export function attachBearer(
  instance: Pick<AxiosInstance, 'defaults' | 'interceptors'>,
  tokens: ResourceTokens,
  options: AttachOptions = {},
): Attachment {
  checkArguments(instance, tokens)
  const settings = bearerSettings<AxiosResponse>('attachBearer', options)
  return attachmentsOf(instance).attach(tokens, { ...settings, refuses: synchronous(settings.refuses) })
}

const NO_INSTANCE =
  'instance, the first argument, must be an axios instance: if a test mocks axios, mock axios-evergreen, too'

function checkArguments(instance: Partial<Instance> | undefined, tokens: ResourceTokens): void {
  checkAxios(axios)
  const { request } = instance?.interceptors ?? ({} as Partial<Instance['interceptors']>)
  if (!instance?.defaults || typeof request?.use !== 'function') throw new TypeError(NO_INSTANCE)
  checkManager(tokens)
}
