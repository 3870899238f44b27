import { afterEach, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { PrivateKeyJwt } from 'openid-client'
import {
  attachBearer,
  createTokenManager,
  memoryStore,
  type TokenManager,
  type TokenManagerOptions,
  type TokenSource,
} from '../../src/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { listen, outcome } from '../support/managed.ts'
import { watchedClock, type WatchedClock } from '../support/watched-clock.ts'
import { serve } from '../service/world.ts'
import { type Front, startFront } from './support/front.ts'
import { startNodeOAuthServer } from './support/node-oauth-server.ts'
import { startOidcServer } from './support/oidc-server.ts'
import type { RealServer, RealServerSettings } from './support/real-server.ts'

const SERVERS: { name: string; start: (settings: RealServerSettings) => Promise<RealServer> }[] = [
  { name: 'oidc-provider', start: startOidcServer },
  { name: '@node-oauth/oauth2-server', start: startNodeOAuthServer },
]
const MINUTE = 60_000
const ended: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

const given: RealServerSettings = {
  clientId: 'client-of-nobody',
  clientSecret: 'secret-of-nobody',
  rotates: true,
  accessLifetimeS: 3_600,
  refreshLifetimeS: 86_400,
}

interface World {
  server: RealServer
  front: Front
  clock: WatchedClock
  source: TokenSource
  tokens: TokenManager
  told: ReturnType<typeof listen>
  /** The remaining pauses between the requests of one renewal, ms. */
  pauses: number[]
  /** @returns The status of one request. */
  api: () => Promise<number>
}

async function startWorld(
  start: (typeof SERVERS)[0]['start'],
  options: Partial<OAuth2Options> = {},
  settings: Partial<RealServerSettings> = {},
  manager: Partial<TokenManagerOptions> = {},
): Promise<World> {
  const server = await start({ ...given, ...settings })
  const front = await startFront(server.tokenEndpoint)
  const { clientId, clientSecret } = given
  const source = oauth2({ tokenEndpoint: front.tokenEndpoint, clientId, clientSecret, ...options })
  const clock = watchedClock()
  const tokens = createTokenManager({ source, clock, random: () => 0, ...manager })
  const pauses: number[] = []
  tokens.on('retry', ({ delayMs }) => pauses.push(delayMs))
  const resource = await serve((request, reply) => reply.writeHead(request.headers.authorization ? 200 : 401).end())
  const instance = axios.create({ baseURL: resource.origin, validateStatus: null })
  attachBearer(instance, tokens)
  ended.push(
    () => server.end(),
    () => front.end(),
    () => tokens.close(),
  )
  const api = async () => (await instance.get('/orders')).status
  return { server, front, clock, source, tokens, pauses, told: listen(tokens), api }
}

/** Waits until `isOver`. Token requests take real time, but the pauses between them pass at once. */
async function passing({ clock, pauses }: World, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const pause = pauses.shift()
    if (pause === undefined) await new Promise((resolve) => setImmediate(resolve))
    else await clock.advance(pause)
  }
}

/** Advances the clock, except during token requests: their deadline is virtual, but the requests are real. */
async function live(world: World, ms: number): Promise<void> {
  const { clock, tokens } = world
  const end = clock.monotonicNow() + ms
  while (clock.monotonicNow() < end) {
    const next = Math.min(clock.nextTimerAt ?? end, end)
    await clock.advance(Math.max(0, next - clock.monotonicNow()))
    await passing(world, () => !tokens.status().renewing)
  }
}

async function renew(world: World): Promise<void> {
  let isOver = false
  const over = () => void (isOver = true)
  const renewal = world.tokens.renew()
  renewal.then(over, over)
  await passing(world, () => isOver)
  return renewal
}

const TROUBLE: [what: string, trouble: (front: Front) => unknown, fails: boolean][] = [
  ['responds 503 once', (front) => front.failNext({ status: 503 }), false],
  ['responds 429 once', (front) => front.failNext({ status: 429, headers: { 'Retry-After': '7' } }), false],
  ['refuses connections for two minutes', (front) => front.goDown(), true],
]

