import { expect, it } from '@jest/globals'
import { type PostgresClient, postgresRegister } from '../../src/postgres/postgres-register.ts'
import { redisRegister } from '../../src/redis/redis-register.ts'
import type { TokenRegister } from '../../src/store/index.ts'
import { tokenRegisterChecks } from '../../tools/testing/index.ts'
import { valuesOf } from '../faults/support/attacker.ts'
import { World as PostgresWorld } from '../postgres/world.ts'
import { describeSharedPostgres } from '../support/postgres-server.ts'
import { describeSharedRedis, redisOfSuite } from '../support/redis-server.ts'

const run = crypto.randomUUID()
const NAMES = ['now', 'value', 'epoch', 'epochAt', 'replica', 'state', 'tokens', 'isPrivate']
const DENIED = Object.assign(new Error('denied'), { code: '42501' })
const POLLUTED = 'when Object.prototype has a member of a reading or of a row, then the register returns the same'

/** What two reads and three writes of a key return. */
async function returned(register: TokenRegister, key: string): Promise<string> {
  const first = await register.read(key)
  const isCreated = await register.replace(key, undefined, 'text', 60_000, first.epoch ?? undefined)
  const results = [first, isCreated, await register.read(key), await register.replace(key, 'other', 'text', 60_000)]
  return JSON.stringify(results, (_, value: unknown) => (Number(value) > 1e12 ? 'an instant' : value))
}

/** @returns The members that make a difference. */
async function differences(open: () => TokenRegister): Promise<string[]> {
  const usual = await returned(open(), `${run} usual`)
  const found: string[] = []
  for (const name of NAMES)
    for (const [n, value] of valuesOf(name).entries()) {
      const register = open()
      Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
      const polluted = await returned(register, `${run} ${name} ${n}`).catch(String)
      Reflect.deleteProperty(Object.prototype, name)
      if (polluted !== usual) found.push(`${name}: ${polluted}`)
    }
  return found
}

describeSharedRedis('given a register in Redis', () => {
  const command = redisOfSuite()
  const open = () => redisRegister({ command })
  for (const { name, run } of tokenRegisterChecks(async () => ({ register: open() })))
    it(`when checked, then ${name}`, run)
  it.each([false, true])(`after a promotion: %s, ${POLLUTED} (F402)`, async (isPromoted) => {
    const without = (reply: unknown) =>
      Array.isArray(reply) && reply.length === 5 ? [...(reply as string[]).slice(0, 4), ''] : reply
    const send = async (args: string[]) => (isPromoted ? without(await command(args)) : command(args))
    expect(await differences(() => redisRegister({ command: send }))).toEqual([])
  })
})

describeSharedPostgres('given a register in PostgreSQL', () => {
  const world = new PostgresWorld()
  const create = async () => ({ register: postgresRegister(world.pool()) })
  for (const { name, run } of tokenRegisterChecks(create)) it(`when checked, then ${name}`, run)
  it.each([true, false])(`with a role that may read the epoch: %s, ${POLLUTED} (F402)`, async (mayReadEpoch) => {
    const pool = world.pool()
    const query: PostgresClient['query'] = (text, values) =>
      mayReadEpoch || !text.includes('pg_walfile_name') ? pool.query(text, values) : Promise.reject(DENIED)
    expect(await differences(() => postgresRegister({ query }))).toEqual([])
  })
})
