import { afterAll, beforeAll } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { createClient } from 'redis'
import { redisStore } from '../../src/redis/index.ts'
import { onClock } from '../support/redis-clock.ts'
import { describeSharedRedis, findRedis } from '../support/redis-server.ts'
import { tokenStoreContract } from '../support/token-store-contract.ts'

describeSharedRedis('given a real Redis server', () => {
  let server: Awaited<ReturnType<typeof findRedis>>
  let client: ReturnType<typeof createClient>
  const command = (args: string[]) => client.sendCommand(args)
  const prefix = () => `contract-${randomUUID()}`

  beforeAll(async () => {
    server = await findRedis()
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
