import { describe, expect, it } from '@jest/globals'
import { memoryStore, TokenError, type TokenGrant } from '../../src/index.ts'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { underWay } from '../support/people.ts'
import { settle } from '../support/watched-clock.ts'
import { person } from '../../src/login/index.ts'

const ALICE: TokenGrant = { accessToken: 'alice', accessLifetimeMs: 60_000, refreshToken: 'of-alice', subject: 'alice' }
const BOB: TokenGrant = { accessToken: 'bob', accessLifetimeMs: 60_000, refreshToken: 'of-bob', subject: 'bob' }

class LoginSource extends ScriptedSource {
  readonly login = person
  readonly revoked: unknown[] = []
  revoke = ({ refreshToken }: { refreshToken?: string }): Promise<void> => {
    this.revoked.push(refreshToken)
    return Promise.resolve()
  }

  override obtain(): Promise<never> {
    return Promise.reject(new Error('a login is never obtained'))
  }
}

function start(options = {}) {
  const source = new LoginSource({ pairs: true })
  return { ...manage(source, options), source }
}
const code = (ended: unknown) => (ended instanceof TokenError ? ended.code : ended)
const changes = ({ observed }: Pick<ReturnType<typeof start>, 'observed'>) =>
  observed.loginChanged.map(({ login, account, reason }) => `${login} ${reason ?? account}`)

