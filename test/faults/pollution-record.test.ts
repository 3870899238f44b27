import { afterEach, describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import type { ExchangeContext, TokenGrant, TokenSource } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'

/** The files whose interfaces name the members of the record, a change, a view, a lease, a report and a context. */
const SHAPES = [
  ...['record/record-shape', 'record/record-views', 'record/known-logins', 'core/lease', 'core/stored-tokens'],
  ...['core/refresh-fate', 'core/token-source', 'core/situation', 'core/account', 'core/memory-record'],
  ...['store/stored-state', 'store/record-text', 'store/token-register', 'store/steps', 'store/repeating-record'],
  ...['login/logout', 'record/identity', 'core/held-token', 'core/suspicion', 'core/login-port'],
]
const namesIn = (file: string) =>
  Array.from(readFileSync(`src/${file}.ts`, 'utf8').matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm), ([, name]) => name!)
/** A member with the name of a method of every object is no member of ours; a program with one of these is broken at once. */
const ALL = [...new Set(SHAPES.flatMap(namesIn))].filter((name) => !(name in Object.prototype)).sort()
/** `NAMES=all` takes every member, `NAMES=one,two` these. */
const NAMES =
  process.env.NAMES === 'all' ? ALL : (process.env.NAMES?.split(',') ?? ['state', 'tokens', 'context', 'isPrivate'])

const at = Date.UTC(2026, 0, 1)
const EVIL = { accessToken: 'AT-EVIL', accessLifetimeMs: 9e8, refreshToken: 'RT-EVIL' }
const TOKENS = {
  ...EVIL,
  ...{ at, accessMs: 9e8, accessRemainingMs: 9e8, refreshMs: 9e8, refreshRemainingMs: 9e8, fingerprint: 'evil' },
  ...{ context: 'EVIL', credentials: 'EVIL', fence: at, retired: false, presentations: 0, overlapped: false },
  ...{ version: 9e9, login: at, loginId: 'EVIL', subject: 'EVIL', lossAt: at, doubtAt: at },
}
/** All that the attacker has, in one object: it is a whole record, a change, a lease, a report and a context. */
const WHOLE: Record<string, unknown> = {
  ...TOKENS,
  ...{
    clearedFence: 0,
    overlaps: true,
    adoptedAt: at,
    owners: 9e9,
    epoch: 'EVIL',
    began: 'evil',
    now: at,
    value: 'EVIL',
  },
  ...{ ended: ['EVIL'], spent: ['EVIL'], past: ['EVIL'], kind: 'newer', owner: 'EVIL', ms: 9e8, settled: false },
  tokens: TOKENS,
  newer: TOKENS,
  stored: TOKENS,
  result: TOKENS,
  lease: { at, ms: 9e8, owner: 'EVIL', fence: at, settled: false },
  coolDown: { at, ms: null, failures: 9, isFirm: true, code: 'ERR_LOGIN_REQUIRED', kind: 'cool-down' },
  shared: { ms: 9e8, failures: 9, isFirm: true, code: 'ERR_CLOSED', kind: 'cool-down' },
}
WHOLE.state = { ...WHOLE }
const VALUES = (name: string): unknown[] => (name in WHOLE ? [WHOLE[name], WHOLE] : [WHOLE, true, 'EVIL'])

type Modules = Awaited<ReturnType<typeof modules>>
const modules = async () => ({
  ...(await import('../../src/index.ts')),
  ...(await import('../../src/login/index.ts')),
  ...(await import('../../src/store/index.ts')),
})

interface TokenErrorLike {
  readonly code?: string
}
const KEYS = [{ id: 'one', key: Uint8Array.from({ length: 32 }, (_, n) => n) }]
const STORES = ['no store', 'memoryStore', 'a shared store', 'a sealed store'] as const

