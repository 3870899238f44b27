import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import type { TokenManagerOptions } from '../../src/index.ts'
import { redisStore, type RedisStoreOptions } from '../../src/redis/index.ts'
import { manage, type Managed, ScriptedSource } from '../support/managed.ts'
import { onClock } from '../support/redis-clock.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { watchedClock } from '../support/watched-clock.ts'

const newClient = (url: string) => createClient({ url, socket: { reconnectStrategy: 10 } })
export type NodeRedis = ReturnType<typeof newClient>

/** Changes the state in a readable record. */
export const changedState = (change: (state: Record<string, unknown>) => object) => (record: string) => {
  const envelope = JSON.parse(record) as { box: string }
  return JSON.stringify({
    ...envelope,
    box: JSON.stringify(change(JSON.parse(envelope.box) as Record<string, unknown>)),
  })
}

/** One server for a test file, empty before each test. Its processes are managers on one clock, each with a connection. */
export class World {
  server!: RedisServer
  clock = watchedClock()
  source = new ScriptedSource({ pairs: true })
  readonly #ends: (() => Promise<void>)[] = []

  constructor() {
    beforeAll(async () => {
      this.server = await startRedis()
    })
    beforeEach(async () => {
      await this.server.command('FLUSHALL')
      this.clock = watchedClock()
      this.source = new ScriptedSource({ pairs: true })
    })
    afterEach(async () => {
      for (const end of this.#ends.splice(0)) await end()
    })
    afterAll(() => this.server.stop())
  }

  async connect(url = this.server.url): Promise<NodeRedis> {
    const client = newClient(url)
    client.on('error', () => undefined)
    await client.connect()
    this.atEnd(async () => client.destroy())
    return client
  }

  /** A client of ioredis. */
  async ioredis(): Promise<Redis> {
    const client = new Redis(this.server.url)
    this.atEnd(async () => client.disconnect())
    return client
  }

  atEnd(end: () => Promise<void>): void {
    this.#ends.push(end)
  }

  /** A process of the fleet. */
  async start(
    store: Partial<RedisStoreOptions> & { url?: string } = {},
    options: Partial<TokenManagerOptions> = {},
  ): Promise<Managed> {
    const { url, ...rest } = store
    const client = await this.connect(url)
    const send = (args: string[]) => client.sendCommand(args)
    const managed = manage(
      this.source,
      { store: redisStore({ client: onClock(send, this.clock), ...rest }), ...options },
      this.clock,
    )
    // Ends before the connection, which may be slow or gone: then a pending renewal ends by its limit.
    this.#ends.unshift(async () => {
      const closed = managed.tokens.close()
      for (let turn = 0; turn < 4; turn += 1) await this.clock.advance(15_000)
      await closed
    })
    return managed
  }

  /** Everything that is stored, keys and values. */
  async stored(): Promise<[string, string][]> {
    const keys = (await this.server.command('KEYS', '*')) as string[]
    return Promise.all(
      keys.map(async (key) => [key, String(await this.server.command('GET', key))] as [string, string]),
    )
  }

  async key(): Promise<string> {
    return (await this.stored())[0]![0]
  }

  /** Changes the stored, readable state. */
  async rewrite(change: (state: Record<string, unknown>) => object): Promise<void> {
    const [[key, text]] = (await this.stored()) as [[string, string]]
    await this.server.command('SET', key, changedState(change)(text))
  }

  /** @returns The stored record, with its state if that is readable. */
  async record(): Promise<Record<string, unknown>> {
    const envelope = JSON.parse((await this.stored())[0]![1]) as Record<string, string>
    return { ...envelope, ...(envelope.kid === '' && (JSON.parse(envelope.box!) as object)) }
  }
}
