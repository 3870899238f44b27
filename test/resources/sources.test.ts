import { describe, expect, it } from '@jest/globals'
import { createTokenManager, type ExchangeContext, memoryStore, TokenError, type TokenSource } from '../../src/index.ts'
import { person, session } from '../../src/login/index.ts'
import { loginSource } from '../../src/oauth2/login-source.ts'
import { contextText } from '../../src/oauth2/login-context.ts'
import { forResource } from '../../src/oauth2/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { failureOf, misuse } from '../service/world.ts'
import { IN_MEMORY, NO_STORE, ORDERS, STOCK, worldWith } from './world.ts'

describe('given a source of its own (F418)', () => {
  const asked: unknown[] = []
  const source = (more: Partial<TokenSource> = {}): TokenSource => ({
    id: 'own',
    login: person,
    obtain: () => Promise.reject(new Error('a person')),
    refresh: (refreshToken: string, { resource }: ExchangeContext) => {
      asked.push(resource)
      return Promise.resolve({
        accessToken: `for-${asked.length}`,
        accessLifetimeMs: 60_000,
        refreshToken: `${refreshToken}+`,
      })
    },
    ...more,
  })

  it('when it takes resources, then context.resource is what the caller named, and absent for the login', async () => {
    const login = createTokenManager({ source: source({ resources: true }) })
    await login.adopt({ refreshToken: 'r' })
    await forResource(login, { resource: [ORDERS, STOCK], scope: 'a' }).getAccessToken()
    await forResource(login, { audience: 'stock' }).getAccessToken()
    await login.getAccessToken()
    expect(asked).toEqual([{ resource: [ORDERS, STOCK], scope: 'a' }, { audience: 'stock' }, undefined])
    await login.close()
  })

  it('when Object.prototype has members that the caller did not name, then no source reads or sends them (F402)', async () => {
    const { server, open } = await worldWith(NO_STORE)
    const read: unknown[] = []
    const refresh: TokenSource['refresh'] = (refreshToken, { resource: { resource, audience } = {} }) => {
      read.push(resource, audience)
      return Promise.resolve({ accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: `${refreshToken}+` })
    }
    const own = createTokenManager({ source: source({ resources: true, refresh }) })
    const login = open()
    await Promise.all([own.adopt({ refreshToken: 'r' }), login.adopt({ refreshToken: server.login('ada') })])
    const names = ['resource', 'audience', 'scope']
    for (const name of names) Reflect.set(Object.prototype, name, 'of-the-attacker')
    try {
      for (const tokens of [own, login])
        for (const options of [{ scope: 'orders' }, { audience: 'orders' }])
          await forResource(tokens, options).getAccessToken()
    } finally {
      for (const name of names) Reflect.deleteProperty(Object.prototype, name)
    }
    expect(read).toEqual([undefined, undefined, undefined, 'orders'])
    const sent = server.requests.map((body) => names.map((name) => body.getAll(name).join()))
    expect(sent).toEqual([
      ['', '', 'orders'],
      ['', 'orders', ''],
    ])
    await Promise.all([own.close(), login.close()])
  })

  it('when its manager is closed, then a resource that is opened later is closed, too, and requests nothing', async () => {
    const { login: _, ...credentials } = source({ resources: true })
    const before = asked.length
    for (const own of [source({ resources: true }), credentials]) {
      const tokens = createTokenManager({ source: own })
      await tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r' })
      await tokens.close()
      const orders = forResource(tokens, { resource: ORDERS })
      expect(await failureOf(orders.getAccessToken())).toMatchObject({ code: 'ERR_CLOSED' })
      expect([orders.status().phase, asked.length]).toEqual(['closed', before])
    }
  })

  it.each([
    ['a rejected response without an error code', () => ({ response: { status: 400, data: {} } }), 'ERR_TOKEN_REQUEST'],
    ['that the request was wrong', () => new TokenError('ERR_TOKEN_REQUEST', 'no'), 'ERR_TOKEN_REQUEST'],
    ['that the refresh token was rejected', () => new TokenError('ERR_REFRESH_REJECTED', 'no'), 'ERR_LOGIN_REQUIRED'],
    ['that a user must log in', () => new TokenError('ERR_LOGIN_REQUIRED', 'no'), 'ERR_LOGIN_REQUIRED'],
  ])('when it throws %s for a resource, then that judges what it names (F420)', async (_, thrown, code) => {
    const served = source()
    const picky = source({
      resources: true,
      refresh: async (token, context) => {
        if (context.resource) throw thrown() as Error
        return served.refresh!(token, context)
      },
    })
    const login = createTokenManager({ source: picky, clock: manualClock() })
    await login.adopt({ refreshToken: 'r' })
    expect(await failureOf(forResource(login, { resource: ORDERS }).getAccessToken())).toMatchObject({ code })
    const own = login.getAccessToken()
    if (code === 'ERR_TOKEN_REQUEST') expect(await own).toMatch(/^for-/)
    else expect(await failureOf(own)).toMatchObject({ code })
    await login.close()
  })

  it('when it does not, or the options name nothing, then a TypeError says what to do', async () => {
    const plain = createTokenManager({ source: source() })
    const login = createTokenManager({ source: source({ resources: true }) })
    expect(misuse(() => forResource(plain, { resource: ORDERS })).message).toContain('resources: true')
    const orders = forResource(login, { resource: ORDERS })
    for (const [tokens, options, named] of [
      [orders, { resource: STOCK }, 'the manager of the login'],
      [Promise.resolve(login), { resource: STOCK }, 'await'],
      [{}, { resource: STOCK }, 'createTokenManager'],
      [login, {}, 'resource, audience or scope'],
      [login, { resource: 'orders' }, 'resource'],
      [login, { resource: `${ORDERS}#part` }, 'fragment'],
      [login, { resource: [] }, 'resource'],
      [login, { resource: [ORDERS, 7] }, 'resource'],
      [login, { audience: '' }, 'audience'],
      [login, { scope: 'a"b' }, 'scope'],
      [login, { scope: ' ' }, 'scope'],
      [login, { resources: ORDERS }, 'resource'],
      [login, undefined, 'forResource'],
    ] as const) {
      const error = misuse(() => forResource(tokens as never, options as never))
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toContain(named)
    }
    expect(['adopt', 'reset', 'logout'].filter((act) => act in orders)).toEqual([])
    await Promise.all([plain.close(), login.close()])
  })
})