/**
 * Sends a request every 50 s, for the life of a token. A server that is down recovers when the token has been due for
 * two minutes. @returns When requests failed, in seconds.
 */
async function hourOfRequests(world: World): Promise<number[]> {
  const { api, front, tokens } = world
  const failed: number[] = []
  for (let second = 50; second < 3_600; second += 50) {
    await live(world, 50_000)
    if (second === 3_450) await front.comeBack()
    if ((await api()) !== 200) failed.push(second)
    await passing(world, () => !tokens.status().renewing)
  }
  return failed
}

describe.each(SERVERS)('given $name and client credentials', ({ start }) => {
  it('when six requests start at once, and the token is renewed, then each renewal is one obtain', async () => {
    const { api, front, tokens } = await startWorld(start)
    expect(await Promise.all(Array.from({ length: 6 }, api))).toEqual(Array(6).fill(200))
    await tokens.renew()
    expect(front.calls).toEqual(['client_credentials 200', 'client_credentials 200'])
    expect(tokens.status().counts).toMatchObject({ obtains: 2, refreshes: 0, failures: 0 })
  })

  it('when the secret is wrong, then there is one token request a minute', async () => {
    const { clock, front, tokens, told } = await startWorld(start, { clientSecret: 'wrong' })
    for (let second = 0; second < 300; second += 1) {
      const error = await outcome(tokens.getAccessToken())
      expect(error).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', serviceCode: 'invalid_client' })
      await clock.advance(1_000)
    }
    expect(front.calls).toHaveLength(5)
    expect(told.suspicious).toEqual([])
  })

  it.each(TROUBLE)('when it %s, then no request fails while the token is valid', async (_, trouble, fails) => {
    const world = await startWorld(start)
    await world.api()
    await trouble(world.front)
    expect(await hourOfRequests(world)).toEqual([])
    expect(world.told.renewed.length).toBeGreaterThan(1)
    expect(world.told.renewalFailed.length > 0).toBe(fails)
    expect(world.told.suspicious).toEqual([])
  })
})

