import { expect, it, jest } from '@jest/globals'
import { Cluster, Redis } from 'ioredis'
import { createClientPool, createCluster, createSentinel, RESP_TYPES } from 'redis'
import { redisStore, type RedisClient } from '../../src/redis/index.ts'
import { redisRegister } from '../../src/redis/redis-register.ts'
import { manage } from '../support/managed.ts'
import { describeRedis, startRedis, startSentinel } from '../support/redis-server.ts'
import { settle } from '../support/watched-clock.ts'
import { World } from './world.ts'

describeRedis('given a client of any kind', () => {
  const world = new World()

  const clients: [string, () => Promise<RedisClient>][] = [
    ['node-redis', () => world.connect()],
    ['ioredis', () => world.ioredis()],
    [
      'a node-redis pool',
      async () => {
        const client = createClientPool({ url: world.server.url })
        client.on('error', () => undefined)
        await client.connect()
        world.atEnd(async () => client.destroy())
        return client
      },
    ],
    [
      'an object that runs one command',
      async () => {
        const client = await world.connect()
        return { command: (args: string[]) => client.sendCommand(args) }
      },
    ],
    [
      'a wrapper of GLIDE, whose errors have other messages',
      async () => {
        const client = await world.connect()
        const command = (args: string[]) =>
          client.sendCommand(args).catch((error: unknown) => {
            const words = (error as Error).message.replace('NOSCRIPT', 'NoScriptError:')
            throw new Error(`An error was signalled by the server: - ${words}`)
          })
        return { command }
      },
    ],
    [
      'an object that returns bytes, and undefined for null',
      async () => {
        const client = (await world.connect()).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
        const command = async (args: string[]) => {
          const reply = await client.sendCommand<unknown>(args)
          return Array.isArray(reply)
            ? reply.map((entry: Buffer | null) => (entry === null ? undefined : Uint8Array.from(entry)))
            : reply
        }
        return { command }
      },
    ],
  ]

  it.each(clients)(
    'when it is %s, then two processes share tokens, and its script is loaded once (F152)',
    async (_, create) => {
      const client = await create()
      const [first, second] = [1, 2].map(() => manage(world.source, { store: redisStore({ client }) }, world.clock))
      expect(await first!.tokens.getAccessToken()).toBe('access-1')
      expect(await second!.tokens.getAccessToken()).toBe('access-1')
      await world.server.command('SCRIPT', 'FLUSH')
      await first!.tokens.renew()
      expect(await second!.tokens.replaceAccessToken('access-1')).toBe('access-2')
      expect(world.source.kinds).toBe('obtain refresh')
      expect([...first!.observed.storeUnavailable, ...second!.observed.storeUnavailable]).toEqual([])
      const info = String(await world.server.command('INFO', 'commandstats'))
      expect(info).toMatch(/cmdstat_evalsha:/)
    },
  )

  /** A cluster of one node. Scripts and keys behave as in a larger cluster. */
  async function startCluster() {
    const server = await startRedis({ args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] })
    await server.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    while (!String(await server.command('CLUSTER', 'INFO')).includes('cluster_state:ok')) await settle()
    return server
  }

  it.each<[string, (url: string, port: number) => Promise<{ client: RedisClient; end: () => void }>]>([
    [
      'ioredis',
      async (_, port) => {
        const client = new Cluster([{ host: '127.0.0.1', port }])
        return { client, end: () => client.disconnect() }
      },
    ],
    [
      'node-redis, unchanged',
      async (url) => {
        const client = createCluster({ rootNodes: [{ url }] })
        await client.connect()
        return { client, end: () => client.destroy() }
      },
    ],
    [
      'node-redis, given the key',
      async (url) => {
        const cluster = createCluster({ rootNodes: [{ url }] })
        await cluster.connect()
        const client = { command: (args: string[]) => cluster.sendCommand(args[3], false, args) }
        return { client, end: () => cluster.destroy() }
      },
    ],
  ])('when it is a cluster client of %s, then two processes share tokens (F152, F181)', async (_, create) => {
    const server = await startCluster()
    const { client, end } = await create(server.url, server.port)
    const [first, second] = [1, 2].map(() => manage(world.source, { store: redisStore({ client }) }, world.clock))
    expect(await first!.tokens.getAccessToken()).toBe('access-1')
    await first!.tokens.renew()
    expect(await second!.tokens.getAccessToken()).toBe('access-2')
    expect(world.source.kinds).toBe('obtain refresh')
    end()
    await server.stop()
  })

  it.each<[string, (port: number) => Promise<{ client: RedisClient; end: () => unknown }>]>([
    [
      'ioredis',
      async (port) => {
        const client = new Redis({ name: 'main', sentinels: [{ host: '127.0.0.1', port }] })
        return { client, end: () => client.disconnect() }
      },
    ],
    [
      'node-redis, unchanged',
      async (port) => {
        const client = createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port }] })
        client.on('error', () => undefined)
        await client.connect()
        return { client, end: () => client.destroy() }
      },
    ],
  ])('when it is a client of %s behind a Sentinel, then two processes share tokens (F181)', async (_, create) => {
    const sentinel = await startSentinel(world.server.port)
    const { client, end } = await create(sentinel.port)
    const [first, second] = [1, 2].map(() => manage(world.source, { store: redisStore({ client }) }, world.clock))
    expect(await first!.tokens.getAccessToken()).toBe('access-1')
    await first!.tokens.renew()
    expect(await second!.tokens.getAccessToken()).toBe('access-2')
    expect(world.source.kinds).toBe('obtain refresh')
    await end()
    await sentinel.stop()
  })
})

