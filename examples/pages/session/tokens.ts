// Has the same exports as ../tokens.ts, but the login is a session on your server. The page has an HttpOnly cookie, and requests access tokens with it.
import axios from 'axios'
import { attachBearer, createTokenManager } from 'axios-evergreen'
import { type LoginSource, session } from 'axios-evergreen/login'
import { browserKey, followPage, webStore } from 'axios-evergreen/web'

const source: LoginSource = {
  id: 'page',
  login: session,
  async obtain({ signal }) {
    const response = await fetch('/session/token', { method: 'POST', signal })
    if (!response.ok) throw response // 401: a login is required
    return grantIn(response)
  },
  // For logout(), which may retry after a failure. By then the cookie may belong to the next session, so the token identifies the session to end.
  async revoke({ accessToken = '' }, { signal }) {
    const response = await fetch('/session/end', { method: 'POST', body: accessToken, signal })
    if (!response.ok) throw response
  },
}
export const tokens = createTokenManager({ source, store: webStore({ encryptionKeys: [browserKey()] }) })
export const api = axios.create({ baseURL: '/api' })
attachBearer(api, tokens)
followPage(tokens)
// The page shows nothing until it knows whether there is a session.
tokens.getAccessToken().catch(() => undefined)

async function grantIn(response: Response) {
  const body = (await response.json()) as { accessToken: string; expiresIn: number; subject: string }
  return { accessToken: body.accessToken, accessLifetimeMs: body.expiresIn * 1_000, subject: body.subject }
}

/** @throws {Error} with a message for the user. */
export async function logIn(form: FormData): Promise<void> {
  const body = new URLSearchParams([...form] as [string, string][])
  const response = await fetch('/session', { method: 'POST', body })
  if (!response.ok) throw new Error('Wrong name or password. Try again.')
  await tokens.adopt(await grantIn(response))
}
