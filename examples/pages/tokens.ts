// Shared by the pages of all frameworks: one manager and one instance, created once, outside of components.
import axios from 'axios'
import { attachBearer, createTokenManager } from 'axios-evergreen'
import { fromTokenResponse, oauth2 } from 'axios-evergreen/oauth2'
import { browserKey, followPage, webStore } from 'axios-evergreen/web'

export const tokens = createTokenManager({
  source: oauth2({
    tokenEndpoint: new URL('/oauth/token', location.href),
    revocationEndpoint: new URL('/oauth/revoke', location.href),
    clientId: 'page',
    grant: 'login',
  }),
  store: webStore({ encryptionKeys: [browserKey()] }),
})
export const api = axios.create({ baseURL: '/api' })
attachBearer(api, tokens)
// Reads the store, and notices logins and logouts in other tabs.
followPage(tokens)

/** @throws {Error} with a message for the user. */
export async function logIn(form: FormData): Promise<void> {
  const body = new URLSearchParams([...form] as [string, string][])
  const response = await fetch('/login', { method: 'POST', body })
  if (!response.ok) throw new Error('Wrong name or password. Try again.')
  await tokens.adopt(fromTokenResponse((await response.json()) as Record<string, unknown>))
}
