import { rm } from 'node:fs/promises'
import { expect, it } from '@jest/globals'
import { createTokenManager, type TokenSource, type TokenStore } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { internalsOf } from '../../src/core/manager-internals.ts'
import type { OAuth2Options } from '../../src/oauth2/index.ts'
import { redisStore, type RedisStoreOptions } from '../../src/redis/index.ts'
import { sqliteStore } from '../../src/sqlite/index.ts'
import { clientOf, endpoint, expectNamed, grant, type Lines, linesOf, type Night } from '../faults/support/night.ts'
import { outcome } from '../support/managed.ts'
import { BetterSqlite } from '../support/node-sqlite.ts'
import { onClock } from '../support/redis-clock.ts'
import { describeRedis, type RedisServer, startRedis } from '../support/redis-server.ts'
import { StrictService } from '../support/strict-service.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'
import { World } from './world.ts'

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** @returns The text of this section of `INFO`. */
const infoOf = async (server: RedisServer, section: string) => String(await server.command('INFO', section))

const managerOf = (source: TokenSource, store: TokenStore, clock = manualClock(), storeKey = 'ada') =>
  createTokenManager({
    ...{ source, store, clock, storeKey, random: () => 0.5 },
    renewal: { keepWarm: 'never', jitter: 0 },
  }) as LoginManager

const keyOf = (id: string) => ({
  encryptionKeys: [{ id, key: Uint8Array.from({ length: 32 }, (_, n) => n + id.charCodeAt(0)) }],
})
const KEYS = { first: keyOf('a'), other: keyOf('b') }

/** A disk with no free page. */
async function sqliteFull(): Promise<Lines> {
  const database = new BetterSqlite!(':memory:')
  const service = new StrictService()
  const tokens = managerOf(service.source(), sqliteStore({ database }))
  const lines = linesOf(tokens)
  await tokens.adopt(service.grant())
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number }
  database.exec(`PRAGMA max_page_count = ${pages}`)
  const refreshToken = 'r'.repeat(100_000)
  await outcome(tokens.adopt({ ...service.grant(), refreshToken }))
  await settle()
  return lines
}

