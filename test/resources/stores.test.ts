import { afterAll, afterEach, expect, it } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import {
  createTokenManager,
  type ExchangeContext,
  isTokenError,
  TokenError,
  type TokenGrant,
  type TokenSource,
  type TokenStore,
} from '../../src/index.ts'
import { type LoginManager, person } from '../../src/login/index.ts'
import { forResource } from '../../src/oauth2/index.ts'
import { postgresStore } from '../../src/postgres/index.ts'
import { redisStore } from '../../src/redis/index.ts'
import { sqliteRegister } from '../../src/sqlite/sqlite-register.ts'
import { sharedStore, type SharedStoreOptions } from '../../src/store/index.ts'
import { type Code, codeOf } from '../support/code-states.ts'
import { printFigure } from '../support/figure.ts'
import { outcome } from '../support/managed.ts'
import { BetterSqlite, describeSqlite } from '../support/node-sqlite.ts'
import { startTableOnClock } from '../support/postgres-clock.ts'
import { describePostgres } from '../support/postgres-server.ts'
import { randomFrom } from '../support/random.ts'
import * as redisClock from '../support/redis-clock.ts'
import { describeRedis, startRedis } from '../support/redis-server.ts'
import { Traffic } from '../support/traffic.ts'
import { type WatchedClock, watchedClock } from '../support/watched-clock.ts'
import { ENCRYPTION_KEYS } from './encryption-keys.ts'
import { ORDERS, STOCK } from './world.ts'

const PROCESSES = 10
const LIFETIMES = 40
const LIFETIME_MS = 20_000
/** Time passes in steps of the time limit for a command, and not while one is in flight: so none is late. */
const STEP_MS = 250
const STEPS = LIFETIME_MS / STEP_MS
const SEED = Number(process.env.RESOURCES_SEED ?? 418)

/** With `DEPLOYS_FROM=<commit>` the code of that commit. */
const OTHER = process.env.DEPLOYS_FROM === undefined ? 'later' : 'from'
const WHATS = ['login', ORDERS, STOCK] as const

/** The server. A refresh token is valid once: presenting a used one ends the login of its user. An exchange takes a drawn time. */
class Server {
  readonly presented: string[] = []
  readonly ended = new Set<string>()
  inFlight = 0
  mostInFlight = 0
  readonly #alive = new Map<string, string>()
  readonly #clock: WatchedClock
  readonly #random: () => number
  #n = 0

  constructor(clock: WatchedClock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  login(user: string): { refreshToken: string; subject: string } {
    return { refreshToken: this.#rotated(user), subject: user }
  }

  /** @param login `person` of the code that uses it. */
  source(login: TokenSource['login'] = person): TokenSource {
    return {
      id: 'strict',
      login,
      resources: true,
      obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'log in', { outcome: 'not-sent' })),
      refresh: (refreshToken, context) => this.#refresh(refreshToken, context),
    }
  }

