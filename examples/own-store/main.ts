// A shared store of your own, in a storage with conditional writes, such as S3: npm run example own-store
import { createTokenManager, loginPassword } from 'axios-evergreen'
import { sharedStore } from 'axios-evergreen/store'
import { startTokenService, tokenRegisterChecks } from 'axios-evergreen/testing'
import { httpRegister } from './http-register.ts'
import { startStorage } from './storage.ts'

const storage = await startStorage()

// In a test of yours: for (const { name, run } of checks) it(name, run)
const checks = tokenRegisterChecks(async () => ({ register: httpRegister(`${storage.address}/checks`) }))
for (const { run } of checks) await run()
console.log(`the register passes ${checks.length} checks`)

const service = await startTokenService()
const managers = [1, 2, 3].map(() =>
  createTokenManager({
    source: loginPassword({ baseUrl: service.baseUrl, ...service.login }),
    store: sharedStore(httpRegister(`${storage.address}/tokens`)),
  }),
)
const tokens = await Promise.all(managers.map((manager) => manager.getAccessToken()))
console.log(`${tokens.length} managers hold ${new Set(tokens).size} token, after ${service.log.length} token request`)

await Promise.all(managers.map((manager) => manager.close()))
await service.close()
storage.close()
