import { afterAll, afterEach, expect, it } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import { forResource, type ResourceOptions } from '../../src/oauth2/index.ts'
import { redisRegister } from '../../src/redis/redis-register.ts'
import { sqliteRegister } from '../../src/sqlite/sqlite-register.ts'
import { printFigure } from '../support/figure.ts'
import { outcome } from '../support/managed.ts'
import { part } from '../support/part.ts'
import { BetterSqlite, describeSqlite } from '../support/node-sqlite.ts'
import { randomFrom } from '../support/random.ts'
import * as redisClock from '../support/redis-clock.ts'
import { describeRedis, startRedis } from '../support/redis-server.ts'
import type { Given } from './child.ts'
import { start, stopProcesses } from './processes.ts'
import { settle } from '../support/watched-clock.ts'
import type { TokenError } from '../../src/index.ts'
import { ORDERS, type Place, STOCK, type World, worldWith } from './world.ts'

const APIS = [{ resource: ORDERS }, { resource: STOCK }]
const WHATS = ['login', ORDERS, STOCK]

const ends: (() => unknown)[] = []
afterEach(async () => {
  await stopProcesses()
  for (const end of ends.splice(0).reverse()) await end()
})

/**
 * What happens to a process, or to its token request. A number: it is killed at this step of the register. `sent`, `acted`: it is killed when the server has
 * its request, which the server executes or not. `503`, `lost`: nobody is killed.
 */
type Trouble = number | 'sent' | 'acted' | '503' | 'lost'

/** Where real processes of the test and its own managers share the record. */
interface Shared {
  readonly place: Place
  readonly where: Given['place']
}

/** @returns What it resolves with; undefined if it rejects. Meanwhile `pass` lets time pass. */
async function during<Value>(promise: Promise<Value>, pass: () => Promise<unknown>): Promise<Value | undefined> {
  const waiting = { isOver: false }
  const end = promise.finally(() => (waiting.isOver = true)).catch(() => undefined)
  await settle()
  while (!waiting.isOver) await pass()
  return end
}

/** What is wrong with what an API gets. */
const faultIn = ({ server }: World, answer: string | TokenError, api: number) => {
  const { what, user } = server.whatIs(String(answer)) ?? {}
  if (typeof answer !== 'string') return answer.code
  return what === WHATS[api] && user === 'ada' ? '' : `${answer}: ${what} of ${user}`
}

/** One exchange after the other, the last of them with the trouble. Then another process needs all tokens. */
async function play({ place, where }: Shared, hasGrace: boolean, exchange: number, trouble: Trouble) {
  const world = await worldWith(place)
  const { server, prefix, open, pass, look, kept } = world
  const grace = hasGrace ? { reuseGraceMs: 60_000 } : {}
  server.hasGrace = hasGrace
  const first = await start({ origin: server.origin, prefix, place: where, apis: APIS, ...grace })
  const key = await first.tell('adopt', server.login('ada'))
  for (let api = 0; api < exchange; api += 1) await first.tell('get', api)
  if (typeof trouble === 'number') await first.tell('killAfter', trouble)
  else if (trouble === '503') server.faults.push({ status: 503, body: '{}' })
  else if (trouble === 'lost') server.faults.push('lost')
  else
    server.onRequest = async () => {
      server.onRequest = () => undefined
      first.child.kill('SIGKILL')
      await first.ended
      if (trouble === 'sent') server.faults.push('refused')
    }
  const got = first.tell('get', exchange)
  const isKilled = trouble !== '503' && trouble !== 'lost'
  const answer = await during(got, async () => {
    if (isKilled) return settle()
    await first.tell('pass', 1_000)
    await pass(1_000)
  })
  if (isKilled && answer !== undefined) return undefined
  await look(key)
  const isStored = (await kept.record()).tokens?.refreshToken === server.newest

  const login = open(grace)
  ends.push(() => login.close())
  const apis = [login, ...APIS.map((api) => forResource(login, api))]
  const asked = async () => {
    const all = Promise.all(apis.map((api) => outcome(api.getAccessToken())))
    return (await during(all, () => pass(1_000)))!.map((one, api) => faultIn(world, one, api))
  }
  // On a busy machine a command may take longer than the virtual time that it has. Then the caller asks again.
  const faults = async () => {
    let found = await asked()
    for (let again = 0; again < 10 && found.includes('ERR_STORE_UNAVAILABLE'); again += 1) {
      await pass(1_000)
      found = await asked()
    }
    return found
  }
  const early = await faults()
  await pass(60_000)
  const later = await faults()
  return { isStored, early, later, reuses: server.reuses }
}

const HAPPENS: readonly Trouble[] = ['sent', 'acted', '503', 'lost']
const SERVED = ['', '', '']

