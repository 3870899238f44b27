import { describe, expect, it } from '@jest/globals'
import { memoryStore, TokenError, type TokenErrorDetails, type TokenGrant, type TokenSource } from '../../src/index.ts'
import { failing, failingWith, held, type Managed, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'
import { person } from '../../src/login/index.ts'

const LOGIN: TokenGrant = { accessToken: 'login', accessLifetimeMs: 60_000, refreshToken: 'r' }

/** A source of logins: it can refresh, but only a user can obtain. */
class LoginSource extends ScriptedSource {
  readonly login = person
  readonly revoked: unknown[] = []
  revoke?: TokenSource['revoke']

  constructor(settings: { lifetimeMs?: number; takesMs?: number; revokes?: boolean } = {}) {
    super({ ...settings, pairs: true })
    if (settings.revokes)
      this.revoke = (tokens) => {
        this.revoked.push(tokens)
        return Promise.resolve()
      }
  }

  override obtain(): Promise<never> {
    return Promise.reject(new Error('a login is never obtained'))
  }
}

type World = Managed & { source: LoginSource }
async function loggedIn(options = {}, source = new LoginSource(), grant = LOGIN): Promise<World> {
  const world = { ...manage(source, options), source }
  await world.tokens.adopt(grant)
  return world
}
const refusedWith =
  (details: TokenErrorDetails, code: 'ERR_REFRESH_REJECTED' | 'ERR_CREDENTIALS_REJECTED' | 'ERR_TOKEN_REQUEST') =>
  (): never => {
    throw new TokenError(code, 'refused', { outcome: 'rejected', status: 400, ...details })
  }
const untouched = (): never => {
  throw new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', '503', {
    outcome: 'unknown-5xx',
    status: 503,
    refreshToken: 'kept',
  })
}
const lost = failingWith('ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown')
/** Calls once a second, as an application does. @returns the outcomes, without repetitions */
async function asking({ tokens, clock }: Pick<Managed, 'tokens' | 'clock'>, seconds: number): Promise<string[]> {
  const ends: string[] = []
  for (let second = 0; second < seconds; second += 1) {
    const asked = outcome(tokens.getAccessToken({ maxWaitMs: 900 }))
    await clock.advance(1_000)
    const end = await asked
    const observed = typeof end === 'string' ? end : end.code
    if (ends.at(-1) !== observed) ends.push(observed)
  }
  return ends
}

