// Has what ../tokens.ts has, but the login is a session at your server. The page has its cookie (HttpOnly), and asks it for access tokens.
import axios from 'axios'
import { attachBearer, createTokenManager, type LoginSource } from 'axios-evergreen'
import { session } from 'axios-evergreen/login'
import { browserKey, followPage, webStore } from 'axios-evergreen/web'

const source: LoginSource = {
  id: 'page',
  login: session,
  async obtain({ signal }) {
    const response = await fetch('/session/token', { method: 'POST', signal })
    if (!response.ok) throw response // 401: a login is required
    return grantIn(response)
  },
  // For logout(), which tries again after a failure. By then the cookie may be that of the next session, so the token names the one that ends.
  async revoke({ accessToken = '' }, { signal }) {
    const response = await fetch('/session/end', { method: 'POST', body: accessToken, signal })
    if (!response.ok) throw response
  },
}
export const tokens = createTokenManager({ source, store: webStore({ encryptionKeys: [browserKey()] }) })
export const api = axios.create({ baseURL: '/api' })
attachBearer(api, tokens)
followPage(tokens)
// The page shows nothing before it knows whether there is a session.
tokens.getAccessToken().catch(() => undefined)

async function grantIn(response: Response) {
  const answer = (await response.json()) as { accessToken: string; expiresIn: number; subject: string }
  return { accessToken: answer.accessToken, accessLifetimeMs: answer.expiresIn * 1_000, subject: answer.subject }
}

/** @throws {Error} whose message is for the person. */
export async function logIn(form: FormData): Promise<void> {
  const body = new URLSearchParams([...form] as [string, string][])
  const response = await fetch('/session', { method: 'POST', body })
  if (!response.ok) throw new Error('Wrong name or password. Try again.')
  await tokens.adopt(await grantIn(response))
}
