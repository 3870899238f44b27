// openid-client as the source of tokens (examples/own-source), and its methods of client authentication as clientAuthentication of oauth2().
import assert from 'node:assert/strict'
import axios from 'axios'
import { attachBearer, createTokenManager, isTokenError } from 'axios-evergreen'
import { oauth2 } from 'axios-evergreen/oauth2'
import { startTokenService } from 'axios-evergreen/testing'
import * as oauth from 'openid-client'
import { check, finish } from '../lib/checks.mjs'

function sourceOf({ baseUrl, tokenEndpoint, client }, secret = client.clientSecret) {
  const server = new oauth.Configuration({ issuer: baseUrl, token_endpoint: tokenEndpoint }, client.clientId, secret)
  oauth.allowInsecureRequests(server)
  return {
    id: `${baseUrl} ${client.clientId}`,
    origin: new URL(baseUrl).origin,
    async obtain({ signal }) {
      server[oauth.customFetch] = (url, init) => fetch(url, { ...init, signal })
      const { access_token: accessToken, expires_in: seconds } = await oauth.clientCredentialsGrant(server)
      return { accessToken, accessLifetimeMs: seconds * 1_000 }
    },
  }
}

function proved({ tokenEndpoint, client }, clientAuthentication) {
  return oauth2({
    tokenEndpoint,
    clientId: client.clientId,
    clientAuthentication,
    issuer: new URL(tokenEndpoint).origin,
  })
}

async function refused(tokens, code, retryable) {
  const error = await tokens.getAccessToken().then(assert.fail, (reason) => reason)
  assert.ok(isTokenError(error, code), `not ${code}, but ${error?.name}: ${error?.message}`)
  assert.equal(error.retryable, retryable)
}

async function serves(service, tokens) {
  const api = axios.create({ baseURL: service.baseUrl, proxy: false })
  attachBearer(api, tokens)
  const answers = await Promise.all(['/one', '/two', '/three'].map((path) => api.get(path)))
  assert.deepEqual([...answers.map(({ status }) => status), service.count('obtain')], [200, 200, 200, 1])
}

const CHECKS = {
  'three requests at once get one token': (service, managerOf) => serves(service, managerOf(sourceOf(service))),
  'the credentials are rejected': (service, managerOf) =>
    refused(managerOf(sourceOf(service, 'mistyped')), 'ERR_CREDENTIALS_REJECTED', false),
  'the token service is down'(service, managerOf) {
    service.failNext('obtain', { status: 503 })
    return refused(managerOf(sourceOf(service)), 'ERR_TOKEN_SERVICE_UNAVAILABLE', true)
  },
  'oauth2() authenticates the client with ClientSecretPost': (service, managerOf) =>
    serves(service, managerOf(proved(service, oauth.ClientSecretPost(service.client.clientSecret)))),
  'oauth2() authenticates the client with ClientSecretBasic': (service, managerOf) =>
    serves(service, managerOf(proved(service, oauth.ClientSecretBasic(service.client.clientSecret)))),
}

for (const [what, act] of Object.entries(CHECKS)) {
  const service = await startTokenService({ accessLifetimeMs: 600_000 })
  const managers = []
  const managerOf = (source) => {
    managers.push(createTokenManager({ source, retry: { maxAttempts: 1 } }))
    return managers.at(-1)
  }
  await check(`openid-client: ${what}`, () => act(service, managerOf))
  for (const tokens of managers) await tokens.close()
  await service.close()
}
finish()