it('given a client that returns bytes, when a byte order mark precedes the text, then that is read, too', async () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const command = () => Promise.resolve([bytes('\ufeffa'), bytes('1767225600'), bytes('0'), bytes('run')])
  const { value } = await redisRegister({ command }).read('key')
  expect(value).toBe('\ufeffa')
})

describeRedis('given a server that does not know the script', () => {
  const world = new World()

  /** Names the commands that a register sends. The first text of the script gets no reply while `held` is pending. */
  async function counted(held: Promise<unknown> = Promise.resolve()) {
    await world.server.command('SCRIPT', 'FLUSH')
    const client = await world.connect()
    const sent: string[] = []
    const texts = () => sent.filter((name) => name === 'EVAL').length
    const command = async (args: string[]) => {
      sent.push(args[0]!)
      if (args[0] === 'EVAL' && texts() === 1) await held
      return client.sendCommand(args)
    }
    return { register: redisRegister({ command }), texts, sent }
  }

  it('when many steps start at once, then one of them sends its text, and the others wait for that', async () => {
    const { register, texts, sent } = await counted()
    const keys = Array.from({ length: 10 }, (_, n) => `key-${n}`)
    const read = await Promise.all(keys.map((key) => register.read(key)))
    expect([read.filter(({ now }) => now > 0).length, texts(), sent.length]).toEqual([10, 1, 20])
  })

  it('when the step that sends its text gets no reply, then others wait for it for one second', async () => {
    let now = Date.now()
    jest.spyOn(Date, 'now').mockImplementation(() => now)
    let answer = (): void => undefined
    const { register, texts } = await counted(new Promise<void>((resolve) => (answer = resolve)))
    const first = register.read('one')
    while (texts() === 0) await settle()
    let isRead = false
    now += 999
    const early = register.read('two').then(() => (isRead = true))
    await settle()
    now += 1
    expect((await register.read('three')).now).toBeGreaterThan(0)
    expect([isRead, texts()]).toEqual([false, 2])
    answer()
    await Promise.all([first, early])
  })
})

it('given ten thousand keys, when one more is read, then the register has forgotten the epochs of all others', async () => {
  const knows: boolean[] = []
  const command = (args: string[]) => {
    knows.push(args.at(-1) === 'known')
    return Promise.resolve([null, '1767225600', '0', 'run:replid'])
  }
  const register = redisRegister({ command })
  for (let n = 0; n < 9_999; n += 1) await register.read(`key-${n}`)
  for (const key of ['key-0', 'key-0', 'key-9999', 'key-0', 'key-1']) await register.read(key)
  expect([knows.slice(0, 9_999).includes(true), ...knows.slice(9_999)]).toEqual([false, true, true, false, true, false])
})
