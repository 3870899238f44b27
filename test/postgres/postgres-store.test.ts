import { randomUUID } from 'node:crypto'
import { postgresStore } from '../../src/postgres/index.ts'
import { onClock } from '../support/postgres-clock.ts'
import { describeSharedPostgres } from '../support/postgres-server.ts'
import { sharedStoreContract } from '../support/token-store-contract.ts'
import { World } from './world.ts'

describeSharedPostgres('given a real PostgreSQL server', () => {
  const world = new World()

  sharedStoreContract('postgres', (clock) =>
    postgresStore({ pool: onClock(world.pool(), clock), prefix: randomUUID() }),
  )
  sharedStoreContract('sealed postgres', (clock) =>
    postgresStore({
      pool: onClock(world.pool(), clock),
      prefix: randomUUID(),
      encryptionKeys: [{ id: 'k1', key: Uint8Array.from({ length: 32 }, (_, index) => index) }],
    }),
  )
})
