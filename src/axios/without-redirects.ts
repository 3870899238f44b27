import { type AxiosAdapter, AxiosError, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios'
import type { OriginBinding } from '../client/origin-binding.ts'

type Redirectable = Pick<OriginBinding<AxiosResponse>, 'header' | 'prover'>

/**
 * Sends a request whose token is in a header other than `Authorization`, or that has a proof. Its config forbids redirects: across origins, axios
 * strips only `Authorization`, and a proof is valid for one address only.
 */
export async function sendWithoutRedirects(
  adapter: AxiosAdapter,
  config: InternalAxiosRequestConfig,
  binding: Redirectable,
): Promise<AxiosResponse> {
  checkForbidsRedirects(adapter, binding)
  const response = await adapter(config)
  // A browser hides a redirect that it does not follow, and axios would treat it as a success.
  if ((response as AxiosResponse | undefined)?.status !== 0) return response
  const why = binding.prover ? 'the proof of dpop is for one address' : `the token is in the header ${binding.header}`
  const message = `The API responded with a redirect, which is not followed because ${why}`
  throw new AxiosError(message, 'ERR_FR_TOO_MANY_REDIRECTS', config, response.request, response)
}

/** @throws {TypeError} for XMLHttpRequest, which always follows redirects. */
export function checkForbidsRedirects(adapter: object, { header, prover }: Redirectable): void {
  if (Reflect.get(adapter, 'adapterName') !== 'xhr') return
  throw new TypeError(
    prover
      ? "dpop cannot be used with the xhr adapter, because redirects forward the proof: set adapter: 'fetch' on the instance"
      : `The token cannot be in the header ${header} with the xhr adapter, because redirects forward it: set adapter: 'fetch' on the ` +
          'instance, or send it as Authorization',
  )
}
