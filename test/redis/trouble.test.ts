import { describe, expect, it } from '@jest/globals'
import { Redis } from 'ioredis'
import type { EventEmitter } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { type RedisClient, redisStore } from '../../src/redis/index.ts'
import { selfSigned } from '../service/certificate.ts'
import { freePort } from '../../scripts/lib/server-process.mjs'
import { reasonOf } from '../../src/redis/reason.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { describeRedis, startRedis } from '../support/redis-server.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { World } from './world.ts'

const RIGHTS = 'grant the user +evalsha +eval +time +type +getrange +set +info, and the keys of the prefix'
const CLOSED = 'the client is not connected, call its connect(), and close the client after the manager'
const SECRET = 's3cret'

/**
 * @param connects Whether the client tries to connect. Then all limits pass after the next failure of its connection.
 * @returns The reason in the event for a client.
 */
async function reasonWith(client: RedisClient, connects?: 'connects'): Promise<string> {
  const clock = manualClock()
  const store = redisStore({ client, onUnavailable: 'fail' })
  const { tokens, observed } = manage(new ScriptedSource(), { store }, clock)
  const error = outcome<unknown>(tokens.getAccessToken())
  if (connects) {
    await new Promise((resolve) => (client as unknown as EventEmitter).once('error', resolve))
    await clock.advance(1_000)
  }
  expect(await error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
  await tokens.close()
  const [{ message }] = observed.storeUnavailable as [{ message: string }]
  expect(JSON.stringify(observed)).not.toContain(SECRET)
  return /^The shared token store is unavailable \((.*)\)$/.exec(message)![1]!
}

/** A client with an error listener. */
function heard<Client extends { on(name: 'error', listener: () => void): unknown }>(client: Client): Client {
  client.on('error', () => undefined)
  return client
}

/** A node-redis client that reconnects forever. Its timers end only when an attempt ends. */
function persistent(url: string) {
  let isOver = false
  const client = heard(createClient({ url, socket: { reconnectStrategy: () => (isOver ? false : 10) } }))
  const connected = client.connect().catch(() => undefined)
  const end = async () => {
    isOver = true
    await connected
  }
  return { client, end }
}

describe('given a value that is not a usable client', () => {
  it.each<[string, unknown, string]>([
    ['a promise of one', Promise.resolve({ command: async () => null }), 'client is a promise: await it'],
    ['an address', `redis://:${SECRET}@host`, 'client must be an object, got string'],
    ['another library', { customCommand: async () => null }, '{ command: (args) => client.customCommand(args) }'],
    ['a class', Redis, 'client must be an object, got function'],
  ])('when it is %s, then it is rejected with the correct code (F181)', (_, client, words) => {
    const create = () => redisStore({ client: client as RedisClient })
    expect(create).toThrow(TypeError)
    expect(create).toThrow(words)
    expect(create).not.toThrow(SECRET)
  })

  const reading = (value: unknown) => [value, '1767225600', '0', '']

  it.each<[string, (args: string[]) => unknown]>([
    ['nothing, as with callbacks', () => undefined],
    ['QUEUED, as in a transaction', () => 'QUEUED'],
    ['QUEUED for the step that stores', (args) => (args.length > 4 ? 'QUEUED' : reading(null))],
    ['nothing for the step that stores', (args) => (args.length > 4 ? undefined : reading(null))],
    ['a parsed reply', () => reading({ schema: 1 })],
    ['words', () => ['a', 'b', 'c']],
  ])('when it returns %s, then the event says so (F181)', async (_, command) => {
    expect(await reasonWith({ command: async (args) => command(args) })).toBe(
      'the client must return the reply of Redis unchanged',
    )
  })
})

describeRedis('given a client that cannot reach its server', () => {
  const world = new World()
  const at = () => ({ url: world.server.url })

  it.each<[string, () => RedisClient | Promise<RedisClient>]>([
    ['a node-redis client', () => heard(createClient(at()))],
    ['a node-redis pool', () => heard(createClientPool(at()))],
    ['a node-redis cluster', () => heard(createCluster({ rootNodes: [at()] }))],
    [
      'a node-redis sentinel',
      () => heard(createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] })),
    ],
    [
      'a closed node-redis client',
      async () => {
        const client = await heard(createClient(at())).connect()
        await client.close()
        return client
      },
    ],
    [
      'a closed ioredis client',
      async () => {
        const client = heard(new Redis(world.server.url))
        await client.quit()
        return client
      },
    ],
  ])('when %s is not connected, then the event says so (F181)', async (_, create) => {
    expect(await reasonWith(await create())).toBe(CLOSED)
  })

  it('when its connection is subscribed to a channel, then the event says so (F181)', async () => {
    const client = await heard(createClient({ ...at(), RESP: 2 })).connect()
    await client.subscribe('news', () => undefined)
    expect(await reasonWith(client)).toBe('SUBSCRIBED: the client is subscribed to a channel, pass another one')
    client.destroy()
  })

  it('when it connects later, then the tokens of that process are shared from the next renewal on (F181)', async () => {
    const client = heard(createClient(at()))
    const { tokens } = manage(world.source, { store: redisStore({ client }) }, world.clock)
    expect(await tokens.getAccessToken()).toBe('access-1')
    await client.connect()
    await tokens.renew()
    expect(await world.stored()).toHaveLength(1)
    await tokens.close()
    client.destroy()
  })

  it.each<[string, (port: number) => { client: RedisClient; end: () => unknown }]>([
    ['node-redis', (port) => persistent(`rediss://127.0.0.1:${port}`)],
    [
      'ioredis',
      (port) => {
        const client = heard(new Redis({ port, tls: {} }))
        return { client, end: () => client.disconnect() }
      },
    ],
  ])('when %s does not trust the certificate of the server, then the event names the CA (F181)', async (_, create) => {
    const { key, cert } = selfSigned()
    const [keyFile, certFile] = ['key', 'cert'].map((name) => join(tmpdir(), `evergreen-${process.pid}-${name}.pem`))
    await writeFile(keyFile!, key)
    await writeFile(certFile!, cert)
    const port = await freePort()
    const tls = ['--tls-cert-file', certFile!, '--tls-key-file', keyFile!, '--tls-auth-clients', 'no']
    const server = await startRedis({ args: ['--tls-port', String(port), ...tls] })
    const { client, end } = create(port)
    expect(await reasonWith(client, 'connects')).toContain(
      'the client has no connection (DEPTH_ZERO_SELF_SIGNED_CERT: pass the CA of the server to the client (option ca of its tls))',
    )
    await end()
    await server.stop()
  })

  it('when the password is wrong, then the event says only that (F151, F181)', async () => {
    const server = await startRedis({ args: ['--requirepass', 'right'] })
    const { client, end } = persistent(server.url.replace('//', `//:${SECRET}@`))
    expect(await reasonWith(client, 'connects')).toMatch(
      /(NOAUTH: the client sent no password, or a wrong one)|(WRONGPASS: the server rejected the user or the password)/,
    )
    await end()
    await server.stop()
  })

  it('when no server is at its address, then the event has the error code of the system (F131)', async () => {
    const { client, end } = persistent('redis://127.0.0.1:1')
    expect(await reasonWith(client, 'connects')).toBe(
      'no response within 1000 ms; the client has no connection (ECONNREFUSED)',
    )
    await end()
  })
})