/** Two managers of an account go through their life. @returns What their source, their callers and their listeners saw. */
async function life(
  { createTokenManager, memoryStore, sharedStore, person, TokenError }: Modules,
  kind: string,
  isLogin: boolean,
) {
  const seen: string[] = []
  const say = (what: unknown) => void seen.push(JSON.stringify(what, (_, value: unknown) => value ?? null))
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  const fails: string[] = []
  let issued = 0
  const exchange = (how: string, refreshToken: unknown, { context }: ExchangeContext): Promise<TokenGrant> => {
    say([how, refreshToken, context])
    const code = fails.shift()
    if (code !== undefined)
      throw new TokenError(code as never, 'failed', {
        outcome: code === 'ERR_REFRESH_REJECTED' ? 'rejected' : 'unknown',
      })
    issued += 1
    return Promise.resolve({ accessToken: `AT-${issued}`, accessLifetimeMs: 60_000, refreshToken: `RT-${issued}` })
  }
  const source: TokenSource = Object.assign(Object.create(null) as object, {
    id: 'polluted',
    obtain: (context: ExchangeContext) => exchange('obtain', undefined, context),
    refresh: (token: string, context: ExchangeContext) => exchange('refresh', token, context),
    revoke: ({ accessToken, refreshToken, context }: Record<string, string>) =>
      Promise.resolve().then(() => say(['revoke', accessToken, refreshToken, context])),
    ...(isLogin && { login: person }),
  })
  const shared = kind === 'memoryStore' ? memoryStore() : undefined
  const manager = () => {
    const store =
      kind === 'no store'
        ? undefined
        : (shared ?? sharedStore(register, kind === 'a sealed store' ? { encryptionKeys: KEYS } : {}))
    const tokens = createTokenManager({
      source,
      clock,
      random: () => 0.5,
      renewal: { keepWarm: 'never' },
      ...(store && { store }),
    }) as LoginManager
    tokens.onAny((event, told) => say([event, told]))
    return tokens
  }
  const tried = async (name: string, act: () => Promise<unknown>) => {
    const ended = act().then(
      (value) => say([name, value]),
      (error: unknown) => say([name, (error as TokenErrorLike).code, (error as Error).message]),
    )
    for (let turn = 0; turn < 5; turn += 1) {
      await settle()
      await clock.advance(1_000)
    }
    await ended
  }
  const [one, two] = [manager(), manager()]
  const get = async () => {
    await tried('one', () => one.getAccessToken())
    await tried('two', () => two.getAccessToken())
  }
  await get()
  await tried('logout of nobody', () => one.logout())
  await tried('adopt', () => one.adopt({ accessToken: 'AT-alice', accessLifetimeMs: 60_000, refreshToken: 'RT-alice' }))
  await get()
  await clock.advance(60_000)
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
  say([one.status(), two.status()])
  await tried('logout', () => two.logout())
  await get()
  await tried('reset', () => one.reset())
  await Promise.all([one.close(), two.close()])
  return seen
}

const CASES = STORES.flatMap((store) => [true, false].map((isLogin) => [store, isLogin] as const))

describe("given a member on Object.prototype, with the attacker's whole object", () => {
  afterEach(() => {
    for (const name of NAMES) Reflect.deleteProperty(Object.prototype, name)
  })

  it.each(CASES)(
    'when an account with %s lives (login: %s), then nothing is different (F402)',
    async (store, isLogin) => {
      const given = await modules()
      const usual = await life(given, store, isLogin)
      const odd: Record<string, unknown> = {}
      for (const name of NAMES)
        for (const value of VALUES(name)) {
          Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
          const seen = await life(given, store, isLogin).catch((error: unknown) => [String((error as Error).stack)])
          Reflect.deleteProperty(Object.prototype, name)
          const first = seen.findIndex((line, n) => line !== usual[n])
          if (first >= 0) odd[name] ??= [JSON.stringify(value).slice(0, 20), usual[first], seen[first]?.slice(0, 300)]
        }
      expect(odd).toEqual({})
    },
    600_000,
  )
})
