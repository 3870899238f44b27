import { describe, expect, it } from '@jest/globals'
import { memoryStore, TokenError } from '../../src/index.ts'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { failing, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'
import { session } from '../../src/login/index.ts'

class SessionSource extends ScriptedSource {
  readonly login = session
}
const start = (options = {}, clock?: ReturnType<typeof manage>['clock']) => manage(new SessionSource(), options, clock)
const changes = ({ observed }: Pick<ReturnType<typeof start>, 'observed'>) =>
  observed.loginChanged.map(({ login, by, reason }) => [login, by, reason].join(' ').trim())
const code = (ended: unknown) => (ended instanceof TokenError ? ended.code : ended)

describe.each([
  ['no store', () => ({})],
  ['a store', () => ({ store: memoryStore() })],
])('given a session that a user has started, and %s', (_, options) => {
  it('F285: when a token is requested, then the session provides it, and the login is present', async () => {
    const world = start(options())
    expect(world.tokens.status()).not.toHaveProperty('login')
    expect(await world.tokens.getAccessToken()).toBe('access-1')
    expect([world.tokens.status().login, changes(world)]).toEqual(['present', ['present here']])
  })

  it.each([
    ['401', failing(401)],
    [
      'its own error code',
      () => {
        throw new TokenError('ERR_LOGIN_REQUIRED', 'log in')
      },
    ],
  ])(
    'F285: when the service rejects it by %s, then a login is required, and the service is asked at most once in 10 s',
    async (__, refused) => {
      const world = start(options())
      const { clock, source, tokens } = world
      for (let n = 0; n < 9; n += 1) source.script.push(refused)
      expect(await outcome(tokens.getAccessToken())).toMatchObject({
        code: 'ERR_LOGIN_REQUIRED',
        loginReason: 'none-yet',
        message:
          'A login is required (none-yet: the service issued no token for this session): log in, then call reset()',
      })
      expect(tokens.status()).toMatchObject({ phase: 'stopped', login: 'required', loginReason: 'none-yet' })
      for (let second = 0; second < 25; second += 1) {
        await clock.advance(1_000)
        expect(code(await outcome(tokens.getAccessToken()))).toBe('ERR_LOGIN_REQUIRED')
      }
      expect([source.calls.map(({ at }) => at - source.calls[0]!.at), world.observed.renewalFailed.length]).toEqual([
        [0, 10_000, 20_000],
        1,
      ])
      source.script.length = 0
      await tokens.reset()
      expect([await tokens.getAccessToken(), changes(world)]).toEqual([
        'access-1',
        ['required here none-yet', 'present here'],
      ])
    },
  )

  it('F285: when it ends while its token is valid, then the token is used until it expires, and then a login is required', async () => {
    const world = start(options())
    const { clock, source, tokens } = world
    await tokens.getAccessToken()
    for (let n = 0; n < 9; n += 1) source.script.push(failing(401))
    await clock.advance(50_000)
    expect([await tokens.getAccessToken(), tokens.status().login]).toEqual(['access-1', 'present'])
    await clock.advance(11_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', loginReason: 'refused' })
    expect(changes(world).slice(1)).toEqual(['required here refused'])
  })

  it('F285: when its token has expired and can be obtained again, then no login is reported as required', async () => {
    const world = start(options())
    await world.tokens.getAccessToken()
    await world.clock.advance(120_000)
    expect(world.tokens.status()).toMatchObject({ phase: 'expired', login: 'present' })
    expect([await world.tokens.getAccessToken(), changes(world)]).toEqual(['access-3', ['present here']])
  })
})

describe('given a session in two tabs', () => {
  it('F285: when one logs out and another user logs in there, then the other tab reports both, and its requests no longer belong to that login', async () => {
    const store = memoryStore()
    const one = start({ store })
    const two = manage(new SessionSource(), { store }, one.clock)
    await one.tokens.getAccessToken()
    const internals = internalsOf(two.tokens)
    const look = internals?.followLogin?.bind(internals)
    expect(changes(two)).toEqual([])
    look?.()
    await settle()
    expect(changes(two)).toEqual(['present store'])
    const begun = internals?.currentGeneration?.() ?? 0
    await one.tokens.logout()
    look?.()
    await settle()
    expect(two.tokens.status()).toMatchObject({ login: 'required', loginReason: 'logged-out' })
    await one.clock.advance(1_000)
    expect(await one.tokens.getAccessToken()).toBe('access-2')
    look?.()
    await settle()
    expect([two.tokens.peekAccessToken(), begun >= (internals?.firstGeneration?.() ?? 0)]).toEqual(['access-2', false])
    expect(changes(two)).toEqual(['present store', 'required elsewhere logged-out', 'present elsewhere'])
  })

  it('F285: when a tab loads after a logout, then the empty store does not require a login', async () => {
    const store = memoryStore()
    const one = start({ store })
    await one.tokens.getAccessToken()
    await one.tokens.logout()
    const two = manage(new SessionSource(), { store }, one.clock)
    internalsOf(two.tokens)?.followLogin?.()
    await settle()
    expect(changes(two)).toEqual([])
    expect(await two.tokens.getAccessToken()).toBe('access-1')
  })
})
