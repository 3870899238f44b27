import { describe, expect, it } from '@jest/globals'
import { type AdoptedGrant, createTokenManager, isTokenError, memoryStore, TokenError } from '../../src/index.ts'
import { mcpLogin } from '../../src/mcp/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { AGENTS } from './agents.ts'
import { agentAt, caught, connected, finish, loggedIn, loginAt, startWorld } from './login-world.ts'
import { KeepingProvider, Provider } from './provider.ts'
import { person } from '../../src/login/index.ts'

describe.each(AGENTS)('given %s without a login (F316, F320)', (_, agentOf, path) => {
  it('when it connects, then the page of the SDK is opened once, and after finishAuth its calls succeed', async () => {
    const world = await startWorld({ path })
    const login = loginAt(world)
    const agent = await loggedIn(world, login, agentOf)
    expect(await agent.call('whoami')).toBe('you')
    expect([login.provider.pages.length, world.counts.registrations]).toEqual([1, 1])
    expect(login.tokens.status()).toMatchObject({ login: 'present', phase: 'fresh' })
  })

  it('when the server rejects its access token, then the manager refreshes once, and its stream and session continue', async () => {
    const world = await startWorld({ path })
    const login = loginAt(world)
    const agent = await loggedIn(world, login, agentOf)
    world.expireAccess()
    expect(await agent.call('whoami')).toBe('you')
    expect(world.counts).toMatchObject({ refreshes: 1, reuses: 0, codes: 1 })
    expect(login.provider.pages).toHaveLength(1)
  })

  it('when the grant is revoked, then the login of the SDK opens once, and succeeds (F318)', async () => {
    const world = await startWorld({ path })
    const login = loginAt(world)
    const agent = await loggedIn(world, login, agentOf)
    world.revokeAll()
    expect(String(await caught(agent.call('whoami')))).toMatch(/Unauthorized/)
    await finish(world, login, agent)
    expect(await agent.call('whoami')).toBe('you')
    expect([login.provider.pages.length, world.counts.registrations]).toEqual([2, 1])
  })
})

describe.each(AGENTS.slice(0, 2))('given %s with a login', (_, agentOf) => {
  it('when a tool requires another scope, then the step-up of the SDK runs (F318)', async () => {
    const world = await startWorld()
    const login = loginAt(world)
    const agent = await loggedIn(world, login, agentOf)
    expect(String(await caught(agent.call('admin')))).toMatch(/Unauthorized/)
    expect(login.provider.pages.at(-1)!.searchParams.get('scope')).toContain('admin')
    await finish(world, login, agent)
    expect([await agent.call('admin'), world.counts.refreshes]).toEqual(['admin', 0])
  })

  it('when its session has an open event stream, then both continue while the token is renewed (F320)', async () => {
    const world = await startWorld({ hasSessions: true })
    const clock = manualClock()
    const login = loginAt(world, { manager: { clock } })
    const agent = await loggedIn(world, login, agentOf)
    const [id, session] = [...world.sessions][0]!
    const { heard } = agent
    for (const word of ['first', 'second']) {
      world.expireAccess()
      expect(await agent.call('whoami')).toBe('you')
      await session.server.server.sendLoggingMessage({ level: 'info', data: word })
      while (heard.at(-1) !== word) await new Promise((resolve) => setImmediate(resolve))
      // Past the gap between two renewals, a tenth of the lifetime.
      await clock.advance(361_000)
    }
    expect(heard).toEqual(['first', 'second'])
    expect([world.sessions.size, world.counts.refreshes, login.provider.pages.length]).toEqual([1, 2, 1])
    const ofSession = world.requests.filter(({ session }) => session !== undefined)
    expect(new Set(ofSession.map((request) => request.session))).toEqual(new Set([id]))
    // One stream, opened with the first token. The calls carried the later ones.
    expect(ofSession.filter(({ method }) => method === 'GET')).toHaveLength(1)
    expect(new Set(ofSession.filter(({ status }) => status === 200).map(({ token }) => token)).size).toBe(3)
  })

  it('when the server redirects to another path of its origin, then that path receives the token, too', async () => {
    const world = await startWorld({ redirectsFrom: '/old' })
    const login = loginAt(world)
    const agent = await loggedIn(world, login, agentOf)
    expect([await agent.call('whoami'), login.provider.pages.length]).toEqual(['you', 1])
  })
})

