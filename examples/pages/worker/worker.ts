// A shared worker, or a service worker. It keeps the manager, and with it the refresh token.
import { createTokenManager } from 'axios-evergreen'
import { grantOf, oauth2 } from 'axios-evergreen/oauth2'

// In memory: a script of the page can read every database of the origin, and use every key that it finds there.
const tokens = createTokenManager({
  source: oauth2({ tokenEndpoint: new URL('/oauth/token', location.href), clientId: 'page', grant: 'login' }),
})
const pages = new BroadcastChannel('login')
tokens.on('loginChanged', (event) => pages.postMessage(event))

/** All that a page may ask. No answer holds a refresh token. */
const ANSWERS = {
  login: () => tokens.status().login,
  getAccessToken: () => tokens.getAccessToken(),
  replaceAccessToken: (refused: string) => tokens.replaceAccessToken(refused),
  logout: () => tokens.logout(),
  async logIn(form: string) {
    const response = await fetch('/login', { method: 'POST', body: new URLSearchParams(form) })
    if (!response.ok) throw new Error('Wrong name or password. Try again.')
    await tokens.adopt(grantOf((await response.json()) as Record<string, unknown>))
  },
}
type Asked = MessageEvent<{ question: keyof typeof ANSWERS; given: string }> & { waitUntil?(work: unknown): void }
async function answer({ data: { question, given }, ports: [page] }: Asked) {
  try {
    if (!Object.hasOwn(ANSWERS, question)) throw new Error('No page may ask that')
    page?.postMessage({ value: await ANSWERS[question](given) })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    page?.postMessage({ code, message })
  }
}
// A service worker lives until it has answered. A shared worker has a port for each page.
addEventListener('message', (event: Asked) => event.waitUntil?.(answer(event)))
addEventListener('connect', (event) => ((event as MessageEvent).ports[0]!.onmessage = answer))
