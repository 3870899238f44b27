import { afterAll, describe, expect, it } from '@jest/globals'
import { createTokenManager } from '../../src/index.ts'
import { forResource, oauth2 } from '../../src/oauth2/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { failureOf } from '../service/world.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'
import { promisesOfRecord } from './record-promises.ts'
import { A_REGISTER, A_SEALED_REGISTER, NO_STORE, ORDERS, STOCK, worldWith } from './world.ts'

describe.each([A_REGISTER, A_SEALED_REGISTER])('given the record of a login with resources in $name', promisesOfRecord)

describe('given client credentials with resources', () => {
  it('when several are used, then each has a token, a lease and a record of its own, and a refusal is its own (F418, F420)', async () => {
    const { server, clock } = await worldWith(NO_STORE)
    const register = new MemoryRegister(clock)
    const open = () =>
      createTokenManager({
        source: oauth2({ tokenEndpoint: `${server.origin}/token`, clientId: 'app', clientSecret: 'secret' }),
        store: sharedStore(register),
        clock,
        random: () => 0,
      })
    const [one, other] = [open(), open()]
    one.onAny(() => undefined)
    server.refuses = (body) => (body.get('audience') === 'bad' ? { status: 400, error: 'invalid_target' } : undefined)
    const orders = forResource(one, { resource: [ORDERS, STOCK], scope: 'a b' })
    const token = await orders.getAccessToken()
    expect(server.whatIs(token)?.what).toBe(`${ORDERS} ${STOCK} a b`)
    expect(await forResource(other, { resource: [STOCK, ORDERS], scope: 'b a' }).getAccessToken()).toBe(token)
    expect(await failureOf(forResource(one, { audience: 'bad' }).getAccessToken())).toMatchObject({
      serviceCode: 'invalid_target',
    })
    expect(server.whatIs(await one.getAccessToken())?.what).toBe('login')
    expect(register.values.size).toBe(3)
    await one.reset()
    await settle()
    expect(orders.peekAccessToken()).toBeUndefined()
    expect(await orders.getAccessToken()).not.toBe(token)
  })
})

afterAll(() => settle())