describe.each(SERVERS)('given $name and a login', ({ name, start }) => {
  const startLogin = async (options: Partial<OAuth2Options> = {}, settings: Partial<RealServerSettings> = {}) => {
    const world = await startWorld(start, { grant: 'login', ...options }, settings)
    const grant = await world.server.logIn()
    await world.tokens.adopt(grant)
    return { ...world, grant }
  }
  /** What a thief of the refresh token does. */
  const steal = async ({ server }: World, refreshToken: string) => {
    const headers = { Authorization: `Basic ${btoa(`${given.clientId}:${given.clientSecret}`)}` }
    const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken })
    expect((await fetch(server.tokenEndpoint, { method: 'POST', headers, body })).status).toBe(200)
  }
  const loginRequired = { code: 'ERR_LOGIN_REQUIRED', retryable: false }

  it('when no user has logged in, then requests are rejected at once, without a token request', async () => {
    const { api, front, tokens } = await startWorld(start, { grant: 'login' })
    await expect(api()).rejects.toMatchObject(loginRequired)
    await expect(tokens.getAccessToken()).rejects.toMatchObject(loginRequired)
    expect(front.calls).toEqual([])
  })

  it('when refresh tokens rotate for two days, then each is presented once, and no request fails', async () => {
    const world = await startLogin()
    for (let hour = 0; hour < 48; hour += 1) {
      await live(world, 3_400_000)
      expect(await world.api()).toBe(200)
      await passing(world, () => !world.tokens.status().renewing)
    }
    expect(new Set(world.front.calls)).toEqual(new Set(['refresh_token 200']))
    expect(world.front.calls.length).toBeGreaterThan(40)
    expect(world.told.suspicious).toEqual([])
    expect(world.told.anomaly).toEqual([])
  })

  it('when the refresh token was stolen and used, then that is reported once, and a user must log in', async () => {
    const world = await startLogin()
    await steal(world, world.grant.refreshToken)
    await expect(renew(world)).rejects.toMatchObject(loginRequired)
    await world.clock.advance(86_400_000)
    await expect(world.api()).rejects.toMatchObject(loginRequired)
    expect(world.told.suspicious).toMatchObject([
      { evidence: 'revoked-or-used', severity: 'medium', status: 400, serviceCode: 'invalid_grant' },
    ])
    expect(world.front.calls).toEqual(['refresh_token 400'])
    await world.tokens.adopt(await world.server.logIn())
    expect(await world.api()).toBe(200)
    await renew(world)
    expect(world.told.suspicious).toHaveLength(1)
  })

  it('when the expiry of the refresh token is known, then its theft looks like a logout elsewhere (F207)', async () => {
    const world = await startWorld(start, { grant: 'login' })
    const grant = await world.server.logIn()
    await world.tokens.adopt({ ...grant, refreshLifetimeMs: given.refreshLifetimeS * 1_000 })
    await steal(world, grant.refreshToken)
    await expect(renew(world)).rejects.toMatchObject(loginRequired)
    expect(world.told.suspicious).toMatchObject([{ evidence: 'revoked-or-used', severity: 'medium' }])
  })

  it('when the response to a refresh is lost, then the refresh token is presented again when it must be, and its rejection is explained (F197)', async () => {
    const world = await startLogin()
    world.front.failNext('lose the answer')
    await expect(renew(world)).rejects.toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
    expect(world.told.suspicious).toEqual([])
    await live(world, given.accessLifetimeS * 1_000)
    await expect(world.api()).rejects.toMatchObject({ ...loginRequired, loginReason: 'in-doubt' })
    expect(world.front.calls).toEqual(['refresh_token 0', 'refresh_token 400'])
    expect(world.told.suspicious).toMatchObject([{ evidence: 'own-unknown-outcome', severity: 'low' }])
  })

  it('when a gateway returns 503 three times, then the same refresh token returns a new one (F196)', async () => {
    const world = await startLogin()
    for (let n = 0; n < 3; n += 1) world.front.failNext({ status: 503 })
    await renew(world)
    expect(world.front.calls).toEqual([...Array<string>(3).fill('refresh_token 503'), 'refresh_token 200'])
    expect(world.told.suspicious).toEqual([])
  })

  it.each([502, 503])(
    'when a gateway responds %i after the server has used the refresh token, then one login is required, and the reason is known',
    async (status) => {
      const world = await startLogin()
      world.front.failNext({ status, acted: true })
      await expect(renew(world)).rejects.toMatchObject({ ...loginRequired, loginReason: 'in-doubt' })
      expect(world.front.calls).toEqual([`refresh_token ${status}`, 'refresh_token 400'])
      expect(world.told.suspicious).toMatchObject([{ evidence: 'own-unknown-outcome', severity: 'low' }])
    },
  )

  it('when refresh tokens are reusable, and a response is lost, then the same one is sent again', async () => {
    const world = await startLogin({ refreshTokens: 'reusable' }, { rotates: false })
    world.front.failNext('lose the answer')
    await renew(world)
    await renew(world)
    expect(world.front.calls).toEqual(['refresh_token 0', 'refresh_token 200', 'refresh_token 200'])
    expect(world.told.suspicious).toEqual([])
    expect(world.told.anomaly).toEqual([])
  })

  it('when the client secret was changed, then nothing is suspicious, and the refresh token is usable afterwards', async () => {
    let clientSecret = given.clientSecret
    const world = await startLogin({ clientSecret: () => clientSecret })
    await world.server.changeSecret('another-secret')
    for (let second = 0; second < 300; second += 1) {
      await expect(renew(world)).rejects.toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
      await world.clock.advance(1_000)
    }
    expect(world.front.calls).toEqual(Array(5).fill(world.front.calls[0]))
    expect(world.told.suspicious).toEqual([])
    clientSecret = 'another-secret'
    await world.clock.advance(MINUTE)
    await renew(world)
    expect(world.front.calls.at(-1)).toBe('refresh_token 200')
  })

  it('when the grant is revoked, then that is reported once, and a user must log in', async () => {
    const world = await startLogin()
    await world.server.revokeGrants()
    await expect(renew(world)).rejects.toMatchObject(loginRequired)
    expect(world.told.suspicious).toMatchObject([{ evidence: 'revoked-or-used', serviceCode: 'invalid_grant' }])
    expect(world.front.calls).toEqual(['refresh_token 400'])
  })

  it.each([
    ['is not known', {}, ['refresh_token 400'], 1],
    // This machine's clock may be wrong, so it is presented once anyway (F212).
    ['is known', { refreshLifetimeMs: given.refreshLifetimeS * 1_000 }, ['refresh_token 400'], 0],
  ])('when the refresh token has expired, and its expiry %s, then that counts', async (_, known, calls, suspicions) => {
    const world = await startWorld(start, { grant: 'login' }, {}, { renewal: { keepWarm: 'never' } })
    await world.tokens.adopt({ ...(await world.server.logIn()), ...known })
    const aheadMs = given.refreshLifetimeS * 1_000 + MINUTE
    await world.server.moveClock(aheadMs)
    await world.clock.advance(aheadMs)
    await expect(world.api()).rejects.toMatchObject(loginRequired)
    expect(world.front.calls).toEqual(calls)
    expect(world.told.suspicious).toHaveLength(suspicions)
  })

  it.each(TROUBLE)(
    'when it %s, then no request fails while the token is valid, and the refresh token is usable',
    async (_, trouble, fails) => {
      const world = await startLogin()
      await trouble(world.front)
      expect(await hourOfRequests(world)).toEqual([])
      expect(world.front.calls.at(-1)).toBe('refresh_token 200')
      expect(world.told.renewalFailed.length > 0).toBe(fails)
      expect(world.told.suspicious).toEqual([])
    },
  )

  it('when it is reset, then that is a logout: no token is requested until a user logs in', async () => {
    const world = await startLogin()
    await world.tokens.reset()
    await world.clock.advance(86_400_000)
    await expect(world.api()).rejects.toMatchObject(loginRequired)
    expect(world.front.calls).toEqual([])
    await world.tokens.adopt(await world.server.logIn())
    expect(await world.api()).toBe(200)
  })

  it('when a store is shared, then a login reaches another manager, and survives a restart', async () => {
    const store = memoryStore()
    const world = await startWorld(start, { grant: 'login', account: name }, {}, { store })
    const other = createTokenManager({ source: world.source, clock: world.clock, random: () => 0, store })
    ended.push(() => other.close())
    await world.tokens.adopt(await world.server.logIn())
    const token = await world.tokens.getAccessToken()
    expect(await other.getAccessToken()).toBe(token)
    await world.tokens.close()
    await other.renew()
    expect(world.front.calls).toEqual(['refresh_token 200'])
  })
})

