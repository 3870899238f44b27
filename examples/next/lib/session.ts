import { type LoginSource, session } from 'axios-evergreen/login'

/** The login is a session at another server of yours, whose cookie the browser also sends here. That server issues the access token. */
export const sessionSource = (cookie: string): LoginSource => ({
  id: 'page',
  login: session,
  async obtain({ signal }) {
    const headers = { Cookie: `session=${cookie}` }
    const response = await fetch(`${process.env.SESSION_ENDPOINT}/token`, { method: 'POST', headers, signal })
    if (!response.ok) throw response // 401: a login is required
    const body = (await response.json()) as { accessToken: string; expiresIn: number }
    return { accessToken: body.accessToken, accessLifetimeMs: body.expiresIn * 1_000 }
  },
  // For logout(): the token identifies the session to end.
  async revoke({ accessToken = '' }, { signal }) {
    const response = await fetch(`${process.env.SESSION_ENDPOINT}/end`, { method: 'POST', body: accessToken, signal })
    if (!response.ok) throw response
  },
})