describe('given a login with an expired access token, and a token service that fails', () => {
  it.each([
    ['503', untouched],
    ['500', failing(500)],
    ['no response', lost],
  ])('when it meets %s for ten minutes, then the login is kept (F196, F197)', async (_, answer) => {
    const world = await loggedIn()
    const { clock, source, tokens, observed } = world
    for (let n = 0; n < 100; n += 1) source.script.push(answer)
    await clock.advance(61_000)
    const ends = await asking(world, 600)
    expect(ends).not.toContain('ERR_LOGIN_REQUIRED')
    expect(source.calls.length).toBeLessThanOrEqual(45)
    expect(new Set(source.calls.map(({ refreshToken }) => refreshToken))).toEqual(new Set(['r']))
    expect([tokens.status().login, observed.suspicious]).toEqual(['present', []])
    source.script.length = 0
    await clock.advance(60_000)
    expect(await tokens.getAccessToken()).toBe('access-1')
  })

  it('when a 5xx may have used the token, then the first renewal presents it three times, and each later one once', async () => {
    const { clock, source, tokens } = await loggedIn()
    for (let n = 0; n < 20; n += 1) source.script.push(failing(500))
    await clock.advance(60_000)
    const first = outcome(tokens.getAccessToken())
    await clock.advance(5_000)
    expect(await first).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', retryAt: expect.any(Number) as unknown })
    expect(source.calls).toHaveLength(3)
    await clock.advance(5_000)
    const second = outcome(tokens.getAccessToken())
    await clock.advance(1_000)
    expect(await second).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
    expect(source.calls).toHaveLength(4)
  })

  it('when a response is lost and no token is valid, then the refresh token is presented again after 1 to 2 s', async () => {
    const { clock, source, tokens } = await loggedIn()
    source.script.push(lost)
    await clock.advance(60_000)
    const asked = tokens.getAccessToken()
    await clock.advance(999)
    expect(source.calls).toHaveLength(1)
    await clock.advance(1)
    expect([await asked, source.calls.length]).toEqual(['access-1', 2])
  })

  it('when a response is lost while a token is valid, then the refresh token is presented again only after that one has expired', async () => {
    const { clock, source, tokens } = await loggedIn()
    source.script.push(lost)
    await clock.advance(46_000)
    expect(await tokens.getAccessToken()).toBe('login')
    await clock.advance(10_999)
    expect([await tokens.getAccessToken(), source.calls.length]).toEqual(['login', 1])
    await clock.advance(1)
    expect([await tokens.getAccessToken(), source.calls.length]).toEqual(['access-1', 2])
  })

  it('when the API then rejects the access token, then it is no longer used, and the refresh token is presented', async () => {
    const { clock, source, tokens } = await loggedIn()
    source.script.push(lost)
    await clock.advance(46_000)
    await tokens.getAccessToken()
    await settle()
    expect(await tokens.replaceAccessToken('login')).toBe('access-1')
    expect(source.calls).toHaveLength(2)
  })

  it('when the token in doubt is rejected, then the login ends in doubt, and nothing is unexplained (F197)', async () => {
    const { clock, source, tokens, observed } = await loggedIn()
    source.script.push(lost, failing(401))
    await clock.advance(60_000)
    const asked = outcome(tokens.getAccessToken())
    await clock.advance(2_000)
    expect(await asked).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'in-doubt', status: 401 })
    expect(observed.suspicious).toEqual([expect.objectContaining({ evidence: 'own-unknown-outcome', severity: 'low' })])
  })

  it('when the service recovers, then later callers get a token', async () => {
    const { clock, source, tokens } = await loggedIn()
    for (let n = 0; n < 4; n += 1) source.script.push(untouched)
    await clock.advance(60_000)
    const asked = outcome(tokens.getAccessToken())
    await clock.advance(4_000)
    expect(await asked).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
    await clock.advance(5_000)
    expect(await tokens.getAccessToken()).toBe('access-1')
  })

  it('when a gateway returned 503 although the service had used the token, then the login ends in doubt, with a low alarm', async () => {
    const { clock, source, tokens, observed } = await loggedIn()
    source.script.push(untouched, untouched, untouched, failing(401))
    await clock.advance(60_000)
    const asked = outcome(tokens.getAccessToken())
    await clock.advance(5_000)
    expect(await asked).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'in-doubt' })
    expect(observed.suspicious).toEqual([expect.objectContaining({ evidence: 'own-unknown-outcome', severity: 'low' })])
  })

  it('when many renewals fail in a row, then from the tenth on there is one a minute', async () => {
    const world = await loggedIn()
    for (let n = 0; n < 100; n += 1) world.source.script.push(failing(500))
    await world.clock.advance(60_000)
    await asking(world, 600)
    const gaps = world.source.calls.map(({ at }, n) => Math.round((at - (world.source.calls[n - 1]?.at ?? at)) / 1_000))
    expect(gaps.slice(3)).toEqual(
      [5, 10, 20, 20, 20, 20, 20, 20, 20, 60, 60, 60, 60, 60, 60, 60].slice(0, gaps.length - 3),
    )
  })
})

