import type { LoginSource } from 'axios-evergreen'
import { session } from 'axios-evergreen/login'

/** The login is a session at another server of yours, whose cookie the browser sends here, too. It brings an access token. */
export const sessionSource = (cookie: string): LoginSource => ({
  id: 'page',
  login: session,
  async obtain({ signal }) {
    const headers = { Cookie: `session=${cookie}` }
    const response = await fetch(`${process.env.SESSION_ENDPOINT}/token`, { method: 'POST', headers, signal })
    if (!response.ok) throw response // 401: a login is required
    const answer = (await response.json()) as { accessToken: string; expiresIn: number }
    return { accessToken: answer.accessToken, accessLifetimeMs: answer.expiresIn * 1_000 }
  },
  // For logout(): the token says which session ends.
  async revoke({ accessToken = '' }, { signal }) {
    const response = await fetch(`${process.env.SESSION_ENDPOINT}/end`, { method: 'POST', body: accessToken, signal })
    if (!response.ok) throw response
  },
})
