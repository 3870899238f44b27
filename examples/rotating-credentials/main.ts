// Credentials from a secret manager that rotates them: npm run example rotating-credentials
import axios from 'axios'
import { attachBearer, createTokenManager, isTokenError, loginPassword } from 'axios-evergreen'
import { startTokenService } from 'axios-evergreen/testing'

const service = await startTokenService()

/** Stands for a secret manager. The source calls it for each token request that needs credentials, and does not cache the result. */
const vault = { secret: { login: service.login.login, password: 'of last month' }, reads: 0 }
const credentials = async () => {
  vault.reads += 1
  return vault.secret
}

const tokens = createTokenManager({ source: loginPassword({ baseUrl: service.baseUrl, credentials }) })
const api = axios.create({ baseURL: service.baseUrl })
attachBearer(api, tokens)

const rejected = await api.get('/wallet').catch((error: unknown) => error)
if (isTokenError(rejected, 'ERR_CREDENTIALS_REJECTED'))
  console.log(`rejected; no token request before ${new Date(rejected.retryAt!).toISOString()}`)

vault.secret = service.login
// reset() ends the wait. Call it from the webhook, the signal or the file watcher that reports the rotation.
await tokens.reset()
const { status } = await api.get('/wallet')
console.log(`responded with ${status}; the secret manager was read ${vault.reads} times`)
await tokens.close()
await service.close()
