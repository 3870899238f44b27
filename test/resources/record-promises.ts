import { expect, it } from '@jest/globals'
import { forResource } from '../../src/oauth2/index.ts'
import { failureOf } from '../service/world.ts'
import { ORDERS, type Place, STOCK, worldWith } from './world.ts'

/** What must hold for a record that processes share. */
export function promisesOfRecord(place: Place): void {
  it('when 20 resources are used, then 16 stand in it beside the login, the one that was not used for longest leaves, and a process keeps what left (F422)', async () => {
    const world = await worldWith(place)
    const { server, open, clock, pass } = world
    server.lifetimeS = 36_000
    const login = open()
    await login.adopt({ refreshToken: server.login('ada') })
    await login.getAccessToken()
    const all = Array.from({ length: 20 }, (_, n) => forResource(login, { audience: `api-${n}` }))
    const tokens: string[] = []
    for (const api of all.slice(0, 16)) {
      tokens.push(await api.getAccessToken())
      await clock.advance(1_000)
    }
    expect((await world.kept.slots()).length).toBe(16)
    // The first one is used again, so the second one leaves.
    await all[0]!.getAccessToken()
    for (const api of all.slice(16)) {
      tokens.push(await api.getAccessToken())
      await clock.advance(1_000)
    }
    expect((await world.kept.slots()).sort()).toEqual([tokens[0]!, ...tokens.slice(5)].sort())
    expect((await world.kept.record()).tokens?.accessToken).not.toBe('')
    const asked = server.requests.length
    expect(await Promise.all(all.map((api) => api.getAccessToken()))).toEqual(tokens)
    expect(server.requests.length).toBe(asked)
    const other = open()
    expect(await forResource(other, { audience: 'api-0' }).getAccessToken()).toBe(tokens[0])
    expect(server.requests.length).toBe(asked)
    expect(await forResource(other, { audience: 'api-1' }).getAccessToken()).not.toBe(tokens[1])
    expect([server.requests.length - asked, server.reuses]).toEqual([1, 0])
    await pass(1_000)
  })

  it.each(['of a resource', "of the login's own token"])(
    'when tokens have expired, then they leave at the next write, %s (F422)',
    async (which) => {
      const world = await worldWith(place)
      const { server, open, pass } = world
      const login = open()
      await login.adopt({ refreshToken: server.login('ada') })
      const expired = await forResource(login, { audience: 'one' }).getAccessToken()
      await pass(100_000)
      server.lifetimeS = 600
      const audiences = Array.from({ length: 16 }, (_, n) => `api-${n}`)
      const left: string[] = []
      for (const audience of audiences) left.push(await forResource(login, { audience }).getAccessToken())
      if (which !== 'of a resource') await login.renew()
      expect(left).not.toContain(expired)
      expect((await world.kept.slots()).sort()).toEqual(left.sort())
      // Each was used once, so it is renewed once.
      await pass(1_300_000)
      if (which === 'of a resource') {
        const next = await forResource(login, { audience: 'two' }).getAccessToken()
        expect(await world.kept.slots()).toEqual([next])
      } else {
        await login.renew()
        expect(await world.kept.slots()).toEqual([])
        expect(server.whatIs(await login.getAccessToken())?.what).toBe('login')
      }
      expect(server.reuses).toBe(0)
    },
  )

  it('when tokens are large, then the record stays under 64 KiB, the largest one leaves first, and that is told (F422)', async () => {
    const world = await worldWith(place)
    const { server, open } = world
    const login = open()
    const told: string[] = []
    login.on('anomaly', ({ kind, message }) => void told.push(`${kind}: ${message}`))
    await login.adopt({ refreshToken: server.login('ada') })
    const tokens: string[] = []
    for (let n = 0; n < 10; n += 1) {
      server.padding = 'x'.repeat(n === 3 ? 20_000 : 4_000)
      tokens.push(await forResource(login, { audience: `api-${n}` }).getAccessToken())
      expect(world.kept.text.length).toBeLessThan(65_536)
    }
    expect(await world.kept.slots()).not.toContain(tokens[3])
    expect((await world.kept.slots()).length).toBeGreaterThan(5)
    expect(await forResource(login, { audience: 'api-3' }).getAccessToken()).toBe(tokens[3])
    expect(told.filter((one) => !one.startsWith('tokens-unencrypted'))).toEqual([
      expect.stringMatching(/^unexpected-response: .*api-\d.*64 KiB/),
    ])
    expect(server.reuses).toBe(0)
  })

  it('when a process that uses no resources renews, then their tokens stay, and the login lives (F423)', async () => {
    const world = await worldWith(place)
    const { server, open } = world
    const [here, there] = [open(), open()]
    await here.adopt({ refreshToken: server.login('ada') })
    const token = await forResource(here, { resource: ORDERS }).getAccessToken()
    await there.renew()
    await there.renew()
    expect(await world.kept.slots()).toEqual([token])
    expect(await forResource(open(), { resource: ORDERS }).getAccessToken()).toBe(token)
    await forResource(here, { resource: STOCK }).getAccessToken()
    expect([server.reuses, here.status().login]).toEqual([0, 'present'])
  })

  it('when the login ends, then no token of a resource stands in it (F421)', async () => {
    const world = await worldWith(place)
    const { server, open } = world
    const login = open()
    await login.adopt({ refreshToken: server.login('ada') })
    const orders = forResource(login, { resource: ORDERS })
    const token = await orders.getAccessToken()
    expect(await world.kept.slots()).toEqual([token])
    await login.logout()
    expect(JSON.stringify(await world.kept.record())).not.toContain(token)
  })

  it.each(['logout', 'reset', 'adopt'] as const)(
    'when %s ends the login in one process, then no other process sends a token of a resource after its next look (F421)',
    async (act) => {
      const { server, open, pass } = await worldWith(place)
      const [here, there] = [open(), open({}, { renewal: { maxStalenessMs: 1_000 } })]
      await here.adopt({ refreshToken: server.login('ada'), subject: 'ada' })
      const token = await forResource(here, { resource: ORDERS }).getAccessToken()
      const orders = forResource(there, { resource: ORDERS })
      const stock = forResource(there, { resource: STOCK })
      expect(await orders.getAccessToken()).toBe(token)
      await stock.getAccessToken()
      if (act === 'adopt') await here.adopt({ refreshToken: server.login('bob'), subject: 'bob' })
      else await here[act]()
      await pass(2_000)
      for (const api of [orders, stock, there]) {
        expect(api.peekAccessToken()).toBeUndefined()
        // The caller who finds another login asked in the one before (R10).
        const answer = await api.getAccessToken().catch((error: unknown) => error)
        if (typeof answer === 'string') expect(server.whatIs(answer)?.user).toBe('bob')
        else expect(answer).toMatchObject({ code: expect.stringMatching(/^ERR_LOGIN_RE(QUIRED|PLACED)$/) })
        if (act === 'adopt') expect(server.whatIs(await api.getAccessToken())?.user).toBe('bob')
      }
      expect(server.reuses).toBe(0)
    },
  )

  it('when another process has a token of the resource, then it is used, and none is requested twice (F418)', async () => {
    const { server, open, pass } = await worldWith(place)
    const managers = Array.from({ length: 5 }, () => open())
    await managers[0]!.adopt({ refreshToken: server.login('ada') })
    const apis = managers.map((login) => forResource(login, { resource: ORDERS }))
    const waiting = Promise.all(apis.map((api) => api.getAccessToken()))
    await pass(5_000)
    expect(new Set(await waiting).size).toBe(1)
    expect([server.requests.length, server.reuses]).toEqual([1, 0])
  })

  it('when one process refuses the resource for the others, then they make no call while it rests (F420)', async () => {
    const { server, open } = await worldWith(place)
    const [here, there] = [open(), open()]
    await here.adopt({ refreshToken: server.login('ada') })
    server.refuses = (body) => (body.get('resource') === STOCK ? { status: 400, error: 'invalid_target' } : undefined)
    await failureOf(forResource(here, { resource: STOCK }).getAccessToken())
    expect(await failureOf(forResource(there, { resource: STOCK }).getAccessToken())).toMatchObject({
      code: 'ERR_TOKEN_REQUEST',
      serviceCode: 'invalid_target',
    })
    expect(server.requests.length).toBe(1)
    expect(server.whatIs(await forResource(there, { resource: ORDERS }).getAccessToken())?.what).toBe(ORDERS)
    expect(server.whatIs(await there.getAccessToken())?.what).toBe('login')
  })

  const visible = place.isSealed ? 'no token and no name of an API can' : 'only the names of APIs cannot'
  it(`when somebody reads the text in the register, then ${visible} be read (F425)`, async () => {
    const { server, open, kept } = await worldWith(place)
    const login = open()
    await login.adopt({ refreshToken: server.login('ada') })
    const token = await forResource(login, { resource: ORDERS }).getAccessToken()
    expect([kept.text.includes(token), kept.text.includes('orders')]).toEqual([!place.isSealed, false])
    expect(await forResource(open(), { resource: ORDERS }).getAccessToken()).toBe(token)
  })
}