  async #refresh(presented: string, { resource }: ExchangeContext): Promise<TokenGrant> {
    this.presented.push(presented)
    this.inFlight += 1
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight)
    const takesMs = Math.floor(this.#random() * 600)
    await new Promise<void>((resolve) => this.#clock.setTimer(resolve, takesMs))
    this.inFlight -= 1
    const user = presented.split('|')[0]!
    if (this.#alive.get(user) !== presented) this.ended.add(user)
    if (this.ended.has(user))
      throw new TokenError('ERR_REFRESH_REJECTED', 'reused', { outcome: 'rejected', status: 400 })
    const accessToken = [user, resource?.resource ?? 'login', this.#clock.wallNow(), (this.#n += 1)].join('|')
    return { accessToken, accessLifetimeMs: LIFETIME_MS, refreshToken: this.#rotated(user) }
  }

  #rotated(user: string): string {
    const refreshToken = `${user}|${(this.#n += 1)}`
    this.#alive.set(user, refreshToken)
    return refreshToken
  }
}

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const clock = watchedClock()
const traffic = new Traffic()

/** @param code Of the process. */
type StoreOf = (
  options: SharedStoreOptions,
  code: Pick<Code, 'redisStore' | 'postgresStore' | 'sharedStore' | 'sqliteRegister'>,
) => TokenStore

const THIS_CODE = { createTokenManager, person, redisStore, postgresStore, sharedStore, sqliteRegister }

/** A login in ten processes, each with its own store and a manager for each API. */
function worldWith(storeOf: StoreOf) {
  const random = randomFrom(SEED)
  const server = new Server(clock, random)
  const open = (code: typeof THIS_CODE = THIS_CODE) => {
    const login = code.createTokenManager({
      source: server.source(code.person),
      store: storeOf({ encryptionKeys: ENCRYPTION_KEYS }, code),
      storeKey: 'session',
      clock,
      random,
    }) as LoginManager
    login.onAny(() => undefined)
    ends.push(() => login.close())
    // Other code knows no resources.
    const resources = code === THIS_CODE ? [ORDERS, STOCK] : []
    return { login, apis: [login, ...resources.map((resource) => forResource(login, { resource }))] }
  }
  const processes = Array.from({ length: PROCESSES }, () => open())
  const pass = async () => {
    await traffic.idle()
    await clock.advance(STEP_MS)
    await traffic.idle()
  }
  const until = async <Value>(promise: Promise<Value>): Promise<Value> => {
    const waiting = { isDone: false }
    void outcome(promise).then(() => (waiting.isDone = true))
    for (let n = 0; n < STEPS && !waiting.isDone; n += 1) await pass()
    return promise
  }
  return { random, server, processes, open, pass, until }
}

/** What is wrong with the answer to a request for a token; undefined if nothing is. */
function faultIn(answer: string | TokenError, what: string, user: string): string | undefined {
  if (typeof answer !== 'string') return `${answer.code}: ${answer.message}`
  const [of, api, at] = answer.split('|')
  if (of !== user || api !== what) return `${what} of ${user} got ${answer}`
  return clock.wallNow() < Number(at) + LIFETIME_MS ? undefined : `${what} got an expired token`
}

async function serveLifetimes(name: string, storeOf: StoreOf): Promise<void> {
  const { random, server, processes, pass, until } = worldWith(storeOf)
  await until(processes[0]!.login.adopt(server.login('ada')))
  const answers: Promise<string | undefined>[] = []
  for (let lifetime = 0; lifetime < LIFETIMES; lifetime += 1) {
    // Half of them at once, the others whenever they need it.
    const asks = processes.flatMap(({ apis }) =>
      apis.map((api, n) => ({ api, n, at: random() < 0.5 ? 0 : Math.floor(random() * STEPS) })),
    )
    for (let step = 0; step < STEPS; step += 1) {
      for (const { api, n, at } of asks)
        if (at === step) answers.push(outcome(api.getAccessToken()).then((answer) => faultIn(answer, WHATS[n]!, 'ada')))
      await pass()
    }
  }
  const faults = (await until(Promise.all(answers))).filter((fault) => fault !== undefined)
  const { presented, ended, mostInFlight } = server
  const asked = LIFETIMES * PROCESSES * WHATS.length
  printFigure(
    name,
    `seed ${SEED}: ${asked - faults.length} of ${asked} requests served in ${PROCESSES} processes over ${LIFETIMES} lifetimes, ${presented.length} exchanges, ${presented.length - new Set(presented).size} refresh tokens presented twice`,
  )
  expect([...new Set(faults)]).toEqual([])
  expect(answers.length).toBe(asked)
  expect([presented.length - new Set(presented).size, ended.size, mostInFlight]).toEqual([0, 0, 1])
  expect(processes.map(({ login }) => login.status().login)).toEqual(Array(PROCESSES).fill('present'))
}

/** At each change of the user, all processes have a token for each API, and some exchange is in flight. */
async function changeUsers(storeOf: StoreOf): Promise<void> {
  const { random, server, processes, pass, until } = worldWith(storeOf)
  let last = 'nobody'
  for (let change = 0; change < 12; change += 1) {
    const user = `${change % 2 === 0 ? 'alice' : 'bob'}-${change}`
    const early = processes.flatMap(({ apis }) => (change === 0 ? [] : apis.map((api) => outcome(api.renew()))))
    for (let n = Math.floor(random() * 5); n > 0; n -= 1) await pass()
    const { login, apis } = processes[Math.floor(random() * PROCESSES)]!
    const adopted = login.adopt(server.login(user))
    const tokens = apis.map((api) => api.peekAccessToken()).filter((token) => token !== undefined)
    expect(tokens.filter((token) => token.startsWith(`${last}|`))).toEqual([])
    const here = apis.map((api) => outcome(api.getAccessToken()))
    await until(adopted)
    const answers = await until(Promise.all(here))
    expect(answers.map((answer, n) => faultIn(answer, WHATS[n]!, user))).toEqual([undefined, undefined, undefined])
    for (const answer of await until(Promise.all(early)))
      if (isTokenError(answer)) expect(answer.code).toBe('ERR_LOGIN_REPLACED')
    // In the other processes, living tokens of the former user serve until they expire, or until the record is read.
    for (let n = 0; n < STEPS; n += 1) await pass()
    const everywhere = processes.flatMap(({ apis: all }) =>
      all.map(async (api, n) => faultIn(await outcome(api.getAccessToken()), WHATS[n]!, user)),
    )
    expect((await until(Promise.all(everywhere))).filter((fault) => fault !== undefined)).toEqual([])
    last = user
  }
  const { presented, ended } = server
  expect([presented.length - new Set(presented).size, ended.size]).toEqual([0, 0])
}

/** A process of another release renews its own token. A process that starts then has the tokens of the resources, without an exchange. */
async function renewInOtherCode(name: string, storeOf: StoreOf): Promise<void> {
  const { server, processes, open, pass, until } = worldWith(storeOf)
  const [one] = processes
  const other = open(await codeOf(OTHER)).login
  await until(one!.login.adopt(server.login('ada')))
  for (let lifetime = 0; lifetime < LIFETIMES / 4; lifetime += 1) {
    const tokens = await until(Promise.all(one!.apis.map((api) => api.getAccessToken())))
    await until(other.renew())
    const { length } = server.presented
    const next = open()
    const found = await until(Promise.all(next.apis.map((api) => api.getAccessToken())))
    expect([found.slice(1), server.presented.length]).toEqual([tokens.slice(1), length])
    await until(next.login.close())
    for (let n = 0; n < STEPS; n += 1) await pass()
  }
  const { presented, ended } = server
  printFigure(`${name}, two releases`, `${presented.length} exchanges, ${ended.size} logins ended`)
  expect([presented.length - new Set(presented).size, ended.size]).toEqual([0, 0])
}

/** @param start Starts what keeps the records. */
function testsWith(name: string, start: () => StoreOf | Promise<StoreOf>): void {
  it('when they ask over 40 lifetimes, then all are served, each refresh token is presented once, and the login lives (F418, F425)', async () =>
    serveLifetimes(name, await start()))

  it('when a process whose code knows no resources renews, then their tokens stay in the record, and the login lives (F423)', async () =>
    renewInOtherCode(name, await start()))

  it('when two users log in in turn, then no token of the former user is sent for any API after it (F421, F425)', async () =>
    changeUsers(await start()))
}

describeRedis('given a login with two APIs in ten processes, sealed in a Redis', () => {
  testsWith('Redis', async () => {
    const server = await startRedis()
    const client = createClient({ url: server.url })
    await client.connect()
    ends.push(() => client.destroy())
    const send = traffic.counted((args: string[]) => client.sendCommand(args))
    return (options, code) => code.redisStore({ client: redisClock.onClock(send, clock), ...options })
  })
})

describePostgres('given a login with two APIs in ten processes, sealed in a PostgreSQL', () => {
  testsWith('PostgreSQL', async () => {
    const pool = await startTableOnClock(clock, traffic, (end) => ends.push(end))
    return (options, code) => code.postgresStore({ pool, ...options })
  })
})

describeSqlite('given a login with two APIs in ten processes, sealed in a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'evergreen-resources-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  let files = 0

  testsWith('SQLite', () => {
    const file = join(folder, `tokens-${(files += 1)}.db`)
    return (options, code) => {
      const database = new BetterSqlite!(file)
      ends.push(() => database.close())
      // As sqliteStore does, with the clock of the test.
      return code.sharedStore(
        code.sqliteRegister(() => database, 100, undefined, clock),
        options,
      )
    }
  })
})