describe('given a login, and a failing authorization server', () => {
  async function failing() {
    const world = await startWorld()
    const clock = manualClock()
    const login = loginAt(world, { manager: { clock, random: () => 0, retry: { maxAttempts: 1 } } })
    const agent = await loggedIn(world, login)
    return { world, clock, login, agent, pages: login.provider.pages }
  }

  it('when it returns 503, then the call rejects with the time of the next attempt, no page opens, and a later call succeeds (F318)', async () => {
    const { world, clock, agent, pages } = await failing()
    world.expireAccess()
    world.control.failures.push(503)
    const error = await caught(agent.call('whoami'))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', retryAt: clock.wallNow() + 5_000 })
    expect(await caught(agent.call('whoami'))).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
    await clock.advance(5_000)
    expect([await agent.call('whoami'), pages.length, world.counts.refreshes]).toEqual(['you', 1, 1])
  })

  it('when the server rejects the new token, too, then the call rejects until the next renewal is allowed, and no page opens (F318)', async () => {
    const { world, clock, agent, pages } = await failing()
    world.control.refusesAll = true
    const error = await caught(agent.call('whoami'))
    expect(error).toMatchObject({ code: 'ERR_REPLACED_TOO_SOON', retryAt: expect.any(Number) })
    expect(world.counts.refreshes).toBe(1)
    world.control.refusesAll = false
    world.expireAccess()
    await clock.advance((error as TokenError).retryAt! - clock.wallNow())
    expect([await agent.call('whoami'), pages.length]).toEqual(['you', 1])
  })
})

describe('given several clients of one process that get a 401 at once (F322)', () => {
  it('when no user has logged in, then one page is opened, and all clients work after the login', async () => {
    const world = await startWorld()
    const login = loginAt(world)
    const agents = Array.from({ length: 5 }, () => agentAt(world, login))
    const unserved: typeof agents = []
    let told = (): void => undefined
    const first = new Promise<void>((resolve) => (told = resolve))
    const all = agents.map((agent) =>
      agent.connect().catch((error: unknown) => {
        expect(String(error)).toMatch(/Unauthorized/)
        unserved.push(agent)
        told()
      }),
    )
    await first
    while (world.requests.length < 5) await new Promise((resolve) => setImmediate(resolve))
    await finish(world, login, unserved[0]!)
    await Promise.all(all)
    expect(await Promise.all(agents.map((agent) => agent.call('whoami')))).toEqual(Array(5).fill('you'))
    expect([unserved.length, login.provider.pages.length, world.counts.registrations]).toEqual([1, 1, 1])
  })

  it("when the login is not finished within one caller's wait limit, then the others reject, and no second page opens (F394)", async () => {
    const world = await startWorld()
    const clock = manualClock()
    const login = loginAt(world, { manager: { clock, renewal: { maxWaitMs: 3_000 } } })
    const agents = [agentAt(world, login), agentAt(world, login)]
    const ended = agents.map((agent) => caught(agent.connect()))
    while (world.requests.length < 2) await new Promise((resolve) => setImmediate(resolve))
    await Promise.race(ended)
    for (let n = 0; n < 4; n += 1) await clock.advance(1_000)
    const said = (await Promise.all(ended)) as { code?: unknown }[]
    expect(said.map(({ code }) => code)).toEqual(expect.arrayContaining(['ERR_LOGIN_REQUIRED']))
    expect(said.map(String)).toEqual(expect.arrayContaining([expect.stringMatching(/Unauthorized/)]))
    expect(login.provider.pages).toHaveLength(1)
  })

  it('when the access token has expired, then they share one refresh (F315)', async () => {
    const world = await startWorld()
    const login = loginAt(world)
    const agents = [await loggedIn(world, login), ...Array.from({ length: 4 }, () => agentAt(world, login))]
    for (const agent of agents.slice(1)) await connected(world, agent)
    world.expireAccess()
    expect(await Promise.all(agents.map((agent) => agent.call('whoami')))).toEqual(Array(5).fill('you'))
    expect(world.counts).toMatchObject({ refreshes: 1, reuses: 0 })
  })
})

