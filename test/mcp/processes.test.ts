import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { resolve } from 'node:path'
import { startRedis } from '../../scripts/lib/redis-server.mjs'
import { buildPackage, type BuiltPackage } from '../support/built-package.ts'
import { nodeWithSqlite } from '../support/node-sqlite.ts'
import { startFleet } from './fleet.mjs'

const node = nodeWithSqlite()
const hasRedis = process.env.TEST_REDIS === 'own'
type Fleet = Awaited<ReturnType<typeof startFleet>>

describe('given eight processes of one machine, one login, and a server that rotates and detects reuse', () => {
  let built: BuiltPackage
  let fleet: Fleet
  beforeAll(async () => {
    built = await buildPackage()
  })
  afterAll(() => built.remove())
  afterEach(() => fleet.close())

  const start = async (how: Partial<Parameters<typeof startFleet>[0]> = {}) => {
    const dist = resolve(built.dir, 'node_modules/axios-evergreen/dist')
    fleet = await startFleet({ node: node ?? process.execPath, dist, ...how })
    expect(await fleet.logIn()).toBe('said you')
    return fleet
  }
  const expectOneRefresh = async (fleet: Fleet) => {
    const { counts } = fleet.world
    expect(await fleet.callAtOnce(8)).toEqual(Array(8).fill('said you'))
    expect(counts).toMatchObject({ refreshes: 1, reuses: 0, codes: 1 })
    expect(await fleet.callAtOnce(1)).toEqual(['said you'])
    expect(counts).toMatchObject({ refreshes: 2, reuses: 0, codes: 1 })
  }

  ;(node ? it : it.skip)(
    'when they share a file of SQLite, then one of them refreshes, and all are served (F315)',
    async () => {
      await expectOneRefresh(await start())
    },
  )

  ;(hasRedis ? it : it.skip)(
    'when they share Redis, then one of them refreshes, and all are served (F315)',
    async () => {
      const server = await startRedis()
      try {
        await expectOneRefresh(await start({ redis: server.url }))
      } finally {
        await server.stop()
      }
    },
  )

  /** A round for each stage. All 50: `MCP_ROUNDS=50 npx jest --config scripts/tests/slow.config.mjs test/mcp/processes`. */
  const rounds = Number(process.env.MCP_ROUNDS ?? 3)
  const STAGES = ['onRefused', 'beforeRefresh', 'onServed'] as const

  /** Kills a process when it has reached the stage. */
  const killAt = async (stage: (typeof STAGES)[number]) => {
    const { control } = fleet.world
    const victim = await fleet.agent()
    fleet.world.expireAccess()
    control[stage] = () => {
      control[stage] = undefined
      victim.kill()
    }
    const printed = await victim.call()
    expect([control[stage], printed]).toEqual([undefined, ''])
  }
  const expectLoginLives = async (fleet: Fleet) => {
    let refreshes = 0
    for (let round = 0; round < rounds; round += 1) {
      const stage = STAGES[round % STAGES.length]!
      await killAt(stage)
      expect(await fleet.callAtOnce(2)).toEqual(['said you', 'said you'])
      // One for each access token that ended: the one that the victim got is its own.
      refreshes += stage === 'onServed' ? 2 : 1
      expect(fleet.world.counts).toMatchObject({ refreshes, reuses: 0, codes: 1 })
    }
  }

  describe('when a process is killed as it meets its 401, as its refresh is sent, or as it uses its new token', () => {
    ;(node ? it : it.skip)('then the login lives in a file of SQLite, with one refresh a lifetime (F315)', async () => {
      await expectLoginLives(await start({ exchangeTimeoutMs: 1_000 }))
    })

    ;(hasRedis ? it : it.skip)('then the login lives in Redis, with one refresh a lifetime (F315)', async () => {
      const server = await startRedis()
      try {
        await expectLoginLives(await start({ redis: server.url, exchangeTimeoutMs: 1_000 }))
      } finally {
        await server.stop()
      }
    })
  })
})
