import type { AxiosAdapter } from 'axios'
import { parsedUrl } from '../core/secure-origin.ts'

/**
 * An axios adapter that sends the GET requests of `TokenCalls` with the given fetch. Redirects are followed, because such a request contains no secret. A
 * response from another origin counts as a 404, because it says nothing about this server.
 */
export function fetchAdapter(fetch: typeof globalThis.fetch): AxiosAdapter {
  return async (config) => {
    const { url = '', headers, signal } = config
    const accept = String(headers.get('accept'))
    const response = await fetch(url, { headers: { Accept: accept }, signal: signal as AbortSignal })
    const hasLeftOrigin = response.redirected && parsedUrl(response.url)?.origin !== new URL(url).origin
    return {
      status: hasLeftOrigin ? 404 : response.status,
      statusText: '',
      headers: Object.fromEntries(response.headers),
      data: response.body,
      config,
    }
  }
}
