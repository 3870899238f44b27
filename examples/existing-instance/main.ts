// An instance that has interceptors, retries and logging already gets fresh tokens: npm run example existing-instance
import axios from 'axios'
import { attachBearer, createTokenManager, loginPassword } from 'axios-evergreen'
import { startTokenService } from 'axios-evergreen/testing'
import axiosRetry from 'axios-retry'

const service = await startTokenService()

// What was there before.
const api = axios.create({ baseURL: service.baseUrl, timeout: 30_000 })
api.interceptors.request.use((config) => {
  config.headers.set('X-Request-Id', crypto.randomUUID())
  return config
})
api.interceptors.response.use((response) => {
  const { config, status } = response
  console.log(`${config.method} ${config.url}: ${status}, id ${config.headers['X-Request-Id']}`)
  return response
})
axiosRetry(api, { retries: 2, onRetry: (n, error) => console.log(`retry ${n} after ${error.response?.status}`) })

// What is new. The token is added below all of that: a library that sends a request again sends it with the current token.
const tokens = createTokenManager({ source: loginPassword({ baseUrl: service.baseUrl, ...service.login }) })
attachBearer(api, tokens)

await api.get('/wallet')
service.failNext('resource', { status: 503 })
await api.get('/wallet') // axios-retry sends it again
service.revokeAccessTokens()
await api.get('/wallet') // rejected with 401, and sent again with a new token, invisibly to the code above

console.log(
  `${service.count('resource')} requests, ${service.count('obtain') + service.count('refresh')} token requests`,
)
await tokens.close()
await service.close()