describe('given a login whose refresh is rejected', () => {
  it.each<[string, () => never, object, object[]]>([
    [
      'the refresh token is invalid (F207)',
      refusedWith({ refreshToken: 'refused', serviceCode: 'invalid_grant' }, 'ERR_REFRESH_REJECTED'),
      { loginReason: 'refused', status: 400, serviceCode: 'invalid_grant' },
      [{ evidence: 'revoked-or-used', severity: 'medium' }],
    ],
    [
      'the service requires interaction',
      refusedWith({ loginReason: 'interaction', refreshToken: 'refused' }, 'ERR_REFRESH_REJECTED'),
      { loginReason: 'interaction', status: 400 },
      [],
    ],
    [
      'the source reports it as unusable',
      refusedWith({ refreshToken: 'unusable' }, 'ERR_REFRESH_REJECTED'),
      { loginReason: 'refused' },
      [],
    ],
  ])('when %s, then a login is required, with the reason (F205)', async (_, answer, reason, suspicions) => {
    const { clock, source, tokens, observed } = await loggedIn()
    source.script.push(answer)
    await clock.advance(60_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', ...reason })
    expect(observed.suspicious).toMatchObject(suspicions)
    expect(source.calls).toHaveLength(1)
    expect(tokens.status()).toMatchObject({ phase: 'stopped', login: 'required' })
    expect(observed.loginChanged.at(-1)).toMatchObject({ login: 'required', by: 'here' })
    await tokens.adopt({ ...LOGIN, accessToken: 'again' })
    expect(await tokens.getAccessToken()).toBe('again')
  })

  it.each([
    [
      'the client is rejected',
      refusedWith({ refreshToken: 'kept' }, 'ERR_CREDENTIALS_REJECTED'),
      'ERR_CREDENTIALS_REJECTED',
    ],
    ['the error code is unknown', refusedWith({ serviceCode: 'odd' }, 'ERR_TOKEN_REQUEST'), 'ERR_TOKEN_REQUEST'],
  ])('when %s, then the login is kept, with a cool-down of a minute (F202, F203)', async (_, answer, code) => {
    const { clock, source, tokens } = await loggedIn()
    source.script.push(answer)
    await clock.advance(60_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code })
    await clock.advance(59_999)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code })
    expect([source.calls.length, tokens.status().login]).toEqual([1, 'present'])
    await clock.advance(1)
    expect(await tokens.getAccessToken()).toBe('access-1')
  })

  it('when the same unknown error code comes for ten minutes, then the login is discarded at the third rejection or later (F203)', async () => {
    const world = await loggedIn()
    for (let n = 0; n < 100; n += 1) world.source.script.push(refusedWith({ serviceCode: 'odd' }, 'ERR_TOKEN_REQUEST'))
    await world.clock.advance(60_000)
    expect(await asking(world, 600)).toEqual(['ERR_TOKEN_REQUEST'])
    expect(await asking(world, 61)).toContain('ERR_LOGIN_REQUIRED')
    expect(await outcome(world.tokens.getAccessToken())).toMatchObject({ loginReason: 'refused' })
    expect([world.source.calls.length, world.observed.suspicious]).toEqual([11, []])
  })

  it('when the error codes differ each time, then the login is kept', async () => {
    const world = await loggedIn()
    for (let n = 0; n < 100; n += 1)
      world.source.script.push(refusedWith({ serviceCode: `odd-${n % 2}` }, 'ERR_TOKEN_REQUEST'))
    await world.clock.advance(60_000)
    expect(await asking(world, 1_300)).toEqual(['ERR_TOKEN_REQUEST'])
  })

  it('when its computed expiry has passed, then it is presented once anyway (F212)', async () => {
    const { clock, tokens } = await loggedIn({}, new LoginSource(), { ...LOGIN, refreshLifetimeMs: 90_000 })
    await clock.advance(120_000)
    expect(await tokens.getAccessToken()).toBe('access-1')
  })

  it('when its computed expiry has passed and it is rejected, then the login has expired, and nothing is suspicious (F212)', async () => {
    const { clock, source, tokens, observed } = await loggedIn({}, new LoginSource(), {
      ...LOGIN,
      refreshLifetimeMs: 90_000,
    })
    source.script.push(failing(401))
    await clock.advance(120_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ loginReason: 'expired' })
    expect(observed.suspicious).toEqual([])
  })

  it('when the API has rejected the access token too, then no caller gets that token again (F206)', async () => {
    const store = memoryStore()
    const { clock, source, tokens } = await loggedIn({ store })
    source.script.push(failing(401))
    expect(await outcome(tokens.replaceAccessToken('login'))).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect([tokens.peekAccessToken(), tokens.status().phase]).toEqual([undefined, 'stopped'])
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'refused' })
    const other = manage(new LoginSource(), { store }, clock)
    expect(await outcome(other.tokens.getAccessToken())).toMatchObject({
      code: 'ERR_LOGIN_REQUIRED',
      loginReason: 'refused',
      status: 401,
    })
  })

  it('when the API rejects the access token only afterwards, then that token is not handed out again, either (F206)', async () => {
    const { clock, source, tokens } = await loggedIn()
    source.script.push(failing(401))
    await clock.advance(46_000)
    await tokens.getAccessToken()
    await settle()
    expect([tokens.peekAccessToken(), tokens.status().login]).toEqual(['login', 'present'])
    expect(await outcome(tokens.replaceAccessToken('login'))).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect(tokens.peekAccessToken()).toBeUndefined()
  })

  it('when the access token is still valid, then the login is present until it expires, and then listeners are notified', async () => {
    const { clock, source, tokens, observed } = await loggedIn()
    source.script.push(failing(401))
    await clock.advance(46_000)
    await tokens.getAccessToken()
    await clock.advance(13_999)
    expect([tokens.status().login, observed.loginChanged.at(-1)?.login]).toEqual(['present', 'present'])
    await clock.advance(1)
    await settle()
    expect(tokens.status()).toMatchObject({ login: 'required', loginReason: 'refused' })
    expect(observed.loginChanged.at(-1)).toMatchObject({ login: 'required', reason: 'refused' })
  })

  it('when the response to a refresh has no refresh token, then the old one is kept (RFC 6749, section 6)', async () => {
    const { clock, source, tokens, observed } = await loggedIn()
    source.script.push(() => ({ accessToken: 'next', accessLifetimeMs: 60_000 }))
    await clock.advance(60_000)
    expect(await tokens.getAccessToken()).toBe('next')
    await clock.advance(60_000)
    expect([await tokens.getAccessToken(), source.calls.at(-1)?.refreshToken]).toEqual(['access-1', 'r'])
    expect(observed.anomaly).toEqual([])
  })
})

