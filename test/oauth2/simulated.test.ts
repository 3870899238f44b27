import { afterEach, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { attachBearer, clientCredentials, createTokenManager, type TokenManagerOptions } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { type SimulatedServiceOptions, startTokenService } from '../../tools/testing/index.ts'
import { listen } from '../support/managed.ts'
import { failureOf, serve } from '../service/world.ts'
import { startNodeOAuthServer } from './support/node-oauth-server.ts'
import { startOidcServer } from './support/oidc-server.ts'
import { exchanged } from './world.ts'

const ended: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

async function startWorld(
  options: Partial<OAuth2Options> = {},
  service: SimulatedServiceOptions = {},
  manager: Partial<TokenManagerOptions> = {},
) {
  const simulated = await startTokenService(service)
  const source = oauth2({ tokenEndpoint: simulated.tokenEndpoint, ...simulated.client, ...options })
  const tokens = createTokenManager({ source, retry: { baseDelayMs: 0 }, ...manager })
  ended.push(
    () => simulated.close(),
    () => tokens.close(),
  )
  const api = axios.create({ baseURL: simulated.baseUrl })
  return { service: simulated, source, tokens, api, told: listen(tokens) }
}
type World = Awaited<ReturnType<typeof startWorld>>
const kinds = ({ service }: World) => service.log.map(({ kind, status }) => `${kind} ${status}`)

describe('given the simulated service and client credentials', () => {
  it('when requests are made and the token is renewed, then each renewal is an obtain', async () => {
    const world = await startWorld()
    attachBearer(world.api, world.tokens)
    await Promise.all([world.api.get('/a'), world.api.get('/b')])
    await world.tokens.renew()
    expect(kinds(world)).toEqual(['obtain 200', 'resource 200', 'resource 200', 'obtain 200'])
  })

  it('when the instance has no baseURL, then origins must be given: the API is not at the authorization server', async () => {
    const { tokens } = await startWorld()
    expect(() => attachBearer(axios.create(), tokens)).toThrow(
      'set an absolute baseURL on the instance, or pass origins',
    )
    attachBearer(axios.create(), tokens, { origins: ['https://payments.example.com'] })
  })

  it('when its secret is wrong, then the message states what to check', async () => {
    const { tokens, service } = await startWorld({ clientSecret: 'wrong' })
    await expect(tokens.getAccessToken()).rejects.toMatchObject({
      code: 'ERR_CREDENTIALS_REJECTED',
      message: `${service.tokenEndpoint} (obtain request) responded with 401: invalid_client: check clientId, clientSecret and clientAuthentication; some servers accept only post, or do not allow this grant to this client`,
    })
    await expect(tokens.getAccessToken()).rejects.toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
    expect(service.count('obtain')).toBe(1)
  })
})

describe('given the simulated service and a login', () => {
  const startLogin = async (options: Partial<OAuth2Options> = {}) => {
    const world = await startWorld({ grant: 'login', ...options })
    await world.tokens.adopt(await world.service.logIn())
    attachBearer(world.api, world.tokens)
    return world
  }

  it('when access tokens are revoked, then a refresh replaces the token', async () => {
    const world = await startLogin()
    world.service.revokeAccessTokens()
    expect((await world.api.get('/a')).status).toBe(200)
    expect(kinds(world)).toEqual(['resource 401', 'refresh 200', 'resource 200'])
  })

  it('when its refresh token is stolen, then that is reported once, and there is no further token request', async () => {
    const world = await startLogin()
    await world.service.stealRefreshToken()
    await expect(world.tokens.renew()).rejects.toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    await expect(world.tokens.renew()).rejects.toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    // The service has also revoked the access token.
    await expect(world.api.get('/a')).rejects.toMatchObject({ response: { status: 401 } })
    expect(world.told.suspicious).toMatchObject([{ evidence: 'revoked-or-used', severity: 'medium' }])
    expect(kinds(world)).toEqual(['refresh 400', 'resource 401'])
  })

  it.each([
    ['drops the request before it acts', { drop: 'before' }],
    ['drops the request after it acted', { drop: 'after' }],
    ['damages its response', { corrupt: 'json' }],
    ['truncates its response', { corrupt: 'truncate' }],
  ] as const)('when the service %s, then the access token is used, and the login is kept (F197)', async (_, fault) => {
    const world = await startLogin()
    world.service.failNext('refresh', fault)
    await expect(world.tokens.renew()).rejects.toMatchObject({ retryable: true })
    expect(world.service.count('refresh')).toBe(1)
    expect((await world.api.get('/a')).status).toBe(200)
    expect(world.tokens.status()).toMatchObject({ login: 'present' })
    expect(world.told.suspicious).toEqual([])
  })

  it('when it is logged out, then the service is notified, and later requests need a login (F208)', async () => {
    const revoked: string[] = []
    const endpoint = await serve((_, reply) => reply.end())
    const world = await startLogin({ revocationEndpoint: `${endpoint.origin}/revoke` })
    expect(await (world.tokens as LoginManager).logout()).toEqual({ revoked: true })
    for (const { body } of endpoint.seen) revoked.push(new URLSearchParams(body).get('token_type_hint') ?? '')
    expect(revoked).toEqual(['refresh_token'])
    await expect(world.api.get('/a')).rejects.toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'logged-out' })
  })

  it.each([429, 503])(
    'when the service responds %i once, then the same refresh token is sent again',
    async (status) => {
      const world = await startLogin()
      world.service.failNext('refresh', { status })
      await world.tokens.renew()
      expect(kinds(world)).toEqual([`refresh ${status}`, 'refresh 200'])
    },
  )

  it('when the vault of the secret returns 503 three times, then the refresh token stays usable, because it was not sent', async () => {
    const failures = Array(3).fill(Object.assign(new Error('the vault is down'), { status: 503 })) as Error[]
    const world = await startLogin({
      clientSecret: () => (failures.length > 0 ? Promise.reject(failures.pop()!) : world.service.client.clientSecret),
    })
    await world.tokens.renew()
    expect(kinds(world)).toEqual(['refresh 200'])
  })

  it('when client credentials are the fallback, then they take over after a theft', async () => {
    const world = await startLogin({ grant: 'client_credentials' })
    await world.service.stealRefreshToken()
    await world.tokens.renew()
    expect(kinds(world)).toEqual(['refresh 400', 'obtain 200'])
    expect(world.told.suspicionSettled).toMatchObject([{ verdict: 'token-only' }])
  })
})

describe('given a source that meets the server of another one (F194)', () => {
  it('when oauth2 calls the endpoint of the specification, then the error names the sources for it', async () => {
    const { service } = await startWorld()
    const source = oauth2({ tokenEndpoint: `${service.baseUrl}/token/`, ...service.client })
    const error = await failureOf(exchanged(source))
    expect(error.message).toContain('clientCredentials() or loginPassword() of axios-evergreen')
  })

  it.each([
    ['oidc-provider', startOidcServer],
    ['@node-oauth/oauth2-server', startNodeOAuthServer],
  ])('when clientCredentials calls %s, then the error suggests oauth2', async (_, start) => {
    const client = { clientId: 'client-of-nobody', clientSecret: 'secret-of-nobody' }
    const server = await start({ ...client, rotates: true, accessLifetimeS: 60, refreshLifetimeS: 60 })
    ended.push(() => server.end())
    const { origin } = new URL(server.tokenEndpoint)
    const error = await failureOf(exchanged(clientCredentials({ ...client, baseUrl: origin })))
    expect(error.message).toContain('use oauth2 of axios-evergreen/oauth2')
  })
})
