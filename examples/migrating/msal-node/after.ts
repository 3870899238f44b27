import axios from 'axios'
import { attachBearer, createTokenManager, memoryStore } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { carryOver } from './carry-over.ts'
import { API, CACHE, TOKEN_ENDPOINT } from './settings.ts'

const clientId = 'my-page'
const scope = 'openid offline_access orders'
export const tokens = createTokenManager({
  // At Entra: https://login.microsoftonline.com/TENANT/oauth2/v2.0/token, refreshTokens: 'reusable', and no revocationEndpoint
  source: oauth2({ tokenEndpoint: TOKEN_ENDPOINT, clientId, scope, grant: 'login', account: 'user-1' }),
  store: memoryStore(), // in production one that lasts: sqliteStore, redisStore, postgresStore
})
export const api = axios.create({ baseURL: API })
attachBearer(api, tokens)
await carryOver(tokens, clientId, CACHE)
