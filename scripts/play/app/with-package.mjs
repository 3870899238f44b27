import axios from 'axios'
import { attachBearer, createTokenManager } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'

/** `store`: what all tabs see. In your page: `webStore()`. */
export function openTab({ tokenEndpoint, baseURL, adapter, store, logOut }) {
  const source = oauth2({ tokenEndpoint, clientId: 'page', grant: 'login', account: 'ada', transport: { adapter } })
  const tokens = createTokenManager({ source, store })
  const api = axios.create({ baseURL, adapter })
  attachBearer(api, tokens)
  tokens.on('loginChanged', ({ login, reason }) => login === 'required' && logOut(reason))
  return { api, tokens }
}