describe('given a server that denies a resource (F420)', () => {
  it.each<[string, string, object]>([
    ['a text names the refresh token', 'The refresh token has been revoked', {}],
    ['the option errors says so', 'Denied', { errors: { access_denied: 'invalid_grant' } }],
    ['the function errors says so', 'Denied', { errors: () => 'invalid_grant' }],
  ])('when %s, then access_denied ends the login (F406)', async (_, error_description, options) => {
    const { server, open } = await worldWith(NO_STORE)
    const login = open(options)
    await login.adopt({ refreshToken: server.login('ada') })
    server.refuses = () => ({ status: 400, error: 'access_denied', error_description })
    const failure = await failureOf(forResource(login, { resource: ORDERS }).getAccessToken())
    expect(failure).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', serviceCode: 'access_denied' })
    expect(login.status().login).toBe('required')
  })

  it('when it denies the client under 401, then that judges the client', async () => {
    const { server, open } = await worldWith(NO_STORE)
    const login = open({ clientSecret: 'a secret' })
    await login.adopt({ refreshToken: server.login('ada') })
    server.refuses = () => ({ status: 401, error: 'access_denied' })
    const failure = await failureOf(forResource(login, { resource: ORDERS }).getAccessToken())
    expect(failure).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
  })
})

describe('given a session whose resources have a record each', () => {
  it.each([NO_STORE, IN_MEMORY])(
    'when the service rejects the session, and $name keeps it, then each manager asks again after 10 s, and gets the token of the next user (F420)',
    async (place) => {
      const clock = manualClock()
      let user: string | undefined = 'ada'
      const asked: (string | undefined)[] = []
      const obtain: TokenSource['obtain'] = async ({ resource }) => {
        asked.push(resource?.audience)
        if (!user) throw new TokenError('ERR_CREDENTIALS_REJECTED', 'no session', { status: 401 })
        return { accessToken: `${user}-${asked.length}`, accessLifetimeMs: 60_000, subject: user }
      }
      const store = place === IN_MEMORY ? memoryStore() : undefined
      const own: TokenSource = { id: 'page', login: session, resources: true, obtain }
      const tokens = createTokenManager({ source: own, store, storeKey: 'page', clock, random: () => 0 })
      const apis = [tokens, forResource(tokens, { audience: 'orders' })]
      for (const api of apis) expect(await api.getAccessToken()).toMatch(/^ada/)
      user = undefined
      await clock.advance(130_000)
      for (const api of apis)
        expect(await failureOf(api.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
      asked.length = 0
      await clock.advance(11_000)
      user = 'bob'
      for (const api of apis) expect(await api.getAccessToken()).toMatch(/^bob/)
      expect(asked).toEqual([undefined, 'orders'])
      await tokens.close()
    },
  )
})

describe('given credentials of a client, whose resources have a record each', () => {
  it('when onSuspicious stops one of them, or their manager, then the others keep their tokens, and reset() ends each stop', async () => {
    let issued = 0
    const obtain = async () => {
      issued += 1
      return { accessToken: `a${issued}`, accessLifetimeMs: 60_000, refreshToken: `r${issued}`, refreshLifetimeMs: 6e6 }
    }
    const refresh = () => Promise.reject(new TokenError('ERR_REFRESH_REJECTED', 'used', { outcome: 'rejected' }))
    const own: TokenSource = { id: 'own', resources: true, obtain, refresh }
    const tokens = createTokenManager({ source: own, clock: manualClock(), onSuspicious: 'stop' })
    const apis = [forResource(tokens, { resource: ORDERS }), tokens, forResource(tokens, { resource: STOCK })]
    await Promise.all(apis.map((api) => api.getAccessToken()))
    const kept = apis.map((api) => api.peekAccessToken())
    for (const [n, api] of apis.slice(0, 2).entries()) {
      expect(await failureOf(api.renew())).toMatchObject({ code: 'ERR_SUSPICIOUS_REFRESH_TOKEN' })
      expect(apis.map((one) => one.peekAccessToken())).toEqual(kept.map((token, at) => (at > n ? token : undefined)))
    }
    expect(apis.map((api) => api.status().phase)).toEqual(['stopped', 'stopped', 'fresh'])
    await tokens.reset()
    for (const api of apis) expect(await api.getAccessToken()).toMatch(/^a/)
    await tokens.close()
  })
})

describe('given the login of an MCP server, whose authorization server has another resource (F425)', () => {
  it('when both are used, then each has a token, from one refresh token', async () => {
    const { server, clock } = await worldWith(NO_STORE)
    const source = loginSource({
      ...{
        id: 'mcp',
        account: 'one',
        allowInsecureHttp: false,
        logIn: 'log in',
        onUnknownClient: () => undefined,
        option: 'provider',
      },
      findServer: (context) => Promise.resolve(context),
    })
    const login = createTokenManager({ source, clock, random: () => 0 })
    const context = contextText({
      clientId: 'app',
      issuer: server.origin,
      tokenEndpoint: `${server.origin}/token`,
      resource: ORDERS,
    })
    await login.adopt({ refreshToken: server.login('ada'), context })
    expect(server.whatIs(await login.getAccessToken())?.what).toBe(ORDERS)
    expect(server.whatIs(await forResource(login, { resource: STOCK }).getAccessToken())?.what).toBe(STOCK)
    expect(server.whatIs(await forResource(login, { audience: 'third' }).getAccessToken())?.what).toBe('third')
    expect(server.reuses).toBe(0)
    await login.close()
  })
})
