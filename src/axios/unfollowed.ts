import { type AxiosAdapter, AxiosError, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios'

/**
 * Sends a request whose token goes under another header than `Authorization`. Its config forbids redirects, because only `Authorization` is taken
 * off a request that is redirected to another origin.
 */
export async function sendUnfollowed(
  adapter: AxiosAdapter,
  config: InternalAxiosRequestConfig,
  header: string,
): Promise<AxiosResponse> {
  checkStays(adapter, header)
  const response = await adapter(config)
  // A browser shows nothing of a redirect that it does not follow. Axios would take that for a success.
  if ((response as AxiosResponse | undefined)?.status !== 0) return response
  const message = `The API answered with a redirect, which is not followed because the token is in the header ${header}`
  throw new AxiosError(message, 'ERR_FR_TOO_MANY_REDIRECTS', config, response.request, response)
}

/** @throws {TypeError} for XMLHttpRequest, which cannot be told to follow no redirects. */
export function checkStays(adapter: AxiosAdapter, header: string): void {
  if (Reflect.get(adapter, 'adapterName') !== 'xhr') return
  throw new TypeError(
    `The token cannot be in the header ${header} with the xhr adapter, because redirects take it along: set adapter: 'fetch' on the instance, ` +
      'or send it as Authorization',
  )
}
