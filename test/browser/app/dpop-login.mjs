import axios from 'axios'
import { attachBearer, createTokenManager } from '../../../src/index.ts'
import { webKey } from '../../../src/dpop/index.ts'
import { withBearer } from '../../../src/fetch/index.ts'
import { oauth2 } from '../../../src/oauth2/index.ts'
import { webStore } from '../../../src/web/index.ts'

/** An app whose tokens are bound to the key of the page. Its API and its token endpoint have another origin. */
globalThis.start = async ({ origin, tokenEndpoint }) => {
  const dpop = await webKey()
  const source = oauth2({ tokenEndpoint, clientId: 'page', grant: 'login', account: 'ada', dpop })
  const tokens = createTokenManager({ source, store: webStore() })
  const api = axios.create({ baseURL: origin, adapter: 'fetch', validateStatus: null })
  attachBearer(api, tokens, { dpop })
  const apiFetch = withBearer(fetch, tokens, { origins: [origin], dpop })
  globalThis.app = {
    thumbprint: () => dpop.thumbprint,
    logIn: (refreshToken) => tokens.adopt({ refreshToken }),
    /** @returns The statuses of twenty POSTs at once, half of them by each client. */
    async post() {
      const byAxios = (n) => api.post('/orders', `${n}`)
      const byFetch = (n) => apiFetch(`${origin}/orders`, { method: 'POST', body: `${n}` })
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? byAxios : byFetch)(n)))
      return answers.map(({ status }) => status)
    },
  }
}
