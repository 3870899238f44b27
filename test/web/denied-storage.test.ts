import { describe, expect, it } from '@jest/globals'
import { createTokenManager, type TokenError } from '../../src/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { browserKey, webStore } from '../../src/web/index.ts'
import { StorageAccess } from '../../src/web/storage-access.ts'
import { failureOf } from '../axios/support/turns.ts'
import { answering } from '../service/world.ts'
import { indexedDbOfSuite } from '../support/indexed-db-of-suite.ts'
import { settle } from '../support/watched-clock.ts'

const storage = indexedDbOfSuite()

const LOGIN = { accessToken: 'access-0', accessLifetimeMs: 60_000, refreshToken: 'refresh-0' }
const denied = (name: string) => () => {
  throw new DOMException('denied', name)
}

/** A page of an application in which a user logs in. Its service accepts each refresh token once. */
function page(options: Parameters<typeof webStore>[0] = {}) {
  const presented: string[] = []
  const adapter = (config: { data?: unknown }) => {
    presented.push(new URLSearchParams(String(config.data)).get('refresh_token')!)
    const n = presented.length
    const pair = { access_token: `access-${n}`, refresh_token: `refresh-${n}`, expires_in: 60, token_type: 'Bearer' }
    return answering(JSON.stringify(pair))(config as never)
  }
  const clock = manualClock()
  const source = oauth2({
    tokenEndpoint: 'https://login.example/token',
    clientId: 'page',
    grant: 'login',
    transport: { adapter },
  })
  const tokens = createTokenManager({ source, store: webStore(options), clock, renewal: { keepWarm: 'never' } })
  const anomalies: string[] = []
  tokens.on('anomaly', ({ kind }) => void anomalies.push(kind))
  tokens.on('storeUnavailable', () => undefined)
  /** Advances the clock until the work is done, because a storage that never responds is waited for. */
  const ended = async <Value>(work: Promise<Value>): Promise<Value> => {
    const done = work.then(
      () => true,
      () => true,
    )
    while (!(await Promise.race([done, settle()]))) await clock.advance(500)
    return work
  }
  const ask = () => ended(tokens.getAccessToken().catch((error: unknown) => (error as TokenError).code))
  const told = () => anomalies.filter((kind) => kind === 'storage-denied').length
  return { tokens, clock, ended, ask, told, presented }
}

describe('given a browser that denies storage before any login (F243)', () => {
  it.each([
    ['by its settings', 'open', denied('UnknownError')],
    ['to a sandboxed frame', 'open', denied('SecurityError')],
    ['because it is full', 'put', denied('QuotaExceededError')],
    ['and never responds', 'open', () => 'never' as const],
  ])(
    'when it denies it %s, then a login is required, this tab has its tokens in memory, and one event reports it',
    async (_, at, fail) => {
      storage.trouble = (step) => (step === at ? fail() : undefined)
      const { tokens, ended, ask, told, presented } = page()
      expect([await ask(), tokens.status().lastError]).toEqual(['ERR_LOGIN_REQUIRED', 'ERR_LOGIN_REQUIRED'])
      await ended(tokens.adopt(LOGIN))
      expect(await ask()).toBe('access-0')
      await ended(tokens.renew())
      expect([await ask(), presented]).toEqual(['access-1', ['refresh-0']])
      await ended(tokens.renew())
      expect([await ask(), presented]).toEqual(['access-2', ['refresh-0', 'refresh-1']])
      expect(told()).toBe(1)
      await ended(tokens.reset())
      expect(await ask()).toBe('ERR_LOGIN_REQUIRED')
      await tokens.close()
    },
  )

  it.each([
    ['a promise', () => [browserKey()]],
    ['awaited', async () => [await browserKey()]],
  ])('when it has no place for the key of the browser, which is %s, then the same follows', async (_, keys) => {
    storage.trouble = denied('SecurityError')
    const { tokens, ended, ask, told } = page({ encryptionKeys: await keys() })
    expect([await ask(), tokens.status().login]).toEqual(['ERR_LOGIN_REQUIRED', 'required'])
    await ended(tokens.adopt(LOGIN))
    await ended(tokens.renew())
    expect([await ask(), told()]).toEqual(['access-1', 1])
    await tokens.close()
  })

  it('when the store must fail without storage, then it fails, and the page gets the reason', async () => {
    storage.trouble = denied('SecurityError')
    const { tokens, ask, told } = page({ onUnavailable: 'fail' })
    expect([await ask(), told()]).toEqual(['ERR_STORE_UNAVAILABLE', 1])
    await tokens.close()
  })
})

describe('given a browser that has denied a step of this page', () => {
  it('when the next steps start together, then each reports the denial, not a silent storage', async () => {
    const access = new StorageAccess()
    const deny = () => Promise.reject(new DOMException('denied', 'SecurityError'))
    const register = access.watched({ kind: 'web', read: deny, replace: deny })
    const step = () => register.read('key').catch((thrown: unknown) => access.failed(thrown))
    const reasons = [await step(), ...(await Promise.all([step(), step()]))]
    expect(reasons).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/^SecurityError/)))
  })
})

/** The next step of that kind gets no response. */
function silentOnce(kind: 'open' | 'put'): void {
  let isOver = false
  storage.trouble = (step) => {
    if (step !== kind || isOver) return undefined
    isOver = true
    return 'never'
  }
}