describe('given a pending login', () => {
  it('F284: when it completes, then waiting callers get its token, and no listener was notified that a login is required', async () => {
    const world = start({ store: memoryStore() })
    const { tokens, source } = world
    const login = underWay()
    const adopted = tokens.adopt(login.promise)
    expect(tokens.status()).toMatchObject({ login: 'pending' })
    const stop = internalsOf(tokens)?.followLogin?.()
    const waiting = tokens.getAccessToken()
    const peeked = tokens.peekAccessToken()
    await settle()
    expect([peeked, tokens.status().login, changes(world)]).toEqual([undefined, 'pending', []])
    login.come(ALICE)
    await adopted
    expect([await waiting, tokens.status().login]).toEqual(['alice', 'present'])
    await settle()
    expect([changes(world), source.calls, world.observed.renewalFailed]).toEqual([['present unknown'], [], []])
    stop?.()
  })

  it.each([
    ['returns nothing', undefined, undefined],
    ['fails', new Error('the code was refused'), undefined],
    ['fails with an error of this package', new TokenError('ERR_TOKEN_REQUEST', 'the code was refused'), undefined],
    ['returns a value that is not a login', undefined, { accessToken: 'one' }],
  ])('F284: when it %s, then no user is logged in, and waiting callers are rejected', async (_, reason, grant) => {
    const world = start()
    const { tokens } = world
    const login = underWay()
    const adopted = outcome(tokens.adopt(login.promise))
    const waiting = outcome(tokens.getAccessToken())
    const renewing = outcome(tokens.renew())
    await settle()
    expect(changes(world)).toEqual([])
    if (reason) login.fail(reason)
    else login.come(grant)
    const end = await adopted
    if (reason) expect(end).toBe(reason)
    else expect(end).toEqual(grant ? new TypeError('accessLifetimeMs is missing: pass ms from now') : undefined)
    expect([code(await waiting), code(await renewing)]).toEqual(['ERR_LOGIN_REQUIRED', 'ERR_LOGIN_REQUIRED'])
    expect(tokens.status()).toMatchObject({ login: 'required', loginReason: 'none-yet' })
    expect(changes(world)).toEqual(['required none-yet'])
  })

  it('F284: when it never completes, then each caller waits within its own limits, and the manager can be closed', async () => {
    const { clock, tokens } = start()
    void tokens.adopt(new Promise<undefined>(() => undefined))
    const leaver = new AbortController()
    const ends = [
      tokens.getAccessToken({ maxWaitMs: 5_000 }),
      tokens.getAccessToken({ signal: leaver.signal }),
      tokens.getAccessToken(),
    ].map((waiting) => outcome(waiting).then(code))
    leaver.abort('left')
    await clock.advance(30_000)
    expect(await Promise.all(ends)).toEqual(['ERR_WAIT_TIMEOUT', 'left', 'ERR_WAIT_TIMEOUT'])
    const last = outcome(tokens.getAccessToken())
    await tokens.close()
    expect([code(await last), clock.pendingTimers]).toEqual(['ERR_CLOSED', 0])
  })

  it('F284: when the manager is closed first, then a login is not adopted, and a missing one is not a failure', async () => {
    const world = start()
    const { tokens } = world
    const [login, none] = [underWay(), underWay()]
    const ends = [tokens.adopt(login.promise), tokens.adopt(none.promise)].map((adopted) => outcome(adopted).then(code))
    await tokens.close()
    login.come(ALICE)
    none.come()
    expect(await Promise.all(ends)).toEqual(['ERR_CLOSED', undefined])
    expect(code(await outcome(tokens.adopt(Promise.reject(new Error('later')))))).toBe('ERR_CLOSED')
    expect(changes(world)).toEqual([])
  })

  it('F363: when the second of two completes first, then it is kept, and the first one is revoked when it completes', async () => {
    const world = start({ store: memoryStore() })
    const { tokens, source } = world
    const [first, second] = [underWay(), underWay()]
    const ends = [tokens.adopt(first.promise), tokens.adopt(second.promise)]
    const waiting = tokens.getAccessToken()
    second.come(BOB)
    await ends[1]
    expect([await waiting, tokens.status().login]).toEqual(['bob', 'present'])
    first.come(ALICE)
    await ends[0]
    await settle()
    expect([await tokens.getAccessToken(), source.revoked, changes(world)]).toEqual([
      'bob',
      ['of-alice'],
      ['present unknown'],
    ])
  })

  it('F363: when both complete in the order of their calls, then the second one replaces the first', async () => {
    const { tokens, source } = start({ store: memoryStore() })
    const [first, second] = [underWay(), underWay()]
    const ends = [tokens.adopt(first.promise), tokens.adopt(second.promise)]
    first.come(ALICE)
    await ends[0]
    expect([tokens.peekAccessToken(), tokens.status().login]).toEqual(['alice', 'pending'])
    second.come(BOB)
    await ends[1]
    await settle()
    expect([tokens.peekAccessToken(), tokens.status().login, source.revoked]).toEqual(['bob', 'present', ['of-alice']])
  })

  it('F284: when the first of two returns nothing, then callers wait for the second', async () => {
    const world = start()
    const { tokens } = world
    const [first, second] = [underWay(), underWay()]
    const ends = [tokens.adopt(first.promise), tokens.adopt(second.promise)]
    const waiting = tokens.getAccessToken()
    first.come()
    await ends[0]
    expect([tokens.status().login, changes(world)]).toEqual(['pending', []])
    second.come(BOB)
    expect([await waiting, tokens.status().login]).toEqual(['bob', 'present'])
  })

  it('F363: when another user is adopted first, then that login is kept, and the login of the promise is revoked', async () => {
    const { tokens, source } = start({ store: memoryStore() })
    const login = underWay()
    const adopted = tokens.adopt(login.promise)
    const waiting = tokens.getAccessToken()
    await tokens.adopt(ALICE)
    expect([await waiting, tokens.status().login]).toEqual(['alice', 'present'])
    login.come(BOB)
    await adopted
    await settle()
    expect([tokens.peekAccessToken(), tokens.status().login, source.revoked]).toEqual(['alice', 'present', ['of-bob']])
  })

  it.each([
    ['the same user', { ...ALICE, refreshToken: 'of-alice-2' }],
    ['an unknown user', { accessToken: 'x', accessLifetimeMs: 60_000, refreshToken: 'of-x' }],
  ])(
    'F363: when it returns a login of %s after another login was adopted, then nothing is revoked',
    async (_, grant) => {
      const { tokens, source } = start({ store: memoryStore() })
      const login = underWay()
      const adopted = tokens.adopt(login.promise)
      await tokens.adopt(ALICE)
      login.come(grant)
      await adopted
      await settle()
      expect([tokens.peekAccessToken(), source.revoked]).toEqual(['alice', []])
    },
  )

  it.each(['logout', 'reset'] as const)(
    'F363: when %s is called first, then nothing is pending, waiting callers are rejected at once, and the login is revoked when it completes',
    async (act) => {
      for (const before of [ALICE, undefined]) {
        const world = start({ store: memoryStore() })
        const { tokens, source } = world
        if (before) await tokens.adopt(before)
        const login = underWay()
        const adopted = tokens.adopt(login.promise)
        const waiting = before ? undefined : outcome(tokens.getAccessToken())
        expect(tokens.peekAccessToken()).toBe(before?.accessToken)
        await tokens[act]()
        expect(tokens.status()).toMatchObject({ login: 'required', loginReason: 'logged-out' })
        if (waiting) expect(code(await waiting)).toBe('ERR_LOGIN_REQUIRED')
        expect(code(await outcome(tokens.getAccessToken()))).toBe('ERR_LOGIN_REQUIRED')
        source.revoked.length = 0
        login.come(BOB)
        await adopted
        await settle()
        expect([tokens.peekAccessToken(), source.revoked]).toEqual([undefined, ['of-bob']])
        expect(changes(world).at(-1)).toBe('required logged-out')
      }
    },
  )

  it('F284: when requests of another login wait, then they do not get its token (R10)', async () => {
    const { clock, source, tokens } = start()
    await tokens.adopt(ALICE)
    const late = held(() => source.grant())
    source.script.push(late.answer)
    await clock.advance(61_000)
    const login = underWay()
    const adopted = tokens.adopt(login.promise)
    const waiting = outcome(tokens.getAccessToken())
    await settle()
    login.come(BOB)
    await adopted
    expect(await waiting).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
    expect(source.kinds).toBe('refresh')
    late.open()
  })

  it('F284: when a renewal in flight finds that a login is required, then its callers wait for the pending login', async () => {
    const world = start()
    const { clock, source, tokens } = world
    await tokens.adopt(ALICE)
    await clock.advance(61_000)
    const late = held(() => {
      throw new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected', refreshToken: 'refused' })
    })
    source.script.push(late.answer)
    const waiting = outcome(tokens.getAccessToken())
    await settle()
    const login = underWay()
    const adopted = tokens.adopt(login.promise)
    late.open()
    await settle()
    expect([tokens.status().login, changes(world)]).toEqual(['pending', ['present unknown']])
    login.come({ ...ALICE, accessToken: 'alice-2' })
    await adopted
    expect(await waiting).toBe('alice-2')
    expect(changes(world)).not.toContain('required refused')
  })

  it('F284: when another owner of the store logs out, then no listener is notified before the pending login has failed', async () => {
    const store = memoryStore()
    const world = start({ store })
    const { tokens } = world
    await tokens.adopt(ALICE)
    const other = start({ store })
    expect(await other.tokens.getAccessToken()).toBe('alice')
    const login = underWay()
    const adopted = tokens.adopt(login.promise)
    await other.tokens.logout()
    internalsOf(tokens)?.followLogin?.()
    await settle()
    expect([tokens.peekAccessToken(), tokens.status().login, changes(world)]).toEqual([
      undefined,
      'pending',
      ['present unknown'],
    ])
    login.come()
    await adopted
    expect(tokens.status()).toMatchObject({ login: 'required', loginReason: 'logged-out' })
    expect(changes(world).at(-1)).toBe('required logged-out')
  })

  it('F284: when the store has the previous login, then that is used again if the pending one returns nothing', async () => {
    const store = memoryStore()
    await start({ store }).tokens.adopt(ALICE)
    const world = start({ store })
    const { tokens } = world
    const login = underWay()
    const adopted = tokens.adopt(login.promise)
    internalsOf(tokens)?.followLogin?.()
    const waiting = tokens.getAccessToken()
    await settle()
    expect([changes(world), tokens.peekAccessToken()]).toEqual([[], undefined])
    login.come()
    await adopted
    expect([await waiting, tokens.status().login]).toEqual(['alice', 'present'])
    expect(changes(world)).toEqual(['present unknown'])
  })

  it('F284: when the source needs no login, then status does not mention one, callers obtain, and the tokens are used', async () => {
    const { tokens, source } = manage(new ScriptedSource({ pairs: true }))
    const login = underWay()
    const adopted = tokens.adopt(login.promise)
    expect([await tokens.getAccessToken(), tokens.status().login]).toEqual(['access-1', undefined])
    login.come(ALICE)
    await adopted
    expect([await tokens.getAccessToken(), source.kinds]).toEqual(['alice', 'obtain'])
    const reason = new Error('refused')
    expect(await outcome(tokens.adopt(Promise.reject(reason)))).toBe(reason)
    await tokens.adopt(Promise.resolve(undefined))
    expect(await tokens.getAccessToken()).toBe('alice')
  })
})

