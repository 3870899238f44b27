import axios from 'axios'
import { attachBearer, createTokenManager } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { browserKey, followPage, webStore } from 'axios-evergreen/web'
import { carryOver } from './carry-over.ts'

const issuer = 'https://id.example.com' // for Keycloak: `${url}/realms/${realm}`
export const tokens = createTokenManager({
  source: oauth2({ issuer, clientId: 'my-page', grant: 'login' }),
  store: webStore({ encryptionKeys: [browserKey()] }),
})
export const api = axios.create({ baseURL: '/api' })
attachBearer(api, tokens)
await carryOver(tokens)
followPage(tokens)