describe('given a login of a manager without a store', () => {
  it.each(['never', 'while-used'] as const)(
    'when the service rejects it while an access token is valid (keepWarm %s), then `loginChanged` reports that it ended here (F205)',
    async (keepWarm) => {
      const { clock, source, tokens, observed } = await loggedIn({ renewal: { keepWarm } })
      source.script.push(refusedWith({ refreshToken: 'refused' }, 'ERR_REFRESH_REJECTED'))
      await clock.advance(46_000)
      tokens.peekAccessToken()
      await clock.advance(15_000)
      await outcome(tokens.getAccessToken())
      expect(observed.loginChanged.at(-1)).toMatchObject({ login: 'required', by: 'here', reason: 'refused' })
    },
  )
})

describe('given a login in a shared store', () => {
  it('when an owner dies during its refresh, then the next one presents the token once no access token is valid (F198)', async () => {
    const store = memoryStore()
    const { clock, source } = await loggedIn({ store, exchangeTimeoutMs: 1e6 })
    source.script.push(() => new Promise(() => undefined))
    await clock.advance(46_000)
    const other = manage(new LoginSource(), { store }, clock)
    expect(await other.tokens.getAccessToken()).toBe('login')
    await clock.advance(2_000_000)
    expect(await other.tokens.getAccessToken()).toMatch('access')
    expect(other.source.calls[0]?.refreshToken).toBe('r')
  })

  it('when one owner finds that a login is required, then the others report it with its reason, without a request', async () => {
    const store = memoryStore()
    const one = await loggedIn({ store })
    const other = manage(new LoginSource(), { store, renewal: { keepWarm: 'never' } }, one.clock)
    expect(await other.tokens.getAccessToken()).toBe('login')
    one.source.script.push(
      refusedWith({ refreshToken: 'refused', serviceCode: 'invalid_grant' }, 'ERR_REFRESH_REJECTED'),
    )
    await one.clock.advance(61_000)
    await outcome(one.tokens.getAccessToken())
    expect(await outcome(other.tokens.getAccessToken())).toMatchObject({
      code: 'ERR_LOGIN_REQUIRED',
      loginReason: 'refused',
      status: 400,
      serviceCode: 'invalid_grant',
    })
    expect(other.source.calls).toEqual([])
    expect(other.observed.loginChanged.at(-1)).toMatchObject({ login: 'required', by: 'elsewhere', reason: 'refused' })
  })

  it('when its end was reported elsewhere while an access token was valid, then `loginChanged` names where it ended (F205, F211)', async () => {
    const store = memoryStore()
    const one = await loggedIn({ store })
    const others = (['never', 'while-used'] as const).map((keepWarm) =>
      manage(new LoginSource(), { store, renewal: { keepWarm } }, one.clock),
    )
    for (const { tokens } of others) await tokens.getAccessToken()
    one.source.script.push(refusedWith({ refreshToken: 'refused' }, 'ERR_REFRESH_REJECTED'))
    await outcome(one.tokens.renew())
    await one.clock.advance(46_000)
    for (const { tokens } of [one, ...others]) tokens.peekAccessToken()
    await one.clock.advance(15_000)
    for (const { tokens } of [one, ...others]) await outcome(tokens.getAccessToken())
    const ends = [one, ...others].map(({ observed }) => observed.loginChanged.at(-1))
    const end = { login: 'required', account: 'unknown', reason: 'refused' }
    expect(ends).toEqual(['here', 'elsewhere', 'elsewhere'].map((by) => ({ ...end, by })))
  })

  it('when a manager finds a login with an expired access token, and the service is down, then the login is present (F205)', async () => {
    const store = memoryStore()
    const one = await loggedIn({ store, renewal: { keepWarm: 'never' } })
    await one.clock.advance(61_000)
    const source = new LoginSource()
    const { tokens, observed } = manage(source, { store, retry: { maxAttempts: 1 } }, one.clock)
    expect(tokens.status().login).toBe(undefined)
    source.script.push(untouched)
    await expect(tokens.getAccessToken()).rejects.toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
    expect(tokens.status().login).toBe('present')
    expect(observed.loginChanged).toEqual([{ login: 'present', by: 'store', account: 'unknown' }])
  })

  it('when a user logs in elsewhere, then listeners are notified before any caller gets a token (F211)', async () => {
    const store = memoryStore()
    const one = await loggedIn({ store }, new LoginSource(), { ...LOGIN, subject: 'alice' })
    const other = manage(new LoginSource(), { store, renewal: { keepWarm: 'never' } }, one.clock)
    await other.tokens.getAccessToken()
    await one.tokens.logout()
    await one.tokens.adopt({ accessToken: 'bob', accessLifetimeMs: 600_000, refreshToken: 'b', subject: 'bob' })
    await one.clock.advance(61_000)
    const order: string[] = []
    other.tokens.on('loginChanged', ({ login, by, account }) => order.push(`${login} ${by} ${account}`))
    await outcome(other.tokens.getAccessToken().then((token) => order.push(token)))
    await settle()
    const later = await other.tokens.getAccessToken()
    expect([order[0], later]).toEqual(['present elsewhere other', 'bob'])
  })
})

