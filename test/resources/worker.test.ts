import { afterEach, describe, expect, it } from '@jest/globals'
import { forResource } from '../../src/oauth2/index.ts'
import { connectTokens, exposeTokens } from '../../src/web/index.ts'
import { failureOf } from '../service/world.ts'
import { NO_STORE, ORDERS, STOCK, worldWith } from './world.ts'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

async function pagesOf(count: number) {
  const world = await worldWith(NO_STORE)
  const login = world.open()
  const connect = async () => {
    const { port1, port2 } = new MessageChannel()
    const stop = exposeTokens(login, port2)
    const page = await connectTokens(port1)
    endings.push(() => {
      stop()
      port2.close()
      return page.close()
    })
    return page
  }
  return { ...world, login, pages: await Promise.all(Array.from({ length: count }, connect)) }
}

/** Messages cross ports in turns of the event loop. */
const turns = async (count = 30) => {
  for (let n = 0; n < count; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('given pages of a worker with a login and two APIs (F425)', () => {
  it('when two pages request tokens, then each gets the one for its API, from one exchange, and events and status name the resource', async () => {
    const { server, login, pages } = await pagesOf(2)
    const [here, there] = pages
    await here!.adopt({ refreshToken: server.login('ada') })
    const orders = pages.map((page) => forResource(page, { resource: ORDERS }))
    expect(forResource(here!, { resource: ORDERS })).toBe(orders[0])
    const told: string[] = []
    for (const [who, tokens] of [
      ['here', here!],
      ['orders', orders[0]!],
      ['other', orders[1]!],
    ] as const)
      tokens.onAny(
        (event, of) => void told.push(`${who} ${event} ${'resource' in of ? String(of.resource.resource) : ''}`),
      )
    const both = await Promise.all(orders.map((api) => api.getAccessToken()))
    expect(both[0]).toBe(both[1])
    expect(server.whatIs(both[0]!)?.what).toBe(ORDERS)
    const stock = forResource(there!, { resource: STOCK })
    expect(server.whatIs(await stock.getAccessToken())?.what).toBe(STOCK)
    expect(server.whatIs(await there!.getAccessToken())?.what).toBe('login')
    await turns()
    expect(told.sort()).toEqual([`here renewed `, `orders renewed ${ORDERS}`, `other renewed ${ORDERS}`].sort())
    expect(orders[0]!.status()).toMatchObject({ phase: 'fresh', login: 'present', resource: { resource: ORDERS } })
    expect(here!.status().resource).toBeUndefined()
    expect([server.requests.length, server.reuses]).toEqual([3, 0])
    const next = await orders[0]!.replaceAccessToken(both[0]!)
    expect(server.whatIs(next)?.what).toBe(ORDERS)
    expect(await orders[1]!.getAccessToken()).toBe(next)
    expect(await stock.getAccessToken()).not.toBe(next)
    await orders[0]!.renew()
    await orders[0]!.settled()
    expect(server.requests.length).toBe(5)
    await login.close()
  })

  it('when the user logs out in one page and another one logs in, then no page sends a token of the first user (F421)', async () => {
    const { server, pages } = await pagesOf(2)
    const [here, there] = pages
    await here!.adopt({ refreshToken: server.login('ada'), subject: 'ada' })
    const orders = pages.map((page) => forResource(page, { resource: ORDERS }))
    for (const api of orders) expect(server.whatIs(await api.getAccessToken())?.user).toBe('ada')
    const done = here!.logout()
    expect(await failureOf(orders[0]!.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    await done
    await here!.adopt({ refreshToken: server.login('bob'), subject: 'bob' })
    expect(server.whatIs(await orders[0]!.getAccessToken())?.user).toBe('bob')
    await turns()
    expect(server.whatIs(await orders[1]!.getAccessToken())?.user).toBe('bob')
    expect(await there!.getAccessToken()).toMatch(/bob/)
    expect([server.reuses, server.revocations]).toEqual([0, 1])
  })

  it('when the login ends in one page, then no page reports a token of a resource, until the next login has one (F421, F424)', async () => {
    const { server, pages } = await pagesOf(2)
    await pages[0]!.adopt({ refreshToken: server.login('ada'), subject: 'ada' })
    const orders = pages.map((page) => forResource(page, { resource: ORDERS }))
    for (const api of orders) await api.getAccessToken()
    const counts = orders[0]!.status().counts
    await pages[0]!.logout()
    for (const wait of [0, 30]) {
      await turns(wait)
      for (const api of orders) expect(api.status()).toMatchObject({ phase: 'empty', login: 'required' })
      for (const api of orders) expect(api.status().accessExpiresAt).toBeUndefined()
    }
    expect(orders.map((api) => api.status().counts)).toEqual([counts, counts])
    await pages[1]!.adopt({ refreshToken: server.login('bob'), subject: 'bob' })
    for (const api of orders) await api.getAccessToken()
    for (const api of orders) expect(api.status()).toMatchObject({ phase: 'fresh', login: 'present' })
  })

  it('when a resource is refused, or closed in one page, then the page is told, and other pages go on', async () => {
    const { server, pages } = await pagesOf(2)
    await pages[0]!.adopt({ refreshToken: server.login('ada') })
    server.refuses = (body) => (body.get('resource') === STOCK ? { status: 400, error: 'invalid_target' } : undefined)
    const stock = forResource(pages[0]!, { resource: STOCK })
    expect(await failureOf(stock.getAccessToken())).toMatchObject({
      code: 'ERR_TOKEN_REQUEST',
      serviceCode: 'invalid_target',
    })
    const orders = pages.map((page) => forResource(page, { resource: ORDERS }))
    const token = await orders[0]!.getAccessToken()
    await orders[0]!.close()
    expect(await failureOf(orders[0]!.getAccessToken())).toMatchObject({ code: 'ERR_CLOSED' })
    expect(await orders[1]!.getAccessToken()).toBe(token)
    expect(forResource(pages[0]!, { resource: ORDERS })).not.toBe(orders[0])
  })
})
