import axios, { isAxiosError } from 'axios'
import { TokenError } from 'axios-evergreen'
import { type LoginSource, person } from 'axios-evergreen/login'

interface Session {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly user?: { readonly id: string }
}

/** Sends the auth requests of supabase-js. `reuseGraceMs` is a little less than the reuse interval of your Supabase project: ten seconds by default. */
export function supabaseSource(url: string, key: string): LoginSource {
  const auth = axios.create({ baseURL: `${url}/auth/v1`, headers: { apikey: key }, maxRedirects: 0 })
  return {
    id: url,
    isUnnamed: true,
    login: person,
    reuseGraceMs: 8_000,
    obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'Log in')),
    async refresh(token, { signal }) {
      const sent = auth.post<Session>('/token?grant_type=refresh_token', { refresh_token: token }, { signal })
      const { data } = await sent.catch((error: unknown) => {
        if (!isAxiosError(error) || error.response?.status !== 400) throw error
        throw new TokenError('ERR_REFRESH_REJECTED', 'The session has ended', { outcome: 'rejected', status: 400 })
      })
      return grantOf(data)
    },
    async revoke({ accessToken = '' }, { signal }) {
      const headers = { Authorization: `Bearer ${accessToken}` }
      await auth.post('/logout?scope=local', null, { headers, signal })
    },
  }
}

/** Converts a session of Supabase: after a login for `adopt()`, and after a refresh for `refresh()` above. */
export const grantOf = ({ access_token, refresh_token, expires_in, user }: Session) => ({
  accessToken: access_token,
  accessLifetimeMs: expires_in * 1_000,
  refreshToken: refresh_token,
  ...(user && { subject: user.id }),
})
