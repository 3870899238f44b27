import { afterAll, beforeAll } from '@jest/globals'
import { createClient } from 'redis'
import { redisStore } from '../../src/redis/index.ts'
import { onClock } from '../support/redis-clock.ts'
import { describeRedis, startRedis, type RedisServer } from '../support/redis-server.ts'
import { tokenStoreContract } from '../support/token-store-contract.ts'

describeRedis('given a real Redis server', () => {
  let server: RedisServer
  let client: ReturnType<typeof createClient>
  let prefixes = 0
  const command = (args: string[]) => client.sendCommand(args)
  const prefix = () => `contract-${(prefixes += 1)}`

  beforeAll(async () => {
    server = await startRedis()
    client = createClient({ url: server.url })
    await client.connect()
  })
  afterAll(async () => {
    client.destroy()
    await server.stop()
  })

  tokenStoreContract('redis', (clock) => redisStore({ client: onClock(command, clock), prefix: prefix() }))
  tokenStoreContract('sealed redis', (clock) =>
    redisStore({
      client: onClock(command, clock),
      prefix: prefix(),
      encryptionKeys: [{ id: 'k1', key: new Uint8Array(32).fill(7) }],
    }),
  )
})
