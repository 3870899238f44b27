import axios from 'axios'
import { attachBearer, createTokenManager } from '../../../src/index.ts'
import { oauth2 } from '../../../src/oauth2/index.ts'

/** A page without its own server: logs in, calls the API, has a token rejected, pauses as the service asks, and logs out. */
globalThis.visit = async ({ baseUrl, tokenEndpoint, revocationEndpoint, loginEndpoint }) => {
  const form = (members) => ({ method: 'POST', body: new URLSearchParams(members) })
  const login = await (await fetch(loginEndpoint, form({ subject: 'ada' }))).json()
  const tokens = createTokenManager({ source: oauth2({ tokenEndpoint, clientId: 'page', grant: 'login' }) })
  await tokens.adopt({ refreshToken: login.refresh_token, accessToken: login.access_token, accessLifetimeMs: 60_000 })
  const api = axios.create({ baseURL: baseUrl, validateStatus: null })
  attachBearer(api, tokens)
  const first = await api.post('/orders', { amount: 12 }, { headers: { 'Idempotency-Key': 'k1' } })
  // Without CORS a page could not read the headers of this response.
  const refused = await api.get('/orders', { evergreen: false, headers: { Authorization: 'Bearer unknown' } })
  const retries = []
  tokens.on('retry', ({ error }) => retries.push(error.retryAfterMs))
  await tokens.renew()
  const revoked = await fetch(revocationEndpoint, form({ client_id: 'page', token: await tokens.getAccessToken() }))
  await tokens.close()
  return {
    statuses: [first.status, refused.status, revoked.status],
    challenge: refused.headers['www-authenticate'],
    date: refused.headers.date !== undefined,
    retryAfterMs: retries[0],
    key: first.data.headers['idempotency-key'],
  }
}
