import { expect, it } from '@jest/globals'
import { inspect } from 'node:util'
import { isTokenError } from '../../src/index.ts'
import { challengeOf, forResource } from '../../src/oauth2/index.ts'
import { failureOf } from '../service/world.ts'
import { NO_STORE, ORDERS, type Place, STOCK, worldWith } from './world.ts'

/** What must hold for a login with two APIs, wherever its record is. */
export function promisesOfLogin(place: Place): void {
  it('when 120 requests are made over 40 lifetimes, then each has a token for its API, and each refresh token is presented once (F418)', async () => {
    const { server, open, pass } = await worldWith(place)
    const login = open()
    await login.adopt({ refreshToken: server.login('ada') })
    const apis = [login, forResource(login, { resource: ORDERS }), forResource(login, { resource: STOCK })]
    const whats = ['login', ORDERS, STOCK]
    let served = 0
    for (let n = 0; n < 40; n += 1) {
      const tokens = await Promise.all(apis.map((api) => api.getAccessToken()))
      for (const [at, token] of tokens.entries()) {
        expect(server.whatIs(token)).toEqual({ what: whats[at], user: 'ada', isEnded: false })
        served += 1
      }
      await pass(60_000)
    }
    expect(served).toBe(120)
    expect([server.reuses, server.mostInFlight]).toEqual([0, 1])
    expect(login.status().login).toBe('present')
  })

  it('when two audiences are requested at once, then one exchange follows the other, under one lease (F418)', async () => {
    const { server, open } = await worldWith(place)
    const login = open()
    await login.adopt({ refreshToken: server.login('ada') })
    const audiences = ['one', 'two', 'three'].map((audience) => forResource(login, { audience }))
    const tokens = await Promise.all(audiences.map((api) => api.getAccessToken()))
    expect(tokens.map((token) => server.whatIs(token)?.what)).toEqual(['one', 'two', 'three'])
    expect([server.reuses, server.mostInFlight]).toEqual([0, 1])
  })

  it('when a server tells tokens apart by scope alone, then each has its own (F418)', async () => {
    const { server, open } = await worldWith(place)
    const login = open({ scope: 'openid' })
    await login.adopt({ refreshToken: server.login('ada') })
    const read = forResource(login, { scope: 'orders:read' })
    const write = forResource(login, { scope: 'orders:write orders:read' })
    expect(forResource(login, { scope: 'orders:read orders:write' })).toBe(write)
    expect(server.whatIs(await read.getAccessToken())?.what).toBe('orders:read')
    expect(server.whatIs(await write.getAccessToken())?.what).toBe('orders:write orders:read')
    expect(server.whatIs(await login.getAccessToken())?.what).toBe('openid')
  })

  it.each([{ status: 503, body: '{}' }, 'refused'] as const)(
    'when the second of two exchanges meets %j, then the rotation of the first one stays, and nothing is lost (F419)',
    async (fault) => {
      const { server, open, pass } = await worldWith(place)
      const login = open()
      await login.adopt({ refreshToken: server.login('ada') })
      const orders = forResource(login, { resource: ORDERS })
      const stock = forResource(login, { resource: STOCK })
      const first = await orders.getAccessToken()
      server.faults.push(fault)
      const waiting = stock.getAccessToken().catch((error: unknown) => error)
      await pass(3_000)
      expect(server.whatIs((await waiting) as string)?.what).toBe(STOCK)
      expect(await orders.getAccessToken()).toBe(first)
      expect([server.reuses, login.status().login]).toEqual([0, 'present'])
    },
  )

  it('when the response to the second exchange is lost, then the login is in doubt as without resources, and the first token serves on (F419)', async () => {
    const { server, open, pass } = await worldWith(place)
    const login = open()
    await login.adopt({ refreshToken: server.login('ada') })
    const orders = forResource(login, { resource: ORDERS })
    const first = await orders.getAccessToken()
    server.faults.push('lost')
    const waiting = forResource(login, { resource: STOCK })
      .getAccessToken()
      .catch((error: unknown) => error)
    await pass(6_000)
    expect(isTokenError(await waiting)).toBe(true)
    expect(orders.peekAccessToken()).toBe(first)
  })

  it.each([
    [200, 'invalid_target'],
    [400, 'invalid_target'],
    [401, 'invalid_target'],
    [403, 'invalid_target'],
    [400, 'access_denied'],
    [403, 'access_denied'],
    [400, 'invalid_scope'],
    [401, 'invalid_scope'],
  ])(
    'when one resource is refused with %i %s, then it rests and says so, and the others go on (F420)',
    async (status, error) => {
      const { server, open, pass } = await worldWith(place)
      const login = open()
      await login.adopt({ refreshToken: server.login('ada') })
      server.refuses = (body) => (body.get('resource') === STOCK ? { status, error } : undefined)
      const orders = forResource(login, { resource: ORDERS })
      const stock = forResource(login, { resource: STOCK, scope: 'stock:read' })
      const failure = await failureOf(stock.getAccessToken())
      expect(failure).toMatchObject({ code: 'ERR_TOKEN_REQUEST', serviceCode: error, status })
      expect(failure.message).toContain(error)
      const asked = server.requests.length
      for (let n = 0; n < 50; n += 1) await failureOf(stock.getAccessToken())
      expect(server.requests.length).toBe(asked)
      expect(stock.status()).toMatchObject({ phase: 'cooling-down', lastError: 'ERR_TOKEN_REQUEST' })
      for (let n = 0; n < 5; n += 1) {
        expect(server.whatIs(await orders.getAccessToken())?.what).toBe(ORDERS)
        expect(server.whatIs(await login.getAccessToken())?.what).toBe('login')
        await pass(60_000)
        await failureOf(stock.getAccessToken())
      }
      expect([server.reuses, login.status().login]).toEqual([0, 'present'])
      server.refuses = () => undefined
      await pass(61_000)
      expect(server.whatIs(await stock.getAccessToken())?.what).toContain(STOCK)
    },
  )

  it.each([
    [400, 'invalid_request', 'public'],
    [400, 'unknown_word', 'public'],
    [401, undefined, 'public'],
    [401, undefined, 'secret'],
    [403, 'unknown_word', 'secret'],
    [404, undefined, 'secret'],
    [200, undefined, 'public'],
  ])(
    'when one resource is refused with %i %s to a %s client for 15 minutes, then the login and the others are served (F203, F420)',
    async (status, error, client) => {
      const { server, open, pass } = await worldWith(place)
      const login = open(client === 'secret' ? { clientSecret: 'a secret' } : {})
      await login.adopt({ refreshToken: server.login('ada') })
      server.refuses = (body) => (body.get('resource') === STOCK ? { status, error } : undefined)
      const orders = forResource(login, { resource: ORDERS })
      const stock = forResource(login, { resource: STOCK })
      for (let n = 0; n < 6; n += 1) {
        const failure = await failureOf(stock.getAccessToken())
        expect(failure).toMatchObject({ code: 'ERR_TOKEN_REQUEST', status })
        expect(inspect(failure)).not.toContain('login is required')
        expect(server.whatIs(await orders.getAccessToken())?.what).toBe(ORDERS)
        expect(server.whatIs(await login.getAccessToken())?.what).toBe('login')
        await pass(150_000)
      }
      expect([server.reuses, login.status().login]).toEqual([0, 'present'])
    },
  )

  it.each(['invalid_client', 'unauthorized_client'])(
    'when one resource is refused with %s, then that judges the client, and no other resource is requested meanwhile (F420)',
    async (error) => {
      const { server, open } = await worldWith(place)
      const login = open()
      await login.adopt({ refreshToken: server.login('ada') })
      server.refuses = (body) => (body.get('resource') === STOCK ? { status: 400, error } : undefined)
      for (const resource of [STOCK, ORDERS])
        expect(await failureOf(forResource(login, { resource }).getAccessToken())).toMatchObject({
          code: 'ERR_CREDENTIALS_REJECTED',
        })
      expect(server.requests.length).toBe(1)
    },
  )

  it('when the service fails for one resource alone, and that one asks first, then the others are served between its attempts (F420)', async () => {
    const { server, open, pass } = await worldWith(place)
    const login = open()
    await login.adopt({ refreshToken: server.login('ada') })
    server.refuses = (body) => (body.get('resource') === STOCK ? { status: 503, error: 'later' } : undefined)
    const apis = [STOCK, ORDERS].map((resource) => forResource(login, { resource }))
    const served = [0, 0, 0]
    for (let n = 0; n < 300; n += 1) {
      for (const [at, api] of [...apis, login].entries())
        api.getAccessToken().then(
          () => (served[at]! += 1),
          () => undefined,
        )
      await pass(1_000)
    }
    expect(served.map((count) => count >= 240)).toEqual([false, true, true])
    expect(server.reuses).toBe(0)
  })

  it('when a refresh with the scope of a resource is refused, then it is tried without it (F420)', async () => {
    const { server, open } = await worldWith(place)
    const login = open()
    await login.adopt({ refreshToken: server.login('ada') })
    server.refuses = (body) => (body.has('scope') ? { status: 400, error: 'invalid_scope' } : undefined)
    const stock = forResource(login, { resource: STOCK, scope: 'stock:read' })
    expect(server.whatIs(await stock.getAccessToken())?.what).toBe(STOCK)
    expect(server.requests.map((body) => body.get('scope'))).toEqual(['stock:read', null])
  })

  it.each(['logout', 'reset', 'adopt'] as const)(
    'when %s ends the login, then no living token of any resource is sent after the call, and the next login is served (F421)',
    async (act) => {
      const { server, open } = await worldWith(place)
      const login = open()
      await login.adopt({ refreshToken: server.login('ada'), subject: 'ada' })
      const apis = [login, forResource(login, { resource: ORDERS }), forResource(login, { resource: STOCK })]
      await Promise.all(apis.map((api) => api.getAccessToken()))
      expect(apis.map((api) => api.peekAccessToken() !== undefined)).toEqual([true, true, true])
      const bob = { refreshToken: server.login('bob'), subject: 'bob' }
      const done = act === 'adopt' ? login.adopt(bob) : login[act]()
      expect(apis.map((api) => api.peekAccessToken())).toEqual([undefined, undefined, undefined])
      const early = apis.map((api) => api.getAccessToken().catch((error: unknown) => error))
      await done
      if (act !== 'adopt') await login.adopt(bob)
      const answers = await Promise.all(early)
      for (const answer of answers)
        if (typeof answer === 'string') expect(server.whatIs(answer)?.user).toBe('bob')
        else expect(answer).toMatchObject({ code: act === 'adopt' ? 'ERR_LOGIN_REPLACED' : 'ERR_LOGIN_REQUIRED' })
      for (const api of apis) expect(server.whatIs(await api.getAccessToken())?.user).toBe('bob')
      expect(server.reuses).toBe(0)
      expect(server.revocations).toBe(act === 'reset' ? 0 : 1)
    },
  )

  it.each(['logout', 'adopt'] as const)(
    'when only a resource has renewed since the login began, then %s revokes the refresh token of that renewal (F281, F421)',
    async (act) => {
      const { server, open, quiet } = await worldWith(place)
      const login = open()
      await login.adopt({ refreshToken: server.login('ada'), subject: 'ada' })
      await forResource(login, { resource: ORDERS }).getAccessToken()
      const { newest } = server
      await (act === 'logout' ? login.logout() : login.adopt({ refreshToken: server.login('bob'), subject: 'bob' }))
      await quiet()
      await login.settled()
      expect(server.revoked).toEqual([newest])
    },
  )

  it('when a resource waits while the login ends, then its caller gets no token of the next login (F421)', async () => {
    const { server, open } = await worldWith(place)
    const login = open()
    await login.adopt({ refreshToken: server.login('ada'), subject: 'ada' })
    const orders = forResource(login, { resource: ORDERS })
    let release = () => undefined as unknown
    server.onRequest = () => new Promise((resolve) => (release = () => resolve(undefined)))
    const waiting = failureOf(orders.getAccessToken())
    await new Promise((resolve) => setTimeout(resolve, 50))
    const loggedOut = login.logout()
    server.onRequest = () => undefined
    release()
    expect(await waiting).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect(await loggedOut).toEqual({ revoked: true })
    expect(server.revocations).toBe(1)
    await login.adopt({ refreshToken: server.login('bob'), subject: 'bob' })
    expect(server.whatIs(await orders.getAccessToken())?.user).toBe('bob')
  })

  it('when the refresh token is refused, then all resources end with the login, and living tokens serve until they expire (F421)', async () => {
    const { server, open, pass } = await worldWith(place)
    const login = open()
    await login.adopt({ refreshToken: server.login('ada') })
    const apis = [login, forResource(login, { resource: ORDERS }), forResource(login, { resource: STOCK })]
    const tokens = await Promise.all(apis.map((api) => api.getAccessToken()))
    server.refuses = () => ({ status: 400, error: 'invalid_grant' })
    expect(await failureOf(forResource(login, { audience: 'new' }).getAccessToken())).toMatchObject({
      code: 'ERR_LOGIN_REQUIRED',
    })
    expect(apis.map((api) => api.peekAccessToken())).toEqual(tokens)
    const asked = server.requests.length
    await pass(61_000)
    for (const api of apis) expect(await failureOf(api.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect(server.requests.length - asked).toBeLessThanOrEqual(0)
    expect(login.status()).toMatchObject({ login: 'required', loginReason: 'refused' })
  })

  it.each(['interaction_required', 'invalid_grant'])(
    'when the refresh of one resource is rejected with %s, then all report the reason of that response, and the login the suspicion, once (F409, F424)',
    async (error) => {
      const { server, open, pass } = await worldWith(place)
      const login = open()
      const orders = forResource(login, { resource: ORDERS })
      const told: unknown[] = []
      login.on('loginChanged', ({ login: now, reason }) => told.push(now, reason))
      login.on('suspicious', () => told.push('suspicious'))
      await login.adopt({ refreshToken: server.login('ada') })
      await Promise.all([login.getAccessToken(), orders.getAccessToken()])
      server.refuses = () => ({ status: 400, error, claims: '{"acr":1}' })
      await failureOf(orders.renew())
      await pass(61_000)
      const isRejected = error === 'invalid_grant'
      const loginReason = isRejected ? 'refused' : 'interaction'
      for (const api of [login, orders, forResource(login, { resource: STOCK })]) {
        const failure = await failureOf(api.getAccessToken())
        expect(failure).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason })
        if (place === NO_STORE && !isRejected) expect(challengeOf(failure)).toEqual({ error, claims: '{"acr":1}' })
        expect(api.status()).toMatchObject({ loginReason })
      }
      expect(told).toEqual(['present', undefined, ...(isRejected ? ['suspicious'] : []), 'required', loginReason])
      expect(login.status().counts.suspicions).toBe(isRejected ? 1 : 0)
      await login.adopt({ refreshToken: server.login('bob') })
      server.refuses = () => undefined
      expect(server.whatIs(await orders.getAccessToken())?.user).toBe('bob')
    },
  )

  it.each(['interaction_required', 'invalid_grant'])(
    'when a resource is opened after the refresh of the login was rejected with %s, then it reports the same response, until the next login (F409, F421)',
    async (error) => {
      const { server, open } = await worldWith(place)
      const login = open()
      await login.adopt({ refreshToken: server.login('ada') })
      server.refuses = () => ({ status: 400, error, claims: '{"acr":1}' })
      const { loginReason, serviceCode, status } = await failureOf(login.getAccessToken())
      const orders = forResource(login, { resource: ORDERS })
      const failure = await failureOf(orders.getAccessToken())
      expect(failure).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason, serviceCode, status })
      if (place === NO_STORE) expect(challengeOf(failure)).toEqual(challengeOf(await failureOf(login.getAccessToken())))
      for (const api of [login, orders]) expect(api.status()).toMatchObject({ login: 'required', loginReason })
      expect(server.requests.length).toBe(1)
      await login.adopt({ refreshToken: server.login('bob') })
      server.refuses = () => undefined
      expect(server.whatIs(await orders.getAccessToken())?.user).toBe('bob')
    },
  )

  it.each([0, 1])(
    'when API %i of three rejects its token while the others wait, and the server requires the user, then each caller gets the claims (F409, F421)',
    async (by) => {
      const { server, open, pass } = await worldWith(place)
      const login = open()
      const apis = [login, forResource(login, { resource: ORDERS }), forResource(login, { resource: STOCK })]
      await login.adopt({ refreshToken: server.login('ada') })
      const [first, second] = [await login.getAccessToken(), await apis[by]!.getAccessToken()]
      server.refuses = () => ({ status: 400, error: 'interaction_required', claims: '{"acr":1}' })
      const waiting = [login.replaceAccessToken(first), apis[by]!.replaceAccessToken(second), apis[2]!.getAccessToken()]
      const failures = Promise.all(waiting.map(failureOf))
      await pass(2_000)
      for (const failure of await failures) {
        expect(failure).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'interaction' })
        expect(challengeOf(failure)).toEqual({ error: 'interaction_required', claims: '{"acr":1}' })
      }
    },
  )

  it.each([0, 1])(
    "when manager %i of three stops with onSuspicious: 'stop', then all say so, also to callers who wait, until an act ends the stop (F421)",
    async (by) => {
      const { server, open, pass } = await worldWith(place)
      const login = open({}, { onSuspicious: 'stop' })
      const apis = [login, forResource(login, { resource: ORDERS }), forResource(login, { resource: STOCK })]
      await login.adopt({ refreshToken: server.login('ada') })
      await apis[by]!.getAccessToken()
      server.refuses = () => ({ status: 400, error: 'invalid_grant' })
      const stopped = async (callers: Promise<unknown>[]) => {
        const waiting = Promise.all(callers.map(failureOf))
        await pass(2_000)
        expect((await waiting).map(({ code }) => code)).toEqual(callers.map(() => 'ERR_SUSPICIOUS_REFRESH_TOKEN'))
      }
      await stopped([apis[by]!.renew(), ...apis.filter((_, n) => n !== by).map((api) => api.getAccessToken())])
      const asked = server.requests.length
      apis.push(forResource(login, { audience: 'new' }))
      for (const api of apis) expect(api.peekAccessToken()).toBeUndefined()
      await stopped(apis.flatMap((api) => [api.getAccessToken(), api.renew()]))
      for (const api of apis) expect(api.status()).toMatchObject({ phase: 'stopped', login: 'required' })
      const pending = login.adopt(Promise.resolve(undefined))
      await stopped(apis.map((api) => api.getAccessToken()))
      await pending
      expect(server.requests.length).toBe(asked)
      await login.reset()
      for (const api of apis) expect(await failureOf(api.getAccessToken())).toMatchObject({ loginReason: 'logged-out' })
      server.refuses = () => undefined
      await login.adopt({ refreshToken: server.login('bob') })
      for (const api of apis) expect(server.whatIs(await api.getAccessToken())?.user).toBe('bob')
    },
  )

  it.each([0, 1])(
    'when the response to manager %i of three is 429 or 503, then the others request nothing during that cool-down, and valid tokens stay in use',
    async (by) => {
      const { server, open, pass } = await worldWith(place)
      const login = open({}, { retry: { maxAttempts: 1 } })
      const stock = forResource(login, { resource: STOCK })
      const apis = [login, forResource(login, { resource: ORDERS })]
      await login.adopt({ refreshToken: server.login('ada') })
      const token = await stock.getAccessToken()
      for (const status of [429, 503]) {
        server.refuses = () => ({ status, error: 'later' })
        const asked = server.requests.length
        await failureOf(apis[by]!.getAccessToken())
        for (const api of [...apis, ...apis]) expect(await failureOf(api.getAccessToken())).toMatchObject({ status })
        expect(server.requests.length).toBe(asked + 1)
        expect(await stock.getAccessToken()).toBe(token)
        await pass(10_000)
      }
      server.refuses = () => undefined
      await pass(11_000)
      for (const api of apis) expect(server.whatIs(await api.getAccessToken())?.user).toBe('ada')
    },
  )

  it('when one token is due, or its API refuses it, then that one alone is renewed, and events and status name the resource (F424)', async () => {
    const { server, open, pass, quiet } = await worldWith(place)
    const login = open()
    await login.adopt({ refreshToken: server.login('ada') })
    server.lifetimeS = 600
    const orders = forResource(login, { resource: ORDERS, scope: 'orders:read' })
    await orders.getAccessToken()
    server.lifetimeS = 60
    const stock = forResource(login, { resource: STOCK })
    const first = await stock.getAccessToken()
    const told: unknown[] = []
    for (const api of [login, orders, stock])
      api.onAny((event, of) => void told.push([event, 'resource' in of ? of.resource : undefined]))
    await pass(50_000)
    expect(told).toEqual([['renewed', { resource: STOCK }]])
    expect(server.requests.map((body) => body.get('resource'))).toEqual([ORDERS, STOCK, STOCK])
    const second = await stock.getAccessToken()
    expect(second).not.toBe(first)
    const third = await stock.replaceAccessToken(second)
    await quiet()
    expect(server.whatIs(third)?.what).toBe(STOCK)
    expect(server.requests.length).toBe(4)
    expect(login.status().resource).toBeUndefined()
    expect(orders.status()).toMatchObject({
      resource: { resource: ORDERS, scope: 'orders:read' },
      login: 'present',
      counts: { refreshes: 1 },
    })
    expect(stock.status()).toMatchObject({ resource: { resource: STOCK }, counts: { refreshes: 3 } })
  })

  it('when one resource is closed, then the login and the others go on, and it can be opened again (F424)', async () => {
    const { server, open } = await worldWith(place)
    const login = open()
    await login.adopt({ refreshToken: server.login('ada') })
    const orders = forResource(login, { resource: ORDERS })
    expect(forResource(login, { resource: ORDERS })).toBe(orders)
    await orders.getAccessToken()
    await orders.close()
    expect(await failureOf(orders.getAccessToken())).toMatchObject({ code: 'ERR_CLOSED' })
    expect(server.whatIs(await login.getAccessToken())?.what).toBe('login')
    const again = forResource(login, { resource: ORDERS })
    expect(server.whatIs(await again.getAccessToken())?.what).toBe(ORDERS)
    await login.close()
    expect(await failureOf(again.getAccessToken())).toMatchObject({ code: 'ERR_CLOSED' })
  })
}
