// A shared store of your own, in a folder: npm run example own-store
import { createTokenManager, loginPassword } from 'axios-evergreen'
import { sharedStore } from 'axios-evergreen/store'
import { startTokenService, tokenRegisterChecks } from 'axios-evergreen/testing'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileRegister } from './file-register.ts'

const folder = await mkdtemp(join(tmpdir(), 'own-store-'))

// In a test of yours: for (const { name, run } of checks) it(name, run)
const checks = tokenRegisterChecks(async () => ({ register: await fileRegister(join(folder, 'checks')) }))
for (const { run } of checks) await run()
console.log(`the register passes ${checks.length} checks`)

const service = await startTokenService()
const managers = await Promise.all(
  [1, 2, 3].map(async () => {
    const source = loginPassword({ baseUrl: service.baseUrl, ...service.login })
    return createTokenManager({ source, store: sharedStore(await fileRegister(join(folder, 'tokens'))) })
  }),
)
const tokens = await Promise.all(managers.map((manager) => manager.getAccessToken()))
console.log(`${tokens.length} managers hold ${new Set(tokens).size} token, after ${service.log.length} token call`)

await Promise.all(managers.map((manager) => manager.close()))
await service.close()
await rm(folder, { recursive: true })