describe('given @node-oauth/oauth2-server with a grace period', () => {
  it('when the response to a refresh is lost, then the same refresh token is sent again within it', async () => {
    const options = { grant: 'login', reuseGraceMs: 30_000 } as const
    const world = await startWorld(startNodeOAuthServer, options, { graceMs: 60_000 })
    await world.tokens.adopt(await world.server.logIn())
    world.front.failNext('lose the answer')
    await renew(world)
    await renew(world)
    expect(world.front.calls).toEqual(['refresh_token 0', 'refresh_token 200', 'refresh_token 200'])
    expect(world.told.suspicious).toEqual([])
  })
})

describe('given oidc-provider and other kinds of clients', () => {
  it('when a client may authenticate only in the body, then post does so', async () => {
    const { tokens } = await startWorld(startOidcServer, { clientId: 'post-client', clientAuthentication: 'post' })
    expect(await tokens.getAccessToken()).toMatch(/./)
  })

  it('when a client has a key, and PrivateKeyJwt signs, then the client is accepted', async () => {
    const server = await startOidcServer(given)
    ended.push(() => server.end())
    const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
    const key = await crypto.subtle.importKey('jwk', server.privateKey, algorithm, false, ['sign'])
    const { tokenEndpoint, issuer } = server
    for (const more of [{}, { issuer }]) {
      const clientAuthentication = PrivateKeyJwt(key)
      const source = oauth2({ tokenEndpoint, clientId: 'key-client', clientAuthentication, ...more })
      const tokens = createTokenManager({ source })
      ended.push(() => tokens.close())
      expect(await tokens.getAccessToken()).toMatch(/./)
    }
  })
})