describe('given a login after a logout', () => {
  it.each([
    ['alone', {}],
    ['with a store', { store: memoryStore() }],
  ])('when its refresh token is rejected, %s, then nothing is in doubt (F205)', async (_, options) => {
    const { source, tokens, clock, observed } = await loggedIn(options)
    await tokens.logout()
    await clock.advance(5_000)
    await tokens.adopt({ ...LOGIN, accessToken: 'next', refreshToken: 'next-r' })
    source.script.push(refusedWith({ refreshToken: 'refused' }, 'ERR_REFRESH_REJECTED'))
    await clock.advance(61_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ loginReason: 'refused' })
    expect(observed.suspicious).toMatchObject([{ evidence: 'revoked-or-used', severity: 'medium' }])
  })
})

describe('given what an application has stored of a login (F199)', () => {
  it.each([
    [{ refreshToken: 'r' }],
    [{ accessToken: null, accessLifetimeMs: null, refreshToken: 'r', refreshLifetimeMs: 0, subject: null }],
    [{ accessToken: 'old', accessLifetimeMs: 0, refreshToken: 'r' }],
    [{ accessToken: 'old', accessLifetimeMs: -5_000, refreshToken: 'r', refreshLifetimeMs: null }],
  ])('when %j is adopted, then the next caller refreshes, and no caller gets the old token', async (grant) => {
    const { source, tokens, observed } = manage(new LoginSource())
    await tokens.adopt(grant)
    expect([tokens.peekAccessToken(), tokens.status().login, source.calls.length]).toEqual([undefined, 'present', 0])
    expect(await tokens.getAccessToken()).toBe('access-1')
    expect(source.calls.map(({ refreshToken }) => refreshToken)).toEqual(['r'])
    expect(observed.loginChanged).toEqual([{ login: 'present', by: 'here', account: 'unknown' }])
  })

  it('when a store is shared, then an owner that never saw it refreshes, too', async () => {
    const store = memoryStore()
    const { clock, tokens } = manage(new LoginSource(), { store })
    await tokens.adopt({ refreshToken: 'r' })
    const other = manage(new LoginSource(), { store }, clock)
    expect(await other.tokens.getAccessToken()).toBe('access-1')
    expect(await tokens.getAccessToken()).toBe('access-1')
  })

  it.each<[object, RegExp]>([
    [{}, /accessToken is missing/],
    [{ accessToken: null, refreshToken: null }, /accessToken is missing/],
    [{ accessToken: 'a' }, /accessLifetimeMs is missing/],
    [{ refreshToken: 'r', subject: 7 }, /subject must be a string/],
    [{ refreshToken: 'r', refreshLifetimeMs: NaN }, /refreshLifetimeMs must be a number/],
  ])('when %j is adopted, then a TypeError names the member', async (grant, message) => {
    const error = await outcome(manage(new LoginSource()).tokens.adopt(grant as never))
    expect([error, String(error)]).toEqual([expect.any(TypeError), expect.stringMatching(message)])
  })
})

