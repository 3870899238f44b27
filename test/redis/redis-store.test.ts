import { randomUUID } from 'node:crypto'
import { redisStore } from '../../src/redis/index.ts'
import { onClock } from '../support/redis-clock.ts'
import { describeSharedRedis, redisOfSuite } from '../support/redis-server.ts'
import { sharedStoreContract } from '../support/token-store-contract.ts'

describeSharedRedis('given a real Redis server', () => {
  const command = redisOfSuite()
  const prefix = () => `contract-${randomUUID()}`

  sharedStoreContract('redis', (clock) => redisStore({ client: onClock(command, clock), prefix: prefix() }))
  sharedStoreContract('sealed redis', (clock) =>
    redisStore({
      client: onClock(command, clock),
      prefix: prefix(),
      encryptionKeys: [{ id: 'k1', key: Uint8Array.from({ length: 32 }, (_, index) => index) }],
    }),
  )
})
