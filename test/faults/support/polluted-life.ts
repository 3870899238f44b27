import type { AxiosStatic } from 'axios'
import type { ExchangeContext, TokenGrant, TokenManager, TokenSource, TokenStore } from '../../../src/index.ts'
import type { LoginManager } from '../../../src/login/index.ts'
import type { SqliteDatabase } from '../../../src/sqlite/index.ts'
import { type ManualClock, manualClock } from '../../../tools/testing/manual-clock.ts'
import { MemoryRegister } from '../../support/memory-register.ts'
import type * as polluted from './polluted-package.ts'

export type Package = typeof polluted

export const KEEPERS = ['no store', 'memoryStore', 'a shared store', 'a sealed store', 'SQLite'] as const
export type Keeper = (typeof KEEPERS)[number]

export interface Life {
  readonly keeper: Keeper
  /** The source has logins of persons. */
  readonly isLogin: boolean
  readonly axios: AxiosStatic
  /** A new database in memory, for SQLite. */
  readonly database?: SqliteDatabase | undefined
  /** Without a page of a worker. */
  readonly isPageless?: boolean
  /** The managers exist. */
  readonly isMade?: () => void
}

const ORIGIN = 'https://api.example.com'
const KEYS = [{ id: 'one', key: Uint8Array.from({ length: 32 }, (_, n) => n) }]

/** Two managers of an account go through their life, and each door of them is used. @returns What their source, callers, listeners and the API saw. */
export async function life(
  given: Package,
  { keeper, isLogin, axios, database, isPageless, isMade }: Life,
): Promise<string[]> {
  const { createTokenManager, person, TokenError } = given
  const seen: string[] = []
  const say = (what: unknown) => void seen.push(JSON.stringify(what, (_, value: unknown) => value ?? null))
  const clock = manualClock({ wallNow: Date.UTC(2026, 0, 1) })
  const fails: string[] = []
  let issued = 0
  const exchange = (how: string, refreshToken: unknown, context: ExchangeContext): Promise<TokenGrant> => {
    say([how, refreshToken, context.context, context.resource])
    const code = fails.shift()
    const outcome = code === 'ERR_REFRESH_REJECTED' ? 'rejected' : 'unknown'
    if (code !== undefined) throw new TokenError(code as never, 'failed', { outcome })
    issued += 1
    return Promise.resolve({ accessToken: `AT-${issued}`, accessLifetimeMs: 60_000, refreshToken: `RT-${issued}` })
  }
  const source: TokenSource = Object.assign(Object.create(null) as object, {
    id: 'polluted',
    resources: true,
    obtain: (context: ExchangeContext) => exchange('obtain', undefined, context),
    refresh: (token: string, context: ExchangeContext) => exchange('refresh', token, context),
    revoke: ({ accessToken, refreshToken, context }: Record<string, string>) =>
      Promise.resolve().then(() => say(['revoke', accessToken, refreshToken, context])),
    ...(isLogin && { login: person }),
  })
  const open = storesOf(given, keeper, clock, database)
  const manager = () => {
    const options = { source, clock, random: () => 0.5, renewal: { keepWarm: 'never' } } as const
    const store = open()
    const tokens = createTokenManager({ ...options, ...(store && { store }) }) as LoginManager
    tokens.onAny((event, told) => say([event, told]))
    return tokens
  }
  const tried = async (name: string, act: () => Promise<unknown>) => {
    const progress = { hasEnded: false }
    const ended = act().then(
      (value) => say([name, value]),
      (error: unknown) => say([name, (error as { code?: string }).code, (error as Error).message]),
    )
    void ended.then(() => (progress.hasEnded = true))
    for (let turn = 0; turn < 2 || (turn < 60 && !progress.hasEnded); turn += 1) {
      await clock.advance(1_000)
    }
    if (!progress.hasEnded) say([name, 'never ends'])
  }
  const [one, two] = [manager(), manager()]
  const { doors, closeDoors } = doorsOf(given, axios, one, two, isPageless)
  isMade?.()
  const get = async () => {
    await tried('one', () => one.getAccessToken())
    await tried('two', () => two.getAccessToken())
  }
  const send = async () => {
    for (const [name, request] of doors) await tried(name, request)
  }
  await get()
  await tried('logout of nobody', () => one.logout())
  await tried('adopt', () => one.adopt({ accessToken: 'AT-alice', accessLifetimeMs: 60_000, refreshToken: 'RT-alice' }))
  await get()
  await send()
  await clock.advance(60_000)
  await send()
  await get()
  await tried('renew', () => two.renew())
  fails.push('ERR_TOKEN_SERVICE_UNAVAILABLE')
  await tried('renew', () => one.renew())
  await get()
  await clock.advance(60_000)
  fails.push('ERR_REFRESH_REJECTED')
  await get()
  await tried('adopt', () => two.adopt({ accessToken: null, refreshToken: 'RT-bob', subject: 'bob' }))
  await get()
  await send()
  say([one.status(), two.status()])
  await tried('logout', () => two.logout())
  await get()
  await tried('reset', () => one.reset())
  await tried('close', () => Promise.all([one.close(), two.close()]))
  closeDoors()
  return seen
}

/** @returns A function that opens the store of the next manager. */
function storesOf(given: Package, keeper: Keeper, clock: ManualClock, database?: SqliteDatabase) {
  const { checkedRegister, memoryStore, sharedStore, sqliteRegister, readOptions, SHARED, storeOn } = given
  const register = new MemoryRegister(clock)
  const inMemory = memoryStore()
  const file = () => {
    const machineNow = () => ({ boot: 'boot', at: clock.monotonicNow() })
    const rows = checkedRegister(sqliteRegister(() => database!, 100, undefined, clock))
    return storeOn(rows, readOptions('', {}, SHARED, ''), String, { machineNow })
  }
  const stores: Record<Keeper, () => TokenStore | undefined> = {
    'no store': () => undefined,
    memoryStore: () => inMemory,
    'a shared store': () => sharedStore(register),
    'a sealed store': () => sharedStore(register, { encryptionKeys: KEYS }),
    SQLite: file,
  }
  return stores[keeper]
}

/** Each door to the tokens, with the header that the API receives. */
function doorsOf(given: Package, axios: AxiosStatic, one: TokenManager, two: TokenManager, isPageless = false) {
  const api = axios.create({
    baseURL: ORIGIN,
    adapter: async (config) => {
      const data = String(config.headers.get('Authorization'))
      return { status: 200, statusText: '', headers: {}, data, config }
    },
  })
  given.attachBearer(api, one)
  // Without Request and Response, which read `Object.prototype`.
  const answer = (async (_, init) => ({
    status: 200,
    headers: new Headers(),
    text: async () => new Headers(init?.headers).get('authorization'),
  })) as typeof fetch
  const attached = given.withBearer(answer, two, { origins: [ORIGIN] })
  const other = given.forResource(one, { resource: 'https://other.example.com' })
  const doors: [string, () => Promise<string>][] = [
    ['attachBearer', async () => (await api.get<string>('/x')).data],
    ['withBearer', async () => (await attached(`${ORIGIN}/x`)).text()],
    ['forResource', () => other.getAccessToken()],
  ]
  if (isPageless) return { doors, closeDoors: () => undefined }
  const { port1, port2 } = new MessageChannel()
  given.exposeTokens(two, port2)
  const page = given.connectTokens(port1)
  doors.push(['connectTokens', async () => (await page).getAccessToken()])
  return { doors, closeDoors: () => [port1, port2].forEach((port) => port.close()) }
}