describe('given a login that is pending for longer than the access token of the login before it', () => {
  const startRenewable = async (store?: ReturnType<typeof memoryStore>) => {
    const world = start({ ...(store && { store }), renewal: { keepWarm: 'never' } })
    await world.tokens.adopt(ALICE)
    const login = underWay()
    const adopted = outcome(world.tokens.adopt(login.promise))
    await world.clock.advance(61_000)
    return { ...world, login, adopted }
  }

  it.each([
    ['no store', undefined],
    ['a store', memoryStore()],
  ])(
    'when a caller needs a token, with %s, then that login is renewed as if no login were pending (F426)',
    async (_, store) => {
      const { tokens, source, login, adopted } = await startRenewable(store)
      expect(await outcome(tokens.getAccessToken())).toBe('access-1')
      expect(source.kinds).toBe('refresh')
      expect(tokens.status().login).toBe('pending')
      login.come(BOB)
      await adopted
      expect(await tokens.getAccessToken()).toBe('bob')
    },
  )

  it('when the service rejects its refresh token, then callers wait for the pending login (F426)', async () => {
    const { clock, tokens, source, login, adopted } = await startRenewable()
    source.script.push(failing(400))
    const waiting = outcome(tokens.getAccessToken())
    await clock.advance(1_000)
    expect(source.kinds).toBe('refresh')
    login.come(BOB)
    await adopted
    expect(await waiting).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
    expect(await tokens.getAccessToken()).toBe('bob')
  })

  it('when that login has no refresh token, then callers wait for the pending login (F426)', async () => {
    const { clock, tokens } = start()
    const { refreshToken: _, ...short } = ALICE
    await tokens.adopt(short)
    const login = underWay()
    const adopted = outcome(tokens.adopt(login.promise))
    await clock.advance(61_000)
    const waiting = outcome(tokens.getAccessToken())
    await clock.advance(1_000)
    login.come(ALICE)
    await adopted
    expect(await waiting).toBe('alice')
  })
})
