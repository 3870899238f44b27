import { afterAll, afterEach, expect, it } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import type { TokenManager, TokenStore } from '../../src/index.ts'
import type { RecordState } from '../../src/record/record-shape.ts'
import type { EncryptionKey, SharedStoreOptions } from '../../src/store/index.ts'
import { type Code, codeOf, type State } from '../support/code-states.ts'
import { printFigure } from '../support/figure.ts'
import { outcome } from '../support/managed.ts'
import { BetterSqlite, describeSqlite } from '../support/node-sqlite.ts'
import { startTableOnClock } from '../support/postgres-clock.ts'
import { describePostgres } from '../support/postgres-server.ts'
import { randomFrom } from '../support/random.ts'
import * as redisClock from '../support/redis-clock.ts'
import { describeRedis, startRedis } from '../support/redis-server.ts'
import { StrictService } from '../support/strict-service.ts'
import { Traffic } from '../support/traffic.ts'
import { watchedClock } from '../support/watched-clock.ts'

const LOGINS = 20
/** Of each login. */
const PROCESSES = 3
const LIFETIME_MS = 20_000
const SEED = Number(process.env.DEPLOYS_SEED ?? 1129)

const key = (n: number): EncryptionKey => ({
  id: `key-${n}`,
  key: Uint8Array.from({ length: 32 }, (_, at) => at * n + 1),
})
const [ONE, TWO] = [key(1), key(2)]

/** The releases of a program, each rolled out process by process. The keys change on the way, and the last two go back. */
const RELEASES: readonly (readonly [State, readonly EncryptionKey[]])[] = [
  [process.env.DEPLOYS_FROM === undefined ? 'now' : 'from', [ONE]],
  ['later', [ONE, TWO]],
  ['now', [TWO, ONE]],
  ['later', [TWO, ONE]],
  [process.env.DEPLOYS_FROM === undefined ? 'now' : 'from', [TWO]],
]

const clock = watchedClock()
const traffic = new Traffic()
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

type StoreOf = (code: Code, options: SharedStoreOptions) => TokenStore

/** A server on which one login is used. It runs one release after the other. */
class Server {
  #tokens: TokenManager | undefined
  refused = 0

  /** @param isKilled It ends without `close`. What it had in flight goes on at the service, and reaches nobody. */
  async deploy(tokens: TokenManager, isKilled: boolean): Promise<void> {
    const old = this.#tokens
    this.#tokens = tokens
    if (!isKilled) await old?.close()
  }

  async ask(): Promise<void> {
    const tokens = this.#tokens!
    const answer = await outcome(tokens.getAccessToken())
    // A request of a server that stops is not accepted, or is sent to another one.
    if (typeof answer !== 'string' && tokens === this.#tokens) this.refused += 1
  }
}

async function rollThrough(name: string, storeOf: StoreOf): Promise<void> {
  const random = randomFrom(SEED)
  const codes = Object.fromEntries(
    await Promise.all(RELEASES.map(async ([state]) => [state, await codeOf(state)] as const)),
  ) as Record<State, Code>
  /** The logins whose record `later` has written, and how often the other releases have dropped its members. */
  const extended = new Set<string | undefined>()
  let dropped = 0
  Object.assign(globalThis, {
    onRecord(state: RecordState & { region?: 1 }) {
      if (state.region === 1) extended.add(state.loginId)
      else if (extended.has(state.loginId)) dropped += 1
    },
  })
  ends.push(() => Reflect.deleteProperty(globalThis, 'onRecord'))

  const logins = Array.from({ length: LOGINS }, (_, n) => {
    const service = new StrictService(LIFETIME_MS)
    const start = ([state, encryptionKeys]: (typeof RELEASES)[number]) => {
      const code = codes[state]
      const source = { ...service.source(), login: code.person }
      const options = { storeKey: `user ${n}`, renewal: { keepWarm: 'never' }, clock, random } as const
      return code.createTokenManager({
        ...options,
        source,
        store: storeOf(code, { encryptionKeys: [...encryptionKeys] }),
      })
    }
    return { service, start, servers: Array.from({ length: PROCESSES }, () => new Server()) }
  })
  const second = async () => {
    for (const { servers } of logins) for (const server of servers) void server.ask()
    for (let quarter = 0; quarter < 4; quarter += 1) {
      await traffic.idle()
      await clock.advance(250)
    }
    await traffic.idle()
  }
  for (const { service, start, servers } of logins) {
    const [first] = RELEASES
    for (const server of servers) await server.deploy(start(first!), false)
    const tokens = start(first!)
    await tokens.adopt(service.grant())
    await tokens.close()
  }
  for (const release of RELEASES.slice(1))
    for (const at of inRandomOrder(random)) {
      const waiting = logins.map(({ start, servers }) => servers[at]!.deploy(start(release), random() < 0.5))
      for (let n = 0; n < LIFETIME_MS / 2_000; n += 1) await second()
      await Promise.all(waiting)
    }
  for (let n = 0; n < (2 * LIFETIME_MS) / 1_000; n += 1) await second()

  const lost = logins.filter(({ service }) => service.hasEnded).length
  const twice = logins.filter(({ service: { presented } }) => new Set(presented).size < presented.length).length
  const refused = logins.flatMap(({ servers }) => servers).reduce((sum, server) => sum + server.refused, 0)
  const renewals = logins.reduce((sum, { service }) => sum + service.presented.length, 0)
  printFigure(
    name,
    `seed ${SEED}: ${LOGINS - lost} of ${LOGINS} logins kept over ${renewals} renewals, ${twice} presented a token twice, ${refused} requests refused, ${dropped} members dropped`,
  )
  expect({ lost, twice, refused, dropped, extended: extended.size }).toEqual({
    lost: 0,
    twice: 0,
    refused: 0,
    dropped: 0,
    extended: LOGINS,
  })
}

/** The processes of a login. */
function inRandomOrder(random: () => number): number[] {
  const left = Array.from({ length: PROCESSES }, (_, n) => n)
  return Array.from({ length: PROCESSES }, () => left.splice(Math.floor(random() * left.length), 1)[0]!)
}

const TITLE =
  'when each release is rolled out process by process, and back again, with new keys on the way, then no login is lost (F297)'

describeRedis('given twenty logins in a Redis, each in three processes whose users ask once a second', () => {
  it(TITLE, async () => {
    const server = await startRedis()
    const client = createClient({ url: server.url })
    await client.connect()
    ends.push(() => client.destroy())
    const send = traffic.counted((args: string[]) => client.sendCommand(args))
    await rollThrough('Redis', (code, options) =>
      code.redisStore({ client: redisClock.onClock(send, clock), ...options }),
    )
  })
})

describePostgres('given twenty logins in a PostgreSQL, each in three processes whose users ask once a second', () => {
  it(TITLE, async () => {
    const pool = await startTableOnClock(clock, traffic, (end) => ends.push(end))
    await rollThrough('PostgreSQL', (code, options) => code.postgresStore({ pool, ...options }))
  })
})

describeSqlite('given twenty logins in a SQLite file, each in three processes whose users ask once a second', () => {
  const folder = mkdtempSync(join(tmpdir(), 'evergreen-deploys-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it(TITLE, async () => {
    const database = new BetterSqlite!(join(folder, 'tokens.db'))
    ends.push(() => database.close())
    await rollThrough('SQLite', (code, options) =>
      code.sharedStore(
        code.sqliteRegister(() => database, 1_000, undefined, clock),
        options,
      ),
    )
  })
})
