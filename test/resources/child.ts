// A program that test/resources/processes.ts starts as a process: it has the login of the test, with several APIs, and does what lines of its input say.
import { createInterface } from 'node:readline'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createClient } from 'redis'
import { isTokenError } from '../../src/index.ts'
import { type ResourceOptions, forResource } from '../../src/oauth2/index.ts'
import { redisRegister } from '../../src/redis/redis-register.ts'
import type { SqliteDatabase } from '../../src/sqlite/index.ts'
import { sqliteRegister } from '../../src/sqlite/sqlite-register.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import * as redisClock from '../support/redis-clock.ts'
import { Traffic } from '../support/traffic.ts'
import { watchedClock } from '../support/watched-clock.ts'
import { ENCRYPTION_KEYS } from './encryption-keys.ts'
import { openLogin } from './open-login.ts'

export interface Given {
  readonly origin: string
  readonly prefix: string
  readonly place: { readonly redis: string } | { readonly sqlite: string }
  readonly apis: readonly ResourceOptions[]
  readonly reuseGraceMs?: number
}

export type Program = typeof does

const given = JSON.parse(process.env.GIVEN!) as Given
const clock = watchedClock()
const traffic = new Traffic()
/** How many steps of the register are left until this process is killed. */
let left = Infinity
let keyOfLogin = ''

function step(): void {
  if (left === 0) process.kill(process.pid, 'SIGKILL')
  left -= 1
}

async function opened(): Promise<TokenRegister> {
  if ('sqlite' in given.place) {
    const BetterSqlite = createRequire(join(process.cwd(), 'test/sqlite/package.json'))('better-sqlite3') as new (
      file: string,
    ) => SqliteDatabase
    const database = new BetterSqlite(given.place.sqlite)
    return sqliteRegister(() => database, 100, undefined, clock)
  }
  const client = createClient({ url: given.place.redis })
  await client.connect()
  return redisRegister(
    redisClock.onClock(
      traffic.counted((args: string[]) => client.sendCommand(args)),
      clock,
    ),
  )
}

/** A register each of whose steps may be the last one of this process: before it acts, and after. */
function mortal(register: TokenRegister): TokenRegister {
  const through = async <Value>(act: () => Promise<Value>): Promise<Value> => {
    step()
    const value = await act()
    step()
    return value
  }
  return {
    kind: register.kind,
    read: (key) => {
      keyOfLogin = key
      return through(() => register.read(key))
    },
    replace: (...what) => through(() => register.replace(...what)),
  }
}

const { origin, prefix, reuseGraceMs } = given
const store = sharedStore(mortal(await opened()), { prefix, encryptionKeys: ENCRYPTION_KEYS, commandTimeoutMs: 2_000 })
const login = openLogin({ origin, store, clock, traffic }, { reuseGraceMs })
const apis = [login, ...given.apis.map((api) => forResource(login, api))]
let answers: Promise<string>[] = []

async function outcome(api: number): Promise<string> {
  try {
    return await apis[api]!.getAccessToken()
  } catch (error) {
    return isTokenError(error) ? error.code : String(error)
  }
}

const does = {
  /** @returns The key of the login in the register. */
  async adopt(refreshToken: string) {
    await login.adopt({ refreshToken, subject: 'ada' })
    return keyOfLogin
  },
  /** @returns The token, or the code of an error. */
  get: (api: number) => outcome(api),
  /** From now on, this process has so many steps to live. */
  killAfter: (steps: number) => void (left = steps),
  /** Gets all tokens in the background. */
  ask: () => void answers.push(...apis.map((_, api) => outcome(api))),
  /** @returns What `ask` has got, in its order. */
  async collect() {
    const all = await Promise.all(answers)
    answers = []
    return all
  },
  async pass(ms: number) {
    await traffic.idle()
    await clock.advance(ms)
    await traffic.idle()
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, name, argument } = JSON.parse(line) as { id: number; name: keyof Program; argument: never }
  const answer = (result: object) => process.stdout.write(`${JSON.stringify({ id, ...result })}\n`)
  Promise.resolve(does[name](argument)).then(
    (value) => answer({ value }),
    (error: unknown) => answer({ error: String(error) }),
  )
})
process.stdout.write('{"id":0}\n')
