import axios from 'axios'
import { attachBearer, createTokenManager } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { browserKey, followPage, webStore } from 'axios-evergreen/web'
import { carryOver } from './carry-over.ts'

const [tokenEndpoint, revocationEndpoint] = [
  'https://id.example.com/oauth/token',
  'https://id.example.com/oauth/revoke',
]
export const tokens = createTokenManager({
  source: oauth2({ tokenEndpoint, revocationEndpoint, clientId: 'my-page', grant: 'login' }),
  store: webStore({ encryptionKeys: [browserKey()] }),
})
export const api = axios.create({ baseURL: '/api' })
attachBearer(api, tokens)
await carryOver(tokens, 'my-page')
followPage(tokens)