describe('given a server and an authorization server of one origin (F317)', () => {
  it('when a user logs in, steps up and logs out, and the token is refreshed, then only requests to the server carry the token', async () => {
    const world = await startWorld({ oneOrigin: true })
    const seen: [path: string, authorization: string | null][] = []
    const login = loginAt(world, {
      fetch: (input, init) => {
        const { pathname } = new URL(input instanceof Request ? input.url : input)
        seen.push([pathname, new Headers(init?.headers).get('authorization')])
        return fetch(input, init)
      },
    })
    const agent = await loggedIn(world, login)
    // With a login, the SDK calls the authorization server once more.
    await caught(agent.call('admin'))
    await finish(world, login, agent)
    world.expireAccess()
    await agent.call('whoami')
    await login.tokens.logout()
    expect(world.calls.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['resource', 'metadata', 'register', 'authorization_code', 'refresh_token', 'revoke']),
    )
    expect(world.calls.filter(({ authorization }) => authorization !== undefined)).toEqual([])
    expect(seen.filter(([path, authorization]) => path !== '/mcp' && authorization !== null)).toEqual([])
    expect(seen.some(([path, authorization]) => path === '/mcp' && authorization !== null)).toBe(true)
  })
})

describe('given two processes that share a store', () => {
  it('when one of them has logged in, then the other works without a page, although it had no login before', async () => {
    const world = await startWorld()
    const store = memoryStore()
    const clock = manualClock()
    const [one, other] = [loginAt(world, { store, manager: { clock } }), loginAt(world, { store, manager: { clock } })]
    expect(await caught(other.tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    await loggedIn(world, one)
    await clock.advance(1_000)
    const agent = agentAt(world, other)
    await agent.connect()
    expect([await agent.call('whoami'), other.provider.pages]).toEqual(['you', []])
  })

  it('when the other one has registered another client, then the login is refreshed and revoked with its own client (F319)', async () => {
    const world = await startWorld()
    world.control.authMethods = ['client_secret_basic']
    const store = memoryStore()
    const clock = manualClock()
    const [one, other] = [loginAt(world, { store, manager: { clock } }), loginAt(world, { store, manager: { clock } })]
    await caught(agentAt(world, other).connect())
    const before = other.provider.clientInformation()
    expect(before).toMatchObject({ client_id: expect.any(String) })
    await loggedIn(world, one)
    await one.login.close()
    await clock.advance(31_000)
    world.expireAccess()
    const agent = agentAt(world, other)
    await agent.connect()
    expect(await agent.call('whoami')).toBe('you')
    expect([world.counts.registrations, world.counts.refreshes]).toEqual([2, 1])
    expect(await other.tokens.logout()).toMatchObject({ revoked: true })
    expect(world.counts.revocations).toBe(1)
    const { client_id: id } = one.provider.clientInformation() as { client_id: string }
    const headers = world.calls.filter(({ what }) => /refresh|revoke/.test(what)).map((call) => call.authorization!)
    expect(headers.map((header) => atob(header.slice(6)).split(':')[0])).toEqual([id, id])
    expect(other.provider.clientInformation()).toBe(before)
  })

  it('when the user logs out, then the login of the SDK opens at the next request, with the old tokens revoked (F318)', async () => {
    const world = await startWorld()
    const login = loginAt(world)
    const agent = await loggedIn(world, login)
    expect(await login.tokens.logout()).toMatchObject({ revoked: true })
    expect(String(await caught(agent.call('whoami')))).toMatch(/Unauthorized/)
    expect([world.counts.revocations, login.provider.pages.length]).toEqual([1, 2])
  })
})

describe('given credentials that the SDK invalidates', () => {
  it.each([
    ['tokens', []],
    ['all', ['client', 'verifier']],
    ['client', ['client']],
    ['discovery', ['discovery']],
  ])('when the scope is %s, then the login stays, and the provider receives %j', async (scope, told) => {
    const world = await startWorld()
    const login = loginAt(world)
    const agent = await loggedIn(world, login)
    const { authProvider } = login.login.transport as {
      authProvider: { tokens(): Promise<unknown>; invalidateCredentials(scope: string): Promise<void> }
    }
    await authProvider.invalidateCredentials(scope)
    expect(login.provider.invalidated).toEqual(told)
    expect(await authProvider.tokens()).toBeUndefined()
    expect(await agent.call('whoami')).toBe('you')
  })
})

describe('given a client that the authorization server has forgotten', () => {
  it('when its token is refreshed, then the SDK registers again, and its login opens once', async () => {
    const world = await startWorld()
    const login = loginAt(world)
    const agent = await loggedIn(world, login)
    world.forgetClients()
    world.expireAccess()
    expect(String(await caught(agent.call('whoami')))).toMatch(/Unauthorized/)
    await finish(world, login, agent)
    expect([await agent.call('whoami'), login.provider.pages.length, world.counts.registrations]).toEqual(['you', 2, 2])
  })
})

describe('given the authentication method of a client', () => {
  it.each([
    [['client_secret_basic'], /^Basic /, false],
    [['client_secret_post'], undefined, true],
    [['none'], undefined, false],
  ])('when the metadata contain %j, then a refresh uses that method', async (authMethods, header, hasSecret) => {
    const world = await startWorld()
    world.control.authMethods = authMethods
    const login = loginAt(world)
    const agent = await loggedIn(world, login)
    world.expireAccess()
    expect(await agent.call('whoami')).toBe('you')
    const { authorization, body } = world.calls.find(({ what }) => what === 'refresh_token')!
    expect(authorization).toEqual(header && expect.stringMatching(header))
    expect([body.has('client_secret'), body.get('resource')]).toEqual([hasSecret, `${world.origin}/mcp`])
  })

  it('when the provider has a custom method, then a refresh uses that method', async () => {
    const world = await startWorld()
    const provider = Object.assign(new KeepingProvider(), {
      addClientAuthentication(_: Headers, body: URLSearchParams, url: string) {
        body.set('client_id', (provider.clientInformation() as { client_id: string }).client_id)
        body.set('signed_for', url)
      },
    })
    const login = loginAt(world, { provider })
    const agent = await loggedIn(world, login)
    world.expireAccess()
    expect(await agent.call('whoami')).toBe('you')
    const { body } = world.calls.find(({ what }) => what === 'refresh_token')!
    expect(body.get('signed_for')).toBe(`${world.issuer}/token`)
  })
})

describe('given a provider that stores no discovery', () => {
  it('when a user has logged in, then our own discovery finds the token endpoint', async () => {
    const world = await startWorld()
    const login = loginAt(world, { provider: new Provider() })
    const agent = await loggedIn(world, login)
    const asked = () => world.calls.filter(({ what }) => /resource|metadata/.test(what)).length
    const before = asked()
    world.expireAccess()
    expect([await agent.call('whoami'), asked() - before]).toEqual(['you', 0])
    expect(world.calls.find(({ what }) => what === 'refresh_token')!.body.get('resource')).toBe(`${world.origin}/mcp`)
  })

  it('when its metadata name another issuer, then finishAuth rejects, and nothing is stored', async () => {
    const world = await startWorld()
    let isOdd = false
    const login = loginAt(world, {
      provider: new Provider(),
      fetch: async (input, init) =>
        isOdd && typeof input === 'string' && input.includes('/.well-known/oauth-authorization-server')
          ? Response.json({ issuer: 'https://id.example.com' })
          : fetch(input, init),
    })
    const agent = agentAt(world, login)
    await caught(agent.connect())
    const code = await world.agree(login.provider.pages[0]!)
    const { authProvider } = login.login.transport as { authProvider: Provider }
    isOdd = true
    const error = await caught((authProvider.saveTokens as (answer: object) => Promise<void>)({ access_token: code }))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST' })
    expect(String(error)).not.toContain(code)
    expect(login.tokens.status().login).toBe('required')
  })
})

describe('given two requests of a login that the server ends', () => {
  it('when they are rejected at once, then one opens the page, and the other rejects without a token of the next login', async () => {
    const world = await startWorld()
    const login = loginAt(world)
    const agent = await loggedIn(world, login)
    world.revokeAll()
    const ended = await Promise.all([caught(agent.call('whoami')), caught(agent.call('whoami'))])
    expect(ended.map(String).sort()).toEqual([
      expect.stringMatching(/Unauthorized/),
      expect.stringMatching(/The login of this request has ended/),
    ])
    expect(login.provider.pages).toHaveLength(2)
    await finish(world, login, agent)
    expect(await agent.call('whoami')).toBe('you')
  })
})

describe('given tokens that another program stored', () => {
  const LOGIN: AdoptedGrant = { accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r' }
  /** Whether a newer program can still refresh the login. */
  async function isKept(store: ReturnType<typeof memoryStore>, id: string, clock: ReturnType<typeof manualClock>) {
    const source = {
      ...{ id, login: person },
      obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'Log in')),
      refresh: async () => ({ accessToken: 'b', accessLifetimeMs: 60_000 }),
    }
    await clock.advance(60_000)
    return (await createTokenManager({ source, store, clock }).getAccessToken()) === 'b'
  }

  it.each([
    undefined,
    '',
    'no JSON',
    '{}',
    '{"release":1}',
    '{"release":1,"tokenEndpoint":"http://id.example.com","clientId":"c"}',
  ])('when their context is %j, then a login is required, and nothing is sent', async (context) => {
    const world = await startWorld()
    const login = loginAt(world)
    await login.tokens.adopt({ ...LOGIN, accessLifetimeMs: 0, context })
    const error = await caught(login.tokens.getAccessToken())
    expect(error).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', message: expect.stringContaining('log in through') })
    expect(world.calls).toEqual([])
    expect(String(await caught(agentAt(world, login).connect()))).toMatch(/Unauthorized/)
    expect(login.provider.pages).toHaveLength(1)
  })

  it('when a newer release stored them, then the error says so, and the newer release can still refresh', async () => {
    const world = await startWorld()
    const [store, clock] = [memoryStore(), manualClock()]
    const login = loginAt(world, { store, manager: { clock } })
    await login.tokens.adopt({ ...LOGIN, accessLifetimeMs: 0, context: '{"release":2}' })
    const error = await caught(login.tokens.getAccessToken())
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SOURCE', message: expect.stringContaining('update this process') })
    expect(await isKept(store, `mcp ["${world.serverUrl.href}","default"]`, clock)).toBe(true)
  })
})

describe('given invalid options', () => {
  const good = { serverUrl: 'https://tools.example.com/mcp', provider: new Provider() }
  it.each([
    [{ serverUrl: 'http://tools.example.com/mcp' }, /^serverUrl must be https/],
    [{ serverUrl: 'https://tools.example.com/mcp#top' }, /^serverUrl must have no fragment/],
    [{ serverUrl: undefined }, /^serverUrl must be a URL, got undefined/],
    [{ provider: undefined }, /^provider must be an object, got undefined/],
    [{ provider: { token: async () => 'a' } }, /^provider.clientInformation must be a function, got undefined/],
    [{ provider: Object.assign(new Provider(), { dpop: () => ({}) }) }, /^provider.dpop must be absent/],
    [{ store: new Map() }, /store/],
    [{ account: '' }, /^account must not be empty/],
    [{ fetch: 'fetch' }, /^fetch must be a function/],
    [{ manager: { source: {} } }, /^manager: there is no 'source', use renewal/],
    [{ allowInsecureHttp: 1 }, /^allowInsecureHttp must be true or false/],
    [{ server: 'https://tools.example.com' }, /^The options of mcpLogin: there is no 'server', use serverUrl/],
  ])('when they are %j, then a TypeError names the option', (wrong, message) => {
    expect(() => mcpLogin({ ...good, ...wrong } as never)).toThrow(TypeError)
    expect(() => mcpLogin({ ...good, ...wrong } as never)).toThrow(message)
  })

  it('when plain http is allowed, then the server may use it', async () => {
    const login = mcpLogin({ ...good, serverUrl: 'http://tools.example.com/mcp', allowInsecureHttp: true })
    expect(isTokenError(await caught(login.tokens.getAccessToken()), 'ERR_LOGIN_REQUIRED')).toBe(true)
    await login.close()
  })
})
