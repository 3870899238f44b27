import { describe, expect, it } from '@jest/globals'
import { memoryStore, TokenError, type TokenErrorDetails, type TokenGrant, type TokenSource } from '../../src/index.ts'
import { type LoginManager, person } from '../../src/login/index.ts'
import { held, type Managed, manage, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

type Given = Parameters<NonNullable<TokenSource['revoke']>>[0]

/** Only a user can obtain its tokens. `revoke` responds with the next entry of `answers`, or confirms if there is none. */
class RevokingSource extends ScriptedSource {
  readonly login = person
  readonly asked: { readonly token: string | undefined; readonly at: number }[] = []
  readonly answers: ((given: Given) => unknown)[] = []

  constructor() {
    super({ pairs: true })
  }

  revoke: TokenSource['revoke'] = async (given, { clock }) => {
    this.asked.push({ token: given.refreshToken, at: clock.monotonicNow() })
    await this.answers.shift()?.(given)
  }
}

const login = (name: string, subject?: string) => ({
  accessToken: name,
  accessLifetimeMs: 60_000,
  refreshToken: `${name}-refresh`,
  ...(subject !== undefined && { subject }),
})

type World = Managed & { readonly source: RevokingSource }
const start = (options = {}): World => {
  const source = new RevokingSource()
  return { ...manage(source, options), source }
}
const failsWith =
  (code: ConstructorParameters<typeof TokenError>[0], details: TokenErrorDetails = {}) =>
  (): never => {
    throw new TokenError(code, `the service said ${code}`, details)
  }
const throws = (thrown: unknown) => (): never => {
  throw thrown
}
const away = failsWith('ERR_TOKEN_SERVICE_UNAVAILABLE', { outcome: 'unknown-5xx', status: 503 })
const askedFor = ({ source }: World) => source.asked.map(({ token }) => token)
const anomalies = ({ observed }: World) => observed.anomaly.map(({ kind }) => kind)

/** Logs out, and advances the clock until the logout has ended. */
async function loggedOut({ tokens, clock }: World, ms = 10_000) {
  const ended = tokens.logout()
  await clock.advance(ms)
  return ended
}

describe('given a revocation that fails (F279)', () => {
  it.each<[string, (given: Given) => unknown]>([
    ['503', away],
    ['429', failsWith('ERR_THROTTLED', { status: 429 })],
    ['a reset', failsWith('ERR_TOKEN_SERVICE_UNAVAILABLE', { outcome: 'unknown' })],
    ['no connection', failsWith('ERR_TOKEN_SERVICE_UNAVAILABLE', { outcome: 'not-sent' })],
    ['an error of fetch', () => Promise.reject(new TypeError('fetch failed'))],
    ['an unknown error', () => Promise.reject(new Error('down'))],
  ])('when it meets %s twice, then the third attempt revokes', async (_, answer) => {
    const world = start()
    await world.tokens.adopt(login('alice'))
    world.source.answers.push(answer, answer)
    expect(await loggedOut(world)).toEqual({ revoked: true })
    expect(askedFor(world)).toEqual(['alice-refresh', 'alice-refresh', 'alice-refresh'])
    expect(world.observed.anomaly).toEqual([])
  })

  it('when it fails, then the pauses grow like those of a renewal', async () => {
    const world = start()
    await world.tokens.adopt(login('alice'))
    world.source.answers.push(away, away)
    await loggedOut(world)
    const [first = NaN, ...later] = world.source.asked.map(({ at }) => at)
    expect(later.map((at) => at - first)).toEqual([250, 750])
  })

  it.each<[string, number, number[]]>([
    ['fits', 4_000, [4_000, 8_000]],
    ['does not fit twice', 5_000, [5_000]],
    ['does not fit', 10_000, []],
  ])(
    'when Retry-After %s into exchangeTimeoutMs, then no attempt is made before it, or later',
    async (_, ms, tries) => {
      const world = start()
      await world.tokens.adopt(login('alice'))
      const answer = failsWith('ERR_THROTTLED', { status: 429, retryAfterMs: ms })
      world.source.answers.push(answer, answer, answer)
      expect(await loggedOut(world)).toEqual({ revoked: false, reason: 'unavailable' })
      const [first = NaN, ...later] = world.source.asked.map(({ at }) => at)
      expect(later.map((at) => at - first)).toEqual(tries)
    },
  )

  it('when the process has nothing else to do, then a pause keeps it alive', async () => {
    const world = start({ renewal: { keepWarm: 'never' } })
    await world.tokens.adopt(login('alice'))
    const holds: (boolean | undefined)[] = []
    const setTimer = world.clock.setTimer.bind(world.clock)
    world.clock.setTimer = (callback, ms, holdsProcess) => {
      if (ms === 250) holds.push(holdsProcess)
      return setTimer(callback, ms, holdsProcess)
    }
    world.source.answers.push(away)
    await loggedOut(world)
    expect(holds).toEqual([true])
  })

  it('when it fails three times, then one anomaly reports it without a secret, and the next logout tries again', async () => {
    const world = start()
    await world.tokens.adopt(login('alice'))
    world.source.answers.push(away, away, away)
    expect(await loggedOut(world)).toEqual({ revoked: false, reason: 'unavailable' })
    expect(world.observed.anomaly).toEqual([{ kind: 'not-revoked', message: expect.stringContaining('(unavailable)') }])
    expect(JSON.stringify(world.observed)).not.toContain('refresh')
    expect(await loggedOut(world)).toEqual({ revoked: true })
    expect(await loggedOut(world)).toEqual({ revoked: false, reason: 'nothing' })
    expect(askedFor(world)).toHaveLength(4)
  })

  it('when another login ends, then the unrevoked tokens are revoked with it', async () => {
    const world = start()
    await world.tokens.adopt(login('alice'))
    world.source.answers.push(away, away, away)
    await loggedOut(world)
    await world.tokens.adopt(login('bob'))
    expect(await loggedOut(world)).toEqual({ revoked: true })
    expect(askedFor(world).slice(3)).toEqual(['alice-refresh', 'bob-refresh'])
  })

  it('when the service is unavailable for many logouts, then the last eight are kept', async () => {
    const world = start()
    for (let n = 1; n <= 10; n += 1) {
      await world.tokens.adopt(login(`login-${n}`))
      world.source.answers.push(...Array.from({ length: 30 }, () => away))
      await loggedOut(world)
    }
    world.source.answers.length = 0
    world.source.asked.length = 0
    expect(await loggedOut(world)).toEqual({ revoked: true })
    expect(askedFor(world)).toEqual([3, 4, 5, 6, 7, 8, 9, 10].map((n) => `login-${n}-refresh`))
  })
})

describe('given a logout that revokes nothing (F280)', () => {
  it('when no user has logged in, then that is the reason, and there is no anomaly', async () => {
    const world = start()
    expect(await world.tokens.logout()).toEqual({ revoked: false, reason: 'nothing' })
    expect(world.observed.anomaly).toEqual([])
  })

  it.each<[string, string, (given: Given) => unknown, string]>([
    ['the client is rejected', 'refused', failsWith('ERR_CREDENTIALS_REJECTED', { status: 401 }), 'ERR_CREDENTIALS'],
    ['the response is 404', 'refused', throws(new Response('', { status: 404 })), '404'],
    [
      'the source has no address for these tokens',
      'no-endpoint',
      failsWith('ERR_TOKEN_REQUEST', { outcome: 'not-sent', revocation: 'no-endpoint' }),
      'ERR_TOKEN_REQUEST',
    ],
    [
      'revoke has a bug',
      'unavailable',
      () => Promise.reject(new TypeError("Cannot read properties of undefined (reading 'x')")),
      'is broken',
    ],
    ['revoke throws nothing', 'unavailable', throws(undefined), 'source failed'],
    ['revoke throws a string with a secret', 'unavailable', throws('alice-refresh'), 'source failed'],
  ])('when %s, then the reason is %s (%s)', async (_, reason, answer, message) => {
    const world = start()
    await world.tokens.adopt(login('alice'))
    world.source.answers.push(answer, answer, answer)
    expect(await loggedOut(world)).toEqual({ revoked: false, reason })
    expect(world.observed.anomaly).toEqual([{ kind: 'not-revoked', message: expect.stringContaining(message) }])
    expect(world.observed.anomaly[0]?.message).not.toContain('alice-refresh')
    world.source.answers.length = 0
    const count = world.source.asked.length
    // A rejection or a bug stays until something changes.
    expect(count).toBe(message.includes('failed') ? 3 : 1)
    const isKept = reason === 'unavailable'
    expect(await loggedOut(world)).toEqual(isKept ? { revoked: true } : { revoked: false, reason: 'nothing' })
    expect(world.source.asked.length - count).toBe(isKept ? 1 : 0)
  })

  it('when revoke throws before it returns, then the logout resolves anyway', async () => {
    const world = start()
    await world.tokens.adopt(login('alice'))
    world.source.revoke = () => failsWith('ERR_CREDENTIALS_REJECTED')()
    expect(await loggedOut(world)).toEqual({ revoked: false, reason: 'refused' })
  })

  it.each([true, false])(
    'when the source has no revoke (with a login: %p), then the reason states it',
    async (hasLogin) => {
      const world = start()
      Object.assign(world.source, { revoke: undefined, login: hasLogin ? person : undefined })
      const { tokens, observed } = manage(world.source)
      await tokens.adopt(login('alice'))
      expect(await tokens.logout()).toEqual({ revoked: false, reason: 'no-endpoint' })
      expect(observed.anomaly.map(({ kind }) => kind)).toEqual(['not-revoked'])
    },
  )

  it('when there is no listener, then the process emits a warning', async () => {
    const warnings: string[] = []
    const emitWarning = process.emitWarning.bind(process)
    process.emitWarning = (warning: string | Error) => void warnings.push(String(warning))
    const { tokens } = manage(new ScriptedSource(), {}, undefined, { unheard: true })
    await tokens.getAccessToken()
    await tokens.logout()
    process.emitWarning = emitWarning
    expect(warnings).toEqual([expect.stringContaining('still valid at the service (no-endpoint)')])
  })
})

describe('given the login of one user, and adopt() of another login (F281)', () => {
  const adopting = async (world: World, grant: object) => {
    await world.tokens.adopt(grant)
    await settle()
  }
  it.each([
    ['another known user', 'alice', 'bob', ['alice-refresh']],
    ['the same user', 'alice', 'alice', []],
    ['an unknown user', 'alice', undefined, []],
    ['a known user over an unknown one', undefined, 'bob', []],
  ])('when it is that of %s, then the replaced login is revoked, or left alone', async (_, first, second, revoked) => {
    for (const store of [undefined, memoryStore()]) {
      const world = start(store && { store })
      await adopting(world, login('alice', first))
      await adopting(world, login('bob', second))
      expect([askedFor(world), world.tokens.peekAccessToken()]).toEqual([revoked, 'bob'])
    }
  })

  it('when three users log in within one turn, then each replaces the one before', async () => {
    const world = start()
    await Promise.all(['alice', 'bob', 'bob', 'carol'].map((name) => world.tokens.adopt(login(name, name))))
    await settle()
    expect(askedFor(world)).toEqual(['alice-refresh', 'bob-refresh'])
  })

  /** Alice's renewal waits for its response until `late.open()`. */
  const inExchange = async (answer?: TokenGrant, options = {}) => {
    const world = start(options)
    await world.tokens.adopt(login('alice', 'alice'))
    const late = held(() => answer ?? world.source.grant())
    world.source.script.push(late.answer)
    world.tokens.renew().catch(() => undefined)
    await settle()
    return { world, late }
  }

  it('when an exchange is in flight, then its tokens are revoked', async () => {
    const { world, late } = await inExchange()
    await adopting(world, login('bob', 'bob'))
    expect(askedFor(world)).toEqual([])
    late.open()
    await settle()
    expect([askedFor(world), world.tokens.peekAccessToken()]).toEqual([['refresh-1'], 'bob'])
  })

  it.each<[string, (world: World) => Promise<unknown>]>([
    ['another user logs in', (world) => adopting(world, login('bob', 'bob'))],
    ['the user logs out', (world) => Promise.resolve(void world.tokens.logout())],
  ])(
    'when %s while an exchange is in flight that returns no other refresh token, then the one that stays valid is revoked (F281)',
    async (_, act) => {
      const { world, late } = await inExchange({ accessToken: 'next', accessLifetimeMs: 60_000 })
      await act(world)
      late.open()
      await settle()
      expect(askedFor(world)).toEqual(['alice-refresh'])
    },
  )

  it('when a newer access token of the same login is adopted while an exchange is in flight, then a later logout revokes the current refresh token (F348)', async () => {
    const { world, late } = await inExchange(undefined, { store: memoryStore() })
    await adopting(world, { ...login('alice', 'alice'), accessToken: 'newer' })
    late.open()
    await settle()
    for (let n = 0; n < 2; n += 1) {
      await world.tokens.renew()
      await world.clock.advance(10_000)
    }
    await loggedOut(world)
    expect(askedFor(world)).toEqual([`refresh-${world.source.calls.length}`])
  })

  it('when the same user has logged in again, then the tokens of that login are revoked', async () => {
    const { world, late } = await inExchange()
    await adopting(world, login('alice-2', 'alice'))
    late.open()
    await settle()
    await adopting(world, login('bob', 'bob'))
    expect(askedFor(world)).toEqual(['alice-2-refresh'])
  })

  it.each<[string, (tokens: LoginManager) => Promise<unknown>]>([
    ['has renewed since', (tokens) => tokens.renew()],
    ['has done nothing since', () => Promise.resolve()],
  ])('when another process %s, then the tokens of the store are revoked', async (_, act) => {
    const store = memoryStore()
    const here = start({ store })
    await here.tokens.adopt(login('alice', 'alice'))
    const there = { ...manage(new RevokingSource(), { store }, here.clock) }
    await there.tokens.getAccessToken()
    await act(there.tokens)
    await adopting(here, login('bob', 'bob'))
    expect(askedFor(here)).toEqual([there.source.calls.length > 0 ? 'refresh-1' : 'alice-refresh'])
  })

  it('when this process has not seen the login of the store, then that login is revoked too', async () => {
    const store = memoryStore()
    const there = start({ store })
    await there.tokens.adopt(login('alice', 'alice'))
    for (const [name, revoked] of [
      ['alice', []],
      ['bob', ['alice-refresh']],
    ] as const) {
      const source = new RevokingSource()
      const here = { ...manage(source, { store }, there.clock), source }
      await adopting(here, login('alice', name))
      expect(askedFor(here)).toEqual(revoked)
    }
  })

  it('when the service is unavailable, then no caller waits, an anomaly reports it, and the next logout tries again', async () => {
    const world = start()
    await world.tokens.adopt(login('alice', 'alice'))
    world.source.answers.push(away, away, away)
    await adopting(world, login('bob', 'bob'))
    expect(world.tokens.peekAccessToken()).toBe('bob')
    await world.clock.advance(10_000)
    expect(anomalies(world)).toEqual(['not-revoked'])
    expect(await loggedOut(world)).toEqual({ revoked: true })
    expect(askedFor(world).slice(3)).toEqual(['alice-refresh', 'bob-refresh'])
  })
})