describe('given a logout (F208)', () => {
  it('when the source can revoke, then it receives both tokens, and nothing is left', async () => {
    const store = memoryStore()
    const { clock, source, tokens, observed } = await loggedIn({ store }, new LoginSource({ revokes: true }))
    expect(await tokens.logout()).toEqual({ revoked: true })
    expect(source.revoked).toEqual([{ accessToken: 'login', refreshToken: 'r' }])
    expect(tokens.status()).toMatchObject({ phase: 'empty', login: 'required', loginReason: 'logged-out' })
    expect(await outcome(tokens.getAccessToken())).toMatchObject({
      code: 'ERR_LOGIN_REQUIRED',
      loginReason: 'logged-out',
    })
    const other = manage(new LoginSource(), { store }, clock)
    expect(await outcome(other.tokens.getAccessToken())).toMatchObject({ loginReason: 'logged-out' })
    await settle()
    expect(observed.loginChanged.at(-1)).toEqual({
      login: 'required',
      by: 'here',
      account: 'unknown',
      reason: 'logged-out',
    })
  })

  it.each<[string, object, object]>([
    ['no access token', { refreshToken: 'r' }, { refreshToken: 'r' }],
    ['no refresh token', { accessToken: 'login', accessLifetimeMs: 60_000 }, { accessToken: 'login' }],
  ])('when there is %s, then the source receives the other one', async (_, grant, given) => {
    const source = new LoginSource({ revokes: true })
    const { tokens } = manage(source)
    await tokens.adopt(grant)
    await tokens.logout()
    expect(source.revoked).toEqual([given])
  })

  it('when no user has logged in, then nothing is revoked', async () => {
    const source = new LoginSource({ revokes: true })
    expect(await manage(source).tokens.logout()).toEqual({ revoked: false, reason: 'nothing' })
    expect(source.revoked).toEqual([])
  })

  it('when the service cannot revoke, then the tokens are forgotten anyway', async () => {
    const source = new LoginSource()
    source.revoke = () => Promise.reject(new Error('down'))
    const { clock, tokens } = await loggedIn({}, source)
    const out = tokens.logout()
    await clock.advance(10_000)
    expect(await out).toEqual({ revoked: false, reason: 'unavailable' })
    expect(tokens.peekAccessToken()).toBeUndefined()
  })

  it('when the revocation hangs, then the timeout of a token request ends it', async () => {
    const source = new LoginSource()
    source.revoke = () => new Promise(() => undefined)
    const { clock, tokens } = await loggedIn({}, source)
    const out = tokens.logout()
    await clock.advance(10_000)
    expect(await out).toEqual({ revoked: false, reason: 'unavailable' })
  })

  it('when an exchange is in flight, then its tokens are revoked, and its callers are rejected with a required login', async () => {
    const { clock, source, tokens } = await loggedIn({}, new LoginSource({ revokes: true }))
    const answer = held(() => source.grant())
    source.script.push(answer.answer)
    await clock.advance(60_000)
    const asked = outcome(tokens.getAccessToken())
    await settle()
    const out = tokens.logout()
    expect(await asked).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'logged-out' })
    answer.open()
    expect(await out).toEqual({ revoked: true })
    expect(source.revoked).toEqual([{ accessToken: 'access-1', refreshToken: 'refresh-1' }])
  })

  it('when another owner is in the middle of a refresh, then the logout waits, and revokes the new tokens', async () => {
    const store = memoryStore()
    const { clock, source, tokens } = await loggedIn({ store }, new LoginSource({ revokes: true }))
    const other = manage(new LoginSource(), { store }, clock)
    await other.tokens.getAccessToken()
    const answer = held(() => other.source.grant())
    other.source.script.push(answer.answer)
    const renewed = outcome(other.tokens.renew())
    await settle()
    const out = tokens.logout()
    await clock.advance(1_000)
    expect(source.revoked).toEqual([])
    answer.open()
    await renewed
    await clock.advance(250)
    expect(await out).toEqual({ revoked: true })
    expect(source.revoked).toEqual([{ accessToken: 'access-1', refreshToken: 'refresh-1' }])
  })

  it('when a user logs in before it has ended, then that login is kept', async () => {
    const store = memoryStore()
    const { clock, source, tokens } = await loggedIn({ store }, new LoginSource({ revokes: true }))
    const answer = held(() => source.grant())
    source.script.push(answer.answer)
    await clock.advance(60_000)
    void outcome(tokens.getAccessToken())
    await settle()
    const out = tokens.logout()
    const adopted = tokens.adopt({ accessToken: 'bob', accessLifetimeMs: 60_000 })
    answer.open()
    await Promise.all([out, adopted])
    expect(await tokens.getAccessToken()).toBe('bob')
    // Nor did the logout clear its record.
    expect(await manage(new LoginSource(), { store }, clock).tokens.getAccessToken()).toBe('bob')
  })

  it('when the source keeps state of its own, then that is forgotten too', async () => {
    const source = Object.assign(new LoginSource(), { resets: 0, reset: () => void (source.resets += 1) })
    const { tokens } = await loggedIn({}, source)
    await tokens.logout()
    expect(source.resets).toBe(1)
  })

  it('when the source cannot revoke, then it does what reset() does', async () => {
    const { tokens } = manage()
    await tokens.getAccessToken()
    expect(await tokens.logout()).toEqual({ revoked: false, reason: 'no-endpoint' })
    expect(await tokens.getAccessToken()).toBe('access-2')
  })
})

