// One worker: an API client with a token that it shares, if it is given a Redis.
import axios from 'axios'
import { attachBearer, createTokenManager, loginPassword } from 'axios-evergreen'
import { redisStore } from 'axios-evergreen/redis'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'redis'

const { baseUrl, login, password, redisUrl } = JSON.parse(process.env.ACCOUNT)
const client = redisUrl && createClient({ url: redisUrl })
client?.on('error', (error) => console.warn(error.message))
await client?.connect()

const tokens = createTokenManager({
  source: loginPassword({ baseUrl, login, password }),
  // 32 bytes from a secret manager, in earnest.
  store: client && redisStore({ client, encryptionKeys: [{ id: 'k1', key: new Uint8Array(32).fill(1) }] }),
})
tokens.on('storeUnavailable', ({ message }) => console.warn(message))
const api = axios.create({ baseURL: baseUrl })
attachBearer(api, tokens)

const count = { served: 0, failed: 0 }
let stopped = false
process.on('message', () => (stopped = true))
while (!stopped) {
  await api.get('/wallet').then(
    () => (count.served += 1),
    () => (count.failed += 1),
  )
  await pause(100)
}
await tokens.close()
client?.destroy()
process.send(count, () => process.disconnect())