describeRedis('given an incident of the store, a real Redis, and only the lines of logEvents', () => {
  const world = new World()

  /** A process with a store in the server at `url`, until it connects to another one. Its lines follow the existing ones. */
  async function start(
    source: TokenSource,
    url = world.server.url,
    given: Partial<RedisStoreOptions> = {},
    storeKey = 'ada',
  ) {
    let client = await world.connect(url)
    const send = (args: string[]) => client.sendCommand(args)
    const store = redisStore({ client: onClock(send, world.clock), commandTimeoutMs: 60_000, ...given })
    const tokens = managerOf(source, store, world.clock, storeKey)
    const connect = async (to: string) => void (client = await world.connect(to))
    return { tokens, lines: linesOf(tokens), connect }
  }

  /**
   * A login in two processes. The first one renews, and the store that takes over may lack that renewal.
   *
   * @param has Whether the first process is still alive then.
   * @param change Runs around the renewal, and returns the server after it.
   */
  async function changed(
    url: string,
    has: 'lives' | 'died',
    change: (renew: () => Promise<void>) => Promise<RedisServer>,
  ): Promise<Lines> {
    const service = new StrictService()
    const [one, other] = [await start(service.source(), url), await start(service.source(), url)]
    await one.tokens.adopt(service.grant())
    await other.tokens.getAccessToken()
    const after = await change(async () => {
      await world.clock.advance(50_000)
      await one.tokens.renew()
    })
    await one.connect(after.url)
    await other.connect(after.url)
    await world.clock.advance(11_000)
    await outcome(other.tokens.getAccessToken())
    if (has === 'lives') await internalsOf(one.tokens)!.checkLogin!()
    for (const ms of [2_000, 2_000, 60_000, 2_000, 2_000]) {
      await world.clock.advance(ms)
      await outcome(other.tokens.getAccessToken())
    }
    await settle()
    await after.stop()
    return other.lines
  }

  async function restored(has: 'lives' | 'died'): Promise<Lines> {
    const server = await startRedis()
    return changed(server.url, has, async (renew) => {
      await server.command('SAVE')
      await renew()
      await server.kill()
      await server.restart()
      return server
    })
  }

  async function failedOver(lost: 'nothing' | 'the renewal', has: 'lives' | 'died'): Promise<Lines> {
    const [master, replica] = [await startRedis(), await startRedis()]
    await replica.command('REPLICAOF', '127.0.0.1', String(master.port))
    await until(async () => (await infoOf(replica, 'replication')).includes('link_status:up'))
    const lines = await changed(master.url, has, async (renew) => {
      const promote = () => replica.command('REPLICAOF', 'NO', 'ONE')
      await master.command('WAIT', '1', '0')
      if (lost === 'the renewal') await promote()
      await renew()
      if (lost === 'nothing') {
        await until(async () => {
          const offset = async (server: RedisServer) =>
            /master_repl_offset:(\d+)/.exec(await infoOf(server, 'replication'))?.[1]
          return (await offset(master)) === (await offset(replica))
        })
        await promote()
      }
      await master.kill()
      return replica
    })
    await master.stop()
    return lines
  }

  /** @returns The lines of a login that cannot be stored in this server. */
  async function unstored(server: RedisServer): Promise<Lines> {
    const service = new StrictService()
    const { tokens, lines } = await start(service.source(), server.url)
    await outcome(tokens.adopt(service.grant()))
    await settle()
    await server.stop()
    return lines
  }

  async function readOnly(): Promise<Lines> {
    const replica = await startRedis()
    await replica.command('REPLICAOF', '127.0.0.1', '1')
    return unstored(replica)
  }

  async function redisFull(): Promise<Lines> {
    const server = await startRedis()
    const { dir } = (await server.command('CONFIG', 'GET', 'dir')) as { dir: string }
    await server.command('CONFIG', 'SET', 'save', '3600 1')
    await rm(dir, { recursive: true })
    await server.command('BGSAVE')
    await until(async () => (await infoOf(server, 'persistence')).includes('rdb_last_bgsave_status:err'))
    return unstored(server)
  }

  /** One of two deployments on one store has a wrong secret. @returns The lines of one more process with that secret. */
  async function otherSecret(): Promise<Lines> {
    const { origin } = await endpoint([401, { error: 'invalid_client' }])
    const wrong = () => start(clientOf(origin, { clientSecret: 'wrong' }))
    const first = await wrong()
    await outcome(first.tokens.getAccessToken())
    const second = await wrong()
    await outcome(second.tokens.getAccessToken())
    await settle()
    expectNamed(first.lines, { cause: /401: invalid_client/, cure: /check clientId, clientSecret/ })
    return second.lines
  }

  /** The other deployment, whose secret is right, is not disturbed. */
  async function rightSecret(): Promise<Lines> {
    let isRejected = true
    const { origin } = await endpoint(() => (isRejected ? [401, { error: 'invalid_client' }] : grant()))
    const wrong = await start(clientOf(origin, { clientSecret: 'wrong' }), undefined, KEYS.first)
    await outcome(wrong.tokens.getAccessToken())
    isRejected = false
    const { tokens, lines } = await start(clientOf(origin), undefined, KEYS.first)
    await outcome(tokens.getAccessToken())
    await settle()
    return lines
  }

  async function otherKey(): Promise<Lines> {
    const service = new StrictService()
    const first = await start(service.source(), undefined, KEYS.first)
    const { tokens, lines } = await start(service.source(), undefined, KEYS.other)
    await first.tokens.adopt(service.grant())
    await outcome(tokens.getAccessToken())
    await settle()
    return lines
  }

  const NIGHTS: readonly Night[] = [
    {
      night: '7: the store is read-only',
      run: readOnly,
      cause: /storeUnavailable: .* \(READONLY: the server is a replica/,
      cure: /connect to the primary/,
    },
    {
      night: '8: the store was restored, and the process with the newer tokens is alive',
      run: () => restored('lives'),
      cause: /store-restored; The shared token store has failed over, or was restored from a copy/,
      cure: /No action is needed/,
    },
    {
      night: '8: the store was restored, and the process with the newer tokens has died',
      run: () => restored('died'),
      cause:
        /A login is required \(lost: the token store has lost the login or its last refresh token, in a failover or a restore\)/,
      cure: /call adopt\(\) with its tokens/,
    },
    {
      night: '9: a replica without the last renewal has taken over',
      run: () => failedOver('the renewal', 'lives'),
      cause: /store-restored; The shared token store has failed over, or was restored from a copy/,
      cure: /No action is needed/,
    },
    {
      night: '9: a replica without the last renewal has taken over, and the process with the newer tokens has died',
      run: () => failedOver('the renewal', 'died'),
      cause: /A login is required \(lost: /,
      cure: /call adopt\(\) with its tokens/,
    },
    {
      night: '9: a replica with all writes has taken over',
      run: () => failedOver('nothing', 'lives'),
      cause: /store-restored; The shared token store has failed over, or was restored from a copy/,
      cure: /No action is needed/,
    },
    {
      night: '15: two processes of one store have a wrong secret',
      run: otherSecret,
      cause:
        /ERR_CREDENTIALS_REJECTED: Another owner of this account failed to renew: .* This process has the same credentials/,
      cure: /check them/,
    },
    {
      night: '15: another process of the store has a wrong secret',
      run: rightSecret,
      cause: /renewed: obtain \(cold\)/,
      cure: undefined,
    },
    {
      night: '15: the processes of one store have different keys',
      run: otherKey,
      cause:
        /stored-tokens-unusable; The shared token record cannot be used: it is sealed with a key that is not among encryptionKeys/,
      cure: /add that key, or delete the record/,
    },
    {
      night: '16: the disk of Redis is full',
      run: redisFull,
      cause: /MISCONF: the server cannot save to disk/,
      cure: /free disk space/,
    },
    ...(BetterSqlite
      ? [
          {
            night: '16: the disk of SQLite is full',
            run: sqliteFull,
            cause: /FULL: the disk is full/,
            cure: /free space on/,
          },
        ]
      : []),
  ]

  it.each(NIGHTS)('when it is night $night, then the lines name the cause and the cure', async ({ run, ...named }) => {
    expectNamed(await run(), named)
  })

  it.each<[string, Partial<RedisStoreOptions>, Partial<OAuth2Options>]>([
    ['prefix', { prefix: 'other' }, {}],
    ['scope', {}, { scope: 'orders stock' }],
  ])(
    'F432: when a process has another %s (night 15), then the error of its first request names it',
    async (name, given, own) => {
      const login = (options: Partial<OAuth2Options> = {}) =>
        clientOf('https://id.example.com', { grant: 'login', scope: 'orders', ...options })
      const process = (source: TokenSource, options?: Partial<RedisStoreOptions>) =>
        start(source, undefined, options, source.id)
      const first = await process(login())
      const { tokens } = await process(login(own), given)
      await first.tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r' })
      // No line: a server that makes a manager for each request would write one for each visitor (F386).
      expect(await outcome(tokens.getAccessToken())).toMatchObject({
        code: 'ERR_LOGIN_REQUIRED',
        loginReason: 'none-yet',
        message: expect.stringMatching(new RegExp(`no user has logged in, or .*\\b${name}\\b.* changed`)),
      })
    },
  )
})