describe('given callers who wait when their login ends (F210)', () => {
  it.each<[string, (world: World) => Promise<unknown>]>([
    ['logout()', ({ tokens }) => tokens.logout()],
    ['reset()', ({ tokens }) => tokens.reset()],
    ['the login of another user', ({ tokens }) => tokens.adopt({ accessToken: 'bob', accessLifetimeMs: 60_000 })],
  ])(
    'when it ends by %s, then they reject, and the code says whether a login is required (F405)',
    async (name, end) => {
      const world = await loggedIn()
      const { clock, source, tokens } = world
      const answer = held(() => source.grant())
      source.script.push(answer.answer)
      await clock.advance(60_000)
      const asked = outcome(tokens.getAccessToken())
      await settle()
      const ended = end(world)
      const code = name === 'the login of another user' ? 'ERR_LOGIN_REPLACED' : 'ERR_LOGIN_REQUIRED'
      expect(await asked).toMatchObject({ code })
      answer.open()
      await ended
    },
  )

  it('when the same user logs in again, then they get the new token', async () => {
    const { clock, source, tokens } = await loggedIn({}, new LoginSource(), { ...LOGIN, subject: 'alice' })
    source.script.push(() => new Promise(() => undefined))
    await clock.advance(60_000)
    const asked = outcome(tokens.getAccessToken())
    await settle()
    await tokens.adopt({ accessToken: 'alice-2', accessLifetimeMs: 60_000, subject: 'alice' })
    expect(await asked).toBe('alice-2')
  })
})

