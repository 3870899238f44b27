import { randomUUID } from 'node:crypto'
import { expect, it } from '@jest/globals'
import pg from 'pg'
import { postgresStore } from '../../src/postgres/index.ts'
import { postgresRegister } from '../../src/postgres/postgres-register.ts'
import { DEFAULT_TABLE } from '../../src/postgres/table.ts'
import { describeSharedPostgres } from '../support/postgres-server.ts'
import { World } from './world.ts'

const HOUR = 3_600_000
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10))
}

describeSharedPostgres('given a listener in a real PostgreSQL', () => {
  const world = new World()

  it('when another process stores, then the watcher receives the key, and after a lost connection it reports that it no longer watches', async () => {
    const listener = new pg.Client({ connectionString: world.url })
    await listener.connect()
    const register = postgresRegister(world.pool(), DEFAULT_TABLE, listener)
    const other = postgresRegister(world.pool(), DEFAULT_TABLE, new pg.Client())
    const changed: (string | undefined)[] = []
    const stop = register.watch!((key) => changed.push(key))
    expect(register.isWatching!()).toBe(false)
    await until(() => register.isWatching!())
    const key = randomUUID()
    expect(await other.replace(key, undefined, 'a', HOUR)).toBe(true)
    expect(await other.replace(key, 'b', 'c', HOUR)).toBe(false)
    expect(await other.replace(key, 'a', 'b', HOUR)).toBe(true)
    await until(() => changed.length >= 3)
    expect(changed).toEqual([undefined, key, key])
    await listener.end()
    await until(() => changed.length >= 4)
    expect([register.isWatching!(), changed.at(-1)]).toEqual([false, undefined])
    stop()
  })

  it('when the listener is a pool, then it is rejected by name', () => {
    expect(() => postgresStore({ pool: world.pool(), listener: {} as never })).toThrow(
      'listener must be a connected Client of pg, which nothing else uses',
    )
  })
})
