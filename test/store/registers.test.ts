import { it } from '@jest/globals'
import { postgresRegister } from '../../src/postgres/postgres-register.ts'
import { redisRegister } from '../../src/redis/redis-register.ts'
import { tokenRegisterChecks } from '../../tools/testing/index.ts'
import { World as PostgresWorld } from '../postgres/world.ts'
import { describeSharedPostgres } from '../support/postgres-server.ts'
import { describeSharedRedis, redisOfSuite } from '../support/redis-server.ts'

describeSharedRedis('given a register in Redis', () => {
  const command = redisOfSuite()
  const create = async () => ({ register: redisRegister({ command }) })
  for (const { name, run } of tokenRegisterChecks(create)) it(`when checked, then ${name}`, run)
})

describeSharedPostgres('given a register in PostgreSQL', () => {
  const world = new PostgresWorld()
  const create = async () => ({ register: postgresRegister(world.pool()) })
  for (const { name, run } of tokenRegisterChecks(create)) it(`when checked, then ${name}`, run)
})
