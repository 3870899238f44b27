// An ESM and a CommonJS user of the packed package in one process: the two copies of the package must work together.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import axios from 'axios'
import * as esm from 'axios-evergreen'
import * as esmLogin from 'axios-evergreen/login'
import { startTokenService } from 'axios-evergreen/testing'

const require = createRequire(import.meta.url)
const cjs = require('axios-evergreen')
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

// A source of one copy, and the manager of the other.
const cjsLogin = require('axios-evergreen/login')
assert.notEqual(esmLogin.person, cjsLogin.person, 'there are two layers')
for (const [{ person }, { createTokenManager }] of [
  [esmLogin, cjs],
  [cjsLogin, esm],
]) {
  const obtain = () => Promise.reject(new Error('nobody obtains'))
  const tokens = createTokenManager({ source: { id: 'somebody', login: person, obtain } })
  await tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000 })
  assert.equal(tokens.status().login, 'present')
  await tokens.close()
}
