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

  ;(node ? it : it.skip)(
    'when the process that refreshes is killed before the server acts, or as soon as it uses its new token, then the login lives',
    async () => {
      const fleet = await start({ exchangeTimeoutMs: 1_000 })
      for (const stage of ['beforeRefresh', 'onServed'] as const)
        for (let round = 0; round < 3; round += 1) {
          const victim = await fleet.agent()
          fleet.world.expireAccess()
          const reached = new Promise<void>((resolve) => {
            fleet.world.control[stage] = () => {
              fleet.world.control[stage] = undefined
              victim.kill()
              resolve()
            }
          })
          const ended = victim.call()
          await reached
          expect(await ended).not.toContain('LOG IN')
          expect(await fleet.callAtOnce(2)).toEqual(['said you', 'said you'])
        }
      expect(fleet.world.counts).toMatchObject({ reuses: 0, codes: 1 })
    },
  )
})
