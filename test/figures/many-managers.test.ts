import { afterEach, describe, expect, it } from '@jest/globals'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { managersFor } from '../../examples/managers/managers-for.ts'
import { dice } from '../../scripts/lib/dice.mjs'
import { createTokenManager } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'

const APIS = ['orders', 'invoices']
const USERS = 10_000
const LIFETIME_MS = 300_000
const MAX = 500

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const closes: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
})

/** On-behalf-of: the service gives a token to whom the assertion names. */
function family(limits = {}) {
  const clock = manualClock()
  const open = new Set<string>()
  let obtains = 0
  const managers = managersFor(
    (user: string, api: string, assertion: () => string) => {
      const obtain = () => {
        obtains += 1
        return Promise.resolve({ accessToken: `${assertion()}/${api}/${obtains}`, accessLifetimeMs: LIFETIME_MS })
      }
      const source = { id: JSON.stringify([user, api]), obtain }
      const tokens = createTokenManager({ source, clock, renewal: { keepWarm: 'never' } })
      const close = tokens.close.bind(tokens)
      open.add(source.id)
      return Object.assign(tokens, { close: () => (open.delete(source.id), close()) })
    },
    { max: MAX, now: () => clock.wallNow(), ...limits },
  )
  closes.push(managers.close)
  const tokenOf = (user: string, api: string, assertion = user) =>
    managers.use(user, api, assertion, (tokens) => tokens.getAccessToken())
  return { clock, managers, open, tokenOf, obtains: () => obtains }
}

describe('given a family of managers', () => {
  it('when 10 000 users ask for two APIs, again and again, then each gets tokens of their own, few stay open, and the heap stays flat', async () => {
    const { clock, managers, open, tokenOf } = family()
    const { random } = dice(20_261_128)
    const strangers: string[] = []
    const anyone = () => Math.floor(random() * USERS)
    const round = async (asking: number, next: (n: number) => number = anyone) => {
      for (let n = 0; n < asking; n += 100) {
        const users = Array.from({ length: 100 }, (_, more) => `user-${next(n + more)}`)
        const asked = users.flatMap((user) => APIS.map(async (api) => ({ user, api, token: await tokenOf(user, api) })))
        for (const { user, api, token } of await Promise.all(asked))
          if (!token.startsWith(`${user}/${api}/`)) strangers.push(`${user} ${api}: ${token}`)
        await clock.advance(1_000)
      }
      collect()
      return process.memoryUsage().heapUsed
    }
    const before = await round(USERS / 5)
    const after = [await round(USERS, (n) => n), await round(USERS / 5)]
    expect(strangers).toEqual([])
    expect([managers.size(), open.size]).toEqual([MAX, MAX])
    // 20 000 managers that were kept would take some 100 MB.
    expect(Math.max(...after) - before).toBeLessThan(4_000_000)
  })

  it('when one has been idle, then it is closed, and a manager in use is not', async () => {
    const { clock, managers, open, tokenOf } = family({ idleMs: 60_000 })
    await tokenOf('ada', 'orders')
    let finish: () => void = () => undefined
    const used = managers.use('bob', 'orders', 'bob', async (tokens) => {
      await new Promise<void>((resolve) => (finish = resolve))
      return tokens.getAccessToken()
    })
    await clock.advance(60_000)
    await tokenOf('carl', 'orders')
    expect([...open]).toEqual(['["bob","orders"]', '["carl","orders"]'])
    finish()
    expect(await used).toMatch(/^bob\/orders/)
  })

  it('when a token is due, then the assertion of the latest use brings the next one', async () => {
    const { clock, tokenOf } = family()
    expect(await tokenOf('ada', 'orders', 'assertion-1')).toBe('assertion-1/orders/1')
    await clock.advance(LIFETIME_MS)
    expect(await tokenOf('ada', 'orders', 'assertion-2')).toBe('assertion-2/orders/2')
  })

  it.each([
    ['', 'orders'],
    ['ada', ''],
    [undefined as unknown as string, 'orders'],
  ])('when the key is %j and %j, then it is refused', async (user, api) => {
    const { open, tokenOf } = family()
    await expect(tokenOf(user, api, 'assertion')).rejects.toThrow(TypeError)
    expect(open.size).toBe(0)
  })

  it('when two keys would be one text, then they have two managers', async () => {
    const { open, tokenOf } = family()
    expect(await tokenOf('ada', 'b/orders')).toMatch(/^ada/)
    expect(await tokenOf('ada/b', 'orders')).toMatch(/^ada.b/)
    expect(open.size).toBe(2)
  })
})
