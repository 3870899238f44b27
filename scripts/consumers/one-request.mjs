// What a user of the packed package writes. check-package.mjs runs this as ESM, as CommonJS and in Jest, and compiles it as
// TypeScript in every module mode. So there is no top-level await, and only TypeScript sees the expected errors.
import assert from 'node:assert/strict'
import axios from 'axios'
import { attachBearer, clientCredentials, createTokenManager } from 'axios-evergreen'
import { startTokenService } from 'axios-evergreen/testing'

async function main() {
  const service = await startTokenService()
  const tokens = createTokenManager({ source: clientCredentials({ baseUrl: service.baseUrl, ...service.client }) })
  const api = axios.create({ baseURL: service.baseUrl })
  attachBearer(api, tokens)

  const { status } = await api.get('/orders')
  assert.equal(status, 200)
  assert.equal(service.count('obtain'), 1)

  const bare = await api.get('/orders', { evergreen: false, validateStatus: null })
  assert.equal(bare.status, 401)
  assert.equal(service.count('resource'), 2)

  // @ts-expect-error: the types are not `any`
  assert.throws(() => attachBearer(api, 'no manager'), TypeError)
  // @ts-expect-error: the option that the package adds to axios is not `any` either
  await api.get('/orders', { evergreen: 'yes' })

  await tokens.close()
  await service.close()
}

void main()
