// Any OAuth 2.0 server, found by its issuer: npm run example oauth2
import axios from 'axios'
import { attachBearer, createTokenManager, type TokenError } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { startTokenService } from 'axios-evergreen/testing'
import { startOAuthServer } from '../own-source/oauth-server.ts'

const server = await startOAuthServer()
const client = { clientId: 'client', clientSecret: 'secret', clientAuthentication: 'post' } as const

const tokens = createTokenManager({ source: oauth2({ issuer: server.issuer, ...client }) })
const api = axios.create({ baseURL: server.issuer })
attachBearer(api, tokens)
const answers = await Promise.all(['/a', '/b', '/c'].map((path) => api.get(path)))
console.log(`${answers.map(({ status }) => status).join(' ')}, with ${tokens.status().counts.obtains} token request`)

// A user's login, here played by the simulated service.
const service = await startTokenService()
const { tokenEndpoint, revocationEndpoint } = service
const source = oauth2({ tokenEndpoint, revocationEndpoint, ...service.client, grant: 'login', account: 'user-1' })
const login = createTokenManager({ source })
login.on('suspicious', ({ evidence, action }) => console.log(`refresh token rejected: ${evidence}, ${action}`))
const wallet = axios.create({ baseURL: service.baseUrl })
attachBearer(wallet, login)

await wallet.get('/wallet').catch((error: TokenError) => console.log(error.code))
await login.adopt(await service.logIn())
await wallet.get('/wallet')
await login.renew()
console.log(`logged in; ${login.status().counts.refreshes} refresh`)
await service.stealRefreshToken()
await login.renew().catch((error: TokenError) => console.log(`${error.code}: ${error.message}`))

await Promise.all([tokens.close(), login.close(), server.close(), service.close()])
