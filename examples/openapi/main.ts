// A client generated from an OpenAPI document gets fresh tokens: npm run example openapi
import axios from 'axios'
import { attachBearer, clientCredentials, createTokenManager } from 'axios-evergreen'
import { startTokenService } from 'axios-evergreen/testing'
import { Configuration, WalletApi } from './generated.ts'

const service = await startTokenService()
const tokens = createTokenManager({ source: clientCredentials({ baseUrl: service.baseUrl, ...service.client }) })

// Generated clients take an instance as their third argument. Leave `accessToken` of the configuration out: a header that the
// client sets itself is yours, and the library does not touch it.
const instance = axios.create()
// Generated code sends absolute URLs, so no baseURL shows which origin may get the token.
attachBearer(instance, tokens, { origins: [service.baseUrl] })
const wallets = new WalletApi(new Configuration({ basePath: service.baseUrl }), undefined, instance)

const { data } = await wallets.getWallet('w 1')
console.log(`${data.method} ${data.path} succeeded`)
await tokens.close()
await service.close()