describe('given a source of logins that itself requires a login', () => {
  it('when its refresh throws ERR_LOGIN_REQUIRED, then error and status() have a reason anyway (F205)', async () => {
    const { source, tokens } = await loggedIn()
    source.script.push(() => {
      throw new TokenError('ERR_LOGIN_REQUIRED', 'log in again', { outcome: 'rejected', status: 440 })
    })
    const error = await outcome(tokens.renew())
    expect(error).toMatchObject({ message: 'log in again', loginReason: 'refused', status: 440 })
  })
})

describe("given a login, and a manager that stops at a suspicion (onSuspicious: 'stop')", () => {
  it('when its refresh token is rejected, then a login is required, and listeners are notified (F205)', async () => {
    const { source, tokens, observed } = await loggedIn({ onSuspicious: 'stop' })
    source.script.push(failing(401))
    expect(await outcome(tokens.renew())).toMatchObject({ code: 'ERR_SUSPICIOUS_REFRESH_TOKEN' })
    await settle()
    expect(tokens.status()).toMatchObject({ phase: 'stopped', login: 'required', loginReason: 'refused' })
    expect(observed.loginChanged.slice(1)).toEqual([
      { login: 'required', by: 'here', account: 'unknown', reason: 'refused' },
    ])
    await tokens.adopt(LOGIN)
    expect([tokens.peekAccessToken(), tokens.status().login]).toEqual(['login', 'present'])
  })
})

describe('given a manager that never had a login', () => {
  it('when a token is requested, then the reason is that no user has logged in yet, and no request is made', async () => {
    const { source, tokens, observed } = manage(new LoginSource())
    expect(tokens.status()).toMatchObject({ login: 'required', loginReason: 'none-yet' })
    expect(await outcome(tokens.getAccessToken())).toMatchObject({
      code: 'ERR_LOGIN_REQUIRED',
      loginReason: 'none-yet',
      message:
        'A login is required (none-yet: no user has logged in, or storeKey, prefix, account, clientId, scope, parameters or server changed): call adopt() with its tokens',
    })
    expect([source.calls, observed.loginChanged]).toEqual([[], []])
  })

  it('when the access token of a login without a refresh token expires, then the login has expired', async () => {
    const { clock, tokens } = manage(new LoginSource())
    await tokens.adopt({ accessToken: 'alone', accessLifetimeMs: 60_000 })
    await clock.advance(60_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ loginReason: 'expired' })
  })

  it.each(['while-used', 'never'] as const)(
    'when that access token is not used (keepWarm %s), then status() reports a required login anyway (F205)',
    async (keepWarm) => {
      const { clock, tokens } = manage(new LoginSource(), { renewal: { keepWarm } })
      await tokens.adopt({ accessToken: 'alone', accessLifetimeMs: 60_000 })
      await clock.advance(59_999)
      expect(tokens.status()).toMatchObject({ login: 'present' })
      await clock.advance(1)
      expect(tokens.status()).toMatchObject({ login: 'required', loginReason: 'expired' })
    },
  )

  it('when the source has no logins, then status() and events do not mention any', async () => {
    const { tokens, observed } = manage()
    await tokens.getAccessToken()
    await tokens.logout()
    expect([tokens.status().login, observed.loginChanged]).toEqual([undefined, []])
  })
})

describe('given the access token of a login that has ended (F206, F209)', () => {
  it('when it must be replaced under the next login, then that is rejected, and nothing is renewed', async () => {
    const { source, tokens } = await loggedIn()
    await tokens.logout()
    await tokens.adopt({ accessToken: 'bob', accessLifetimeMs: 60_000, refreshToken: 'b' })
    expect(await outcome(tokens.replaceAccessToken('login'))).toMatchObject({
      code: 'ERR_LOGIN_REPLACED',
    })
    expect([tokens.peekAccessToken(), source.calls]).toEqual(['bob', []])
  })
})
