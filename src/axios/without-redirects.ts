import { type AxiosAdapter, AxiosError, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios'
import type { OriginBinding } from '../client/origin-binding.ts'

type Redirectable = Pick<OriginBinding<AxiosResponse>, 'header' | 'prover'>

/**
 * Sends a request whose token goes under another header than `Authorization`, or with a proof. Its config forbids redirects, because only
 * `Authorization` is taken off a request that is redirected to another origin, and because a proof is for one address.
 */
export async function sendWithoutRedirects(
  adapter: AxiosAdapter,
  config: InternalAxiosRequestConfig,
  binding: Redirectable,
): Promise<AxiosResponse> {
  checkForbidsRedirects(adapter, binding)
  const response = await adapter(config)
  // A browser shows nothing of a redirect that it does not follow. Axios would take that for a success.
  if ((response as AxiosResponse | undefined)?.status !== 0) return response
  const why = binding.prover ? 'the proof of dpop is for one address' : `the token is in the header ${binding.header}`
  const message = `The API answered with a redirect, which is not followed because ${why}`
  throw new AxiosError(message, 'ERR_FR_TOO_MANY_REDIRECTS', config, response.request, response)
}

/** @throws {TypeError} for XMLHttpRequest, which cannot be told to follow no redirects. */
export function checkForbidsRedirects(adapter: object, { header, prover }: Redirectable): void {
  if (Reflect.get(adapter, 'adapterName') !== 'xhr') return
  throw new TypeError(
    prover
      ? "dpop cannot be used with the xhr adapter, because redirects take the proof along: set adapter: 'fetch' on the instance"
      : `The token cannot be in the header ${header} with the xhr adapter, because redirects take it along: set adapter: 'fetch' on the ` +
          'instance, or send it as Authorization',
  )
}
