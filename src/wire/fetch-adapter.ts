import type { AxiosAdapter } from 'axios'
import { parsedUrl } from '../core/secure-origin.ts'

/**
 * Lets a fetch make the GET calls of `TokenCalls`, which limits what it reads. Redirects are followed: such a call carries no secret. One to another origin
 * leads to nothing that this server says, so it counts as "not found".
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
