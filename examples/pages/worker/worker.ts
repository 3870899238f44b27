// A shared, service or dedicated worker, which keeps the manager and its refresh token.
import { createTokenManager } from 'axios-evergreen'
import { fromTokenResponse, oauth2 } from 'axios-evergreen/oauth2'
import { exposeTokens } from 'axios-evergreen/web'

// Tokens are kept in memory, because a script in the page can read every database of the origin and use every key in it.
const tokens = createTokenManager({
  source: oauth2({
    tokenEndpoint: new URL('/oauth/token', location.href),
    revocationEndpoint: new URL('/oauth/revoke', location.href),
    clientId: 'page',
    grant: 'login',
  }),
})
exposeTokens(tokens)

/** The login happens here, so that no refresh token passes through a page. Other messages are ignored. */
async function logIn({ data, ports: [page] }: MessageEvent<{ logIn?: string } | undefined>): Promise<void> {
  if (typeof data?.logIn !== 'string') return
  try {
    const response = await fetch('/login', { method: 'POST', body: new URLSearchParams(data.logIn) })
    if (!response.ok) throw new Error('Wrong name or password. Try again.')
    await tokens.adopt(fromTokenResponse((await response.json()) as Record<string, unknown>))
    page?.postMessage('')
  } catch (error) {
    page?.postMessage((error as Error).message)
  }
}
// `waitUntil` keeps a service worker alive until the login is done. A shared worker has a port per page.
addEventListener('message', (event: MessageEvent & { waitUntil?(work: unknown): void }) => {
  const work = logIn(event)
  event.waitUntil?.(work)
})
addEventListener('connect', (event) => (event as MessageEvent).ports[0]!.addEventListener('message', logIn))
