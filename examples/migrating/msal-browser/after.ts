import axios from 'axios'
import { attachBearer, createTokenManager } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { browserKey, followPage, webStore } from 'axios-evergreen/web'
import { carryOver } from './carry-over.ts'

const clientId = 'my-page'
const tokenEndpoint = 'https://id.example.com/oauth/token' // for Entra: https://login.microsoftonline.com/TENANT/oauth2/v2.0/token
const scope = 'openid offline_access orders'
export const tokens = createTokenManager({
  // For Entra, add refreshTokens: 'reusable'. Entra has no revocationEndpoint, so logout() returns revoked: false.
  source: oauth2({ tokenEndpoint, clientId, scope, grant: 'login' }),
  store: webStore({ encryptionKeys: [browserKey()] }),
})
export const api = axios.create({ baseURL: '/api' })
attachBearer(api, tokens)
await carryOver(tokens, clientId)
followPage(tokens)