/** @param startPlace Starts what keeps the records. @returns A function that makes room for another one. */
function testsWith(name: string, startPlace: () => Promise<() => Shared>): void {
  it.each([
    ['with a grace', true],
    ['without a grace', false],
  ])(
    'when the process of each exchange is killed at each step, or its answer is 503 or lost, and the service is %s, then no login is lost that could be kept (F419)',
    async (how, hasGrace) => {
      const next = await startPlace()
      let plays = 0
      let doubts = 0
      /** @returns Whether the process reached the step. */
      const judged = async (exchange: number, trouble: Trouble) => {
        const found = await play(next(), hasGrace, exchange, trouble)
        if (!found) return false
        const { isStored, early, later, reuses } = found
        plays += 1
        const at = `exchange ${exchange}, ${trouble}: `
        // The new refresh token is nowhere: the tokens of the other APIs serve on, and the login is in doubt, as without resources.
        if (!hasGrace && !isStored) {
          doubts += 1
          expect([at, ...early.slice(0, exchange)]).toEqual([at, ...SERVED.slice(0, exchange)])
        } else expect([at, ...early, ...later, reuses]).toEqual([at, ...SERVED, ...SERVED, 0])
        return true
      }
      const playAll = async (exchange: number) => {
        for (const what of HAPPENS) await judged(exchange, what)
        for (let step = 0; await judged(exchange, step); step += part(1, 3));
      }
      await Promise.all(WHATS.map((_, exchange) => playAll(exchange)))
      printFigure(
        `${name}, a service ${how}`,
        `${plays} kills, 503 and lost answers in ${WHATS.length} exchanges, ${doubts} logins in doubt`,
      )
    },
  )
}

async function startInRedis(): Promise<() => Shared> {
  const server = await startRedis()
  const client = createClient({ url: server.url })
  await client.connect()
  ends.push(
    () => server.stop(),
    () => client.destroy(),
  )
  return () => ({
    where: { redis: server.url },
    place: {
      name: 'Redis',
      isSealed: true,
      stepMs: 250,
      registerOf: async (clock, traffic) => {
        const send = traffic.counted((args: string[]) => client.sendCommand(args))
        return () => redisRegister(redisClock.onClock(send, clock))
      },
    },
  })
}

const PROCESSES = 10
const LIFETIMES = part(40, 10)
const LIFETIME_S = 20
const SEED = Number(process.env.RESOURCES_SEED ?? 418)
const FIVE = [...APIS, { audience: 'billing' }, { audience: 'mail' }, { scope: 'search:read' }]

/** Half of the processes ask at once, the others whenever they need it. */
async function serveLifetimes({ place, where }: Shared, apis: readonly ResourceOptions[]): Promise<void> {
  const { server, prefix } = await worldWith(place)
  const random = randomFrom(SEED)
  server.lifetimeS = LIFETIME_S
  const given = { origin: server.origin, prefix, place: where, apis }
  const all = await Promise.all(Array.from({ length: PROCESSES }, () => start(given)))
  await all[0]!.tell('adopt', server.login('ada'))
  const pass = () => Promise.all(all.map((one) => one.tell('pass', 1_000)))
  const whats = ['login', ...apis.map((api) => Object.values(api).join(' '))]
  const faults: string[] = []
  let asked = 0
  for (let lifetime = 0; lifetime < LIFETIMES; lifetime += 1) {
    const times = all.map(() => (random() < 0.5 ? 0 : Math.floor(random() * LIFETIME_S)))
    for (let second = 0; second < LIFETIME_S; second += 1) {
      for (const [n, one] of all.entries()) if (times[n] === second) await one.tell('ask')
      await pass()
    }
    const tokens = (await during(Promise.all(all.map((one) => one.tell('collect'))), pass))!.flat()
    asked += tokens.length
    for (const [n, token] of tokens.entries()) {
      const what = whats[n % whats.length]
      if (server.whatIs(token)?.what !== what) faults.push(`${what}: ${token}, ${server.whatIs(token)?.what}`)
    }
  }
  const presented = server.requests.map((body) => body.get('refresh_token'))
  printFigure(
    `${apis.length} APIs, real processes`,
    `seed ${SEED}: ${asked - faults.length} of ${asked} requests served in ${PROCESSES} processes over ${LIFETIMES} lifetimes, ${presented.length} exchanges, ${presented.length - new Set(presented).size} refresh tokens presented twice`,
  )
  expect([...new Set(faults)]).toEqual([])
  expect([asked, server.reuses, server.mostInFlight]).toEqual([LIFETIMES * PROCESSES * whats.length, 0, 1])
  expect(new Set(presented).size).toBe(presented.length)
}

describeRedis('given a login with two APIs in real processes, sealed in a Redis', () => {
  testsWith('Redis', startInRedis)

  it.each([
    ['two', APIS],
    ['five', FIVE],
  ])(
    'when ten processes use %s APIs over their lifetimes, then all requests are served, and each refresh token is presented once (F418)',
    async (_, apis) => serveLifetimes((await startInRedis())(), apis),
  )
})

describeSqlite('given a login with two APIs in real processes, sealed in a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'evergreen-resources-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  let files = 0
  testsWith('SQLite', async () => () => {
    // Virtual time does not wait for the lock of another process.
    const file = join(folder, `tokens-${(files += 1)}.db`)
    return {
      where: { sqlite: file },
      place: {
        name: 'SQLite',
        isSealed: true,
        stepMs: 250,
        registerOf: async (clock) => () => {
          const database = new BetterSqlite!(file)
          ends.push(() => database.close())
          return sqliteRegister(() => database, 100, undefined, clock)
        },
      },
    }
  })
})