describe('given a storage that has worked (F356)', () => {
  it('when it fails for minutes, then the store is unavailable, and the login continues as soon as it works again', async () => {
    const { tokens, clock, ask, told, presented } = page()
    await tokens.adopt(LOGIN)
    storage.trouble = denied('UnknownError')
    await clock.advance(61_000)
    for (let n = 0; n < 30; n += 1) {
      expect(await ask()).toBe('ERR_STORE_UNAVAILABLE')
      await clock.advance(10_000)
    }
    expect([told(), tokens.status().login]).toEqual([0, 'present'])
    storage.trouble = () => undefined
    expect([await ask(), presented]).toEqual(['access-1', ['refresh-0']])
    await tokens.close()
  })

  it('when a user logs in while it fails, then adopt rejects, because other tabs cannot find that login (F350)', async () => {
    const { tokens, ended, ask } = page()
    await tokens.adopt(LOGIN)
    storage.trouble = denied('UnknownError')
    const adopted = ended(tokens.adopt({ ...LOGIN, accessToken: 'next', refreshToken: 'refresh-next' }))
    await expect(adopted).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(await ask()).toBe('next')
    await tokens.close()
  })

  it.each([['open'], ['put']] as const)(
    'when one step (%s) of a page that found a login never responds, then no login is required, and the page recovers without a reload',
    async (kind) => {
      const before = page()
      await before.tokens.adopt(LOGIN)
      await before.tokens.close()
      const { tokens, clock, ask, told, presented } = page()
      expect(await ask()).toBe('access-0')
      await clock.advance(61_000)
      silentOnce(kind)
      const codes: string[] = []
      for (let n = 0; n < 20 && codes.at(-1) !== 'access-1'; n += 1) {
        codes.push(await ask())
        await clock.advance(1_000)
      }
      expect(codes.at(-1)).toBe('access-1')
      expect(codes).not.toContain('ERR_LOGIN_REQUIRED')
      expect([told(), presented]).toEqual([0, ['refresh-0']])
      await tokens.close()
    },
  )

  it('when another tab has stored a login, and this page may only read, then the page does not report a logout', async () => {
    const before = page()
    await before.tokens.adopt({ ...LOGIN, accessLifetimeMs: 1 })
    await before.tokens.close()
    storage.trouble = (step) => (step === 'put' ? denied('QuotaExceededError')() : undefined)
    const { tokens, ask, told } = page()
    expect([await ask(), told()]).toEqual(['ERR_STORE_UNAVAILABLE', 0])
    await tokens.close()
  })
})

describe('given a storage that fails after a login', () => {
  it('when the storage fails only for a moment, then the login continues', async () => {
    const { tokens, clock, ask, told, presented } = page()
    await tokens.adopt(LOGIN)
    storage.trouble = denied('UnknownError')
    await clock.advance(61_000)
    expect(await ask()).toBe('ERR_STORE_UNAVAILABLE')
    storage.trouble = () => undefined
    await clock.advance(6_000)
    expect([await ask(), presented, told()]).toEqual(['access-1', ['refresh-0'], 0])
    await tokens.close()
  })

  it('when it fails for a moment, and later for another one, then the time between them does not count', async () => {
    const { tokens, clock, ask, told } = page()
    await tokens.adopt(LOGIN)
    const fails = async () => {
      storage.trouble = denied('UnknownError')
      await clock.advance(61_000)
      expect([await ask(), told()]).toEqual(['ERR_STORE_UNAVAILABLE', 0])
      storage.trouble = () => undefined
    }
    await fails()
    await clock.advance(6_000)
    expect(await ask()).toBe('access-1')
    await fails()
    await tokens.close()
  })

  it('when a user logs out, then the tokens may stay in the storage, and that is reported', async () => {
    const { tokens } = page()
    await tokens.adopt(LOGIN)
    storage.trouble = denied('UnknownError')
    expect(await failureOf(tokens.reset())).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    await tokens.close()
  })
})

describe('given a browser key', () => {
  it('when it is requested again, even at once, then all callers have the same one, and it is not extractable', async () => {
    const keys = await Promise.all([browserKey(), browserKey(), browserKey('browser')])
    keys.push(await browserKey())
    expect(new Set(keys.map(({ id }) => id))).toEqual(new Set(['browser']))
    expect(new Set(keys.map(({ key }) => key)).size).toBe(1)
    expect([keys[0].key.extractable, keys[0].key.usages]).toEqual([false, ['encrypt', 'decrypt']])
    expect((await browserKey('other')).key).not.toBe(keys[0].key)
  })

  it('when another script has stored a value there, then a new key replaces it', async () => {
    await browserKey()
    storage.databases.get('axios-evergreen.keys')!.set('browser', { type: 'secret' })
    const [one, other] = [await browserKey(), await browserKey()]
    expect([one.key.extractable, other.key === one.key]).toEqual([false, true])
  })

  it('when the browser denies storage, then the page has a key, and its tokens in memory (F243)', async () => {
    storage.trouble = denied('SecurityError')
    const key = await browserKey()
    storage.trouble = () => undefined
    const { tokens, ask, told } = page({ encryptionKeys: [key] })
    expect([await ask(), told()]).toEqual(['ERR_LOGIN_REQUIRED', 1])
    await tokens.adopt(LOGIN)
    expect(await ask()).toBe('access-0')
    // No other tab could open what this key has sealed.
    expect([...(storage.databases.get('axios-evergreen') ?? [])]).toEqual([])
    await tokens.close()
  })

  it.each([[''], [5]])('when its name is %j, then that is rejected', async (name) => {
    expect((await failureOf(browserKey(name as string))).message).toMatch(/^name must/)
  })
})