describe("given different servers' messages for a permission that a script lacks", () => {
  it.each([
    [
      'Redis 7.0',
      `ERR The user executing the script can't run this command or subcommand script: 1f, on @user_script:1.`,
      'NOPERM',
    ],
    [
      'Valkey 8',
      `ERR ACL failure in script: User few has no permissions to run the 'set' command script: 1f`,
      `NOPERM 'set'`,
    ],
  ])('when it is %s, then the reason says what to grant (F181)', (_, message, name) => {
    expect(reasonOf(new Error(message))).toBe(`${name}: ${RIGHTS}`)
  })
})

describeRedis('given a Redis user with few permissions', () => {
  const world = new World()
  const NEEDED = ['+evalsha', '+eval', '+time', '+type', '+getrange', '+set', '+info', '~{evergreen:*']

  const asUser = async (...rights: string[]) => {
    await world.server.command('ACL', 'SETUSER', 'app', 'reset', 'on', '>pass', ...rights)
    return heard(createClient({ url: world.server.url.replace('//', '//app:pass@') })).connect()
  }

  it('when the permissions are those of the guide, then tokens are shared and a restart is noticed (F181)', async () => {
    const client = await asUser(...NEEDED)
    const { tokens, observed } = manage(world.source, { store: redisStore({ client }) }, world.clock)
    await tokens.getAccessToken()
    await tokens.renew()
    const other = manage(world.source, { store: redisStore({ client }) }, world.clock)
    expect(await other.tokens.getAccessToken()).toBe('access-2')
    expect(world.source.kinds).toBe('obtain refresh')
    expect(observed.storeUnavailable).toEqual([])
    expect(await world.record()).toMatchObject({ epoch: expect.stringMatching(/^\w{40}:\w{40}$/) as unknown })
    client.destroy()
  })

  it.each([
    ['+evalsha', `NOPERM 'evalsha': ${RIGHTS}`],
    ['+eval', `NOPERM 'eval': ${RIGHTS}`],
    ['+time', `NOPERM: ${RIGHTS}`],
    ['+type', `NOPERM: ${RIGHTS}`],
    ['+getrange', `NOPERM: ${RIGHTS}`],
    ['+set', `NOPERM: ${RIGHTS}`],
    ['~{evergreen:*', `NOPERM: ${RIGHTS}`],
  ])('when %s is missing, then the event says what to grant (F181)', async (missing, reason) => {
    await world.server.command('SCRIPT', 'FLUSH')
    // GETRANGE is needed only if there is a record to read.
    const others = NEEDED.filter((right) => right !== missing)
    if (missing === '+getrange') await (await world.start()).tokens.getAccessToken()
    const client = await asUser(...others)
    const store = redisStore({ client, onUnavailable: 'fail' })
    const { tokens, observed } = manage(world.source, { store }, world.clock)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    const [{ message }] = observed.storeUnavailable as [{ message: string }]
    // Valkey names the command that a script lacks, and Redis 7.0 does not.
    const shown = reason.startsWith('NOPERM:') ? message.replace(/NOPERM '\w+'/, 'NOPERM') : message
    expect(shown).toBe(`The shared token store is unavailable (${reason})`)
    client.destroy()
  })
})
