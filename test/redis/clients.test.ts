import { expect, it } from '@jest/globals'
import { Redis } from 'ioredis'
import { redisStore, type RedisClient } from '../../src/redis/index.ts'
import { manage } from '../support/managed.ts'
import { describeRedis } from '../support/redis-server.ts'
import { World } from './world.ts'

describeRedis('given a client of any kind', () => {
  const world = new World()

  const clients: [string, () => Promise<{ client: RedisClient; end: () => void }>][] = [
    [
      'node-redis',
      async () => {
        const client = await world.connect()
        return { client, end: () => undefined }
      },
    ],
    [
      'ioredis',
      async () => {
        const client = new Redis(world.server.url)
        return { client, end: () => client.disconnect() }
      },
    ],
    [
      'an object that runs one command',
      async () => {
        const client = await world.connect()
        return { client: { command: (args: string[]) => client.sendCommand(args) }, end: () => undefined }
      },
    ],
  ]

  it.each(clients)(
    'when it is %s, then two processes share tokens, and its script is loaded once (F152)',
    async (_, create) => {
      const { client, end } = await create()
      const [first, second] = [1, 2].map(() => manage(world.source, { store: redisStore({ client }) }, world.clock))
      expect(await first!.tokens.getAccessToken()).toBe('access-1')
      expect(await second!.tokens.getAccessToken()).toBe('access-1')
      await world.server.command('SCRIPT', 'FLUSH')
      await first!.tokens.renew()
      expect(await second!.tokens.replaceAccessToken('access-1')).toBe('access-2')
      expect(world.source.kinds).toBe('obtain refresh')
      expect([...first!.told.storeUnavailable, ...second!.told.storeUnavailable]).toEqual([])
      const info = String(await world.server.command('INFO', 'commandstats'))
      expect(info).toMatch(/cmdstat_evalsha:/)
      end()
    },
  )
})
