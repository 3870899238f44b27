// An ESM and a CommonJS user of the packed package in one process: the two copies of the package must work together.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import axios from 'axios'
import * as esm from 'axios-evergreen'
import { startTokenService } from 'axios-evergreen/testing'

const cjs = createRequire(import.meta.url)('axios-evergreen')
assert.notEqual(esm.TokenError, cjs.TokenError, 'there are two copies')

for (const [maker, reader] of [
  [esm, cjs],
  [cjs, esm],
]) {
  const error = new maker.TokenError('ERR_CLOSED', 'closed')
  assert.ok(error instanceof reader.TokenError)
  assert.ok(reader.isTokenError(error, 'ERR_CLOSED'))
  assert.ok(!(new Error('closed') instanceof reader.TokenError))

  const service = await startTokenService()
  const { createTokenManager, clientCredentials } = maker
  const tokens = createTokenManager({ source: clientCredentials({ baseUrl: service.baseUrl, ...service.client }) })
  const api = axios.create({ baseURL: service.baseUrl })
  const attachment = maker.attachBearer(api, tokens)
  assert.equal(reader.attachBearer(api, tokens), attachment)

  assert.equal((await api.get('/orders')).status, 200)
  assert.equal(service.count('obtain'), 1)
  assert.equal(service.count('resource'), 1)

  // If both copies were attached, each would replay the request.
  service.failNext('resource', { status: 401 }, 9)
  assert.equal((await api.get('/orders', { validateStatus: null })).status, 401)
  assert.equal(service.count('resource'), 3)
  assert.equal(service.count('obtain'), 2)

  attachment.detach()
  await tokens.close()
  await service.close()
}
