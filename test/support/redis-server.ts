import { afterAll, beforeAll, describe } from '@jest/globals'
import { createClient } from 'redis'
import * as servers from '../../scripts/lib/redis-server.mjs'
import { stoppedWithFile } from './stopped.ts'

export type RedisServer = servers.RedisServer

/** For suites with their own server. Without redis-server they are skipped, and the setup prints a line. */
export const describeRedis = process.env.TEST_REDIS === 'own' ? describe : describe.skip

/** For suites that use only their own keys: the server at `REDIS_URL` is enough. */
export const describeSharedRedis = process.env.TEST_REDIS === 'none' ? describe.skip : describe

export const startRedis = async (...given: Parameters<typeof servers.startRedis>): Promise<RedisServer> =>
  stoppedWithFile(await servers.startRedis(...given))

export const startSentinel = async (...given: Parameters<typeof servers.startSentinel>) =>
  stoppedWithFile(await servers.startSentinel(...given))

/** Finds a server for suites that can share one. */
async function findRedis(): Promise<Pick<RedisServer, 'url' | 'stop'>> {
  const { TEST_REDIS, REDIS_URL = '' } = process.env
  return TEST_REDIS === 'own' ? startRedis() : { url: REDIS_URL, stop: async () => undefined }
}

/** Connects the current suite to a server. @returns A function that runs one command there. */
export function redisOfSuite(find: typeof findRedis = findRedis): (args: string[]) => Promise<unknown> {
  let server: Awaited<ReturnType<typeof findRedis>>
  let client: ReturnType<typeof createClient>
  beforeAll(async () => {
    server = await find()
    client = createClient({ url: server.url })
    await client.connect()
  })
  afterAll(async () => {
    client.destroy()
    await server.stop()
  })
  return (args) => client.sendCommand(args)
}
