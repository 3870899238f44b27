import { describe, expect, it } from '@jest/globals'
import { TokenError, type TokenGrant } from '../../src/index.ts'
import { sharedStore, type SharedStoreOptions, type TokenRegister } from '../../src/store/index.ts'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

const GRANT: TokenGrant = {
  accessToken: 'adopted',
  accessLifetimeMs: 60_000,
  refreshToken: 'theirs',
  refreshLifetimeMs: 3_600_000,
}

class LoginSource extends ScriptedSource {
  override obtain(): Promise<TokenGrant> {
    return Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'Log in, then call adopt()'))
  }
}

/** Two processes that share a register. `breakDown` makes the register unavailable. */
function fleet(options: SharedStoreOptions = {}) {
  const clock = manualClock()
  const inner = new MemoryRegister(clock)
  let isDown = false
  let isSilent = false
  const asked = async <Value>(answer: () => Promise<Value>): Promise<Value> => {
    if (isDown) throw new Error('down')
    return answer()
  }
  const register: TokenRegister = {
    kind: 'test',
    read: (...given) => asked(() => inner.read(...given)),
    async replace(...given) {
      const replaced = await asked(() => inner.replace(...given))
      return isSilent ? new Promise<never>(() => undefined) : replaced
    },
  }
  const start = (source = new ScriptedSource({ pairs: true })) =>
    manage(source, { store: sharedStore(register, options) }, clock)
  return {
    clock,
    start,
    here: start(),
    there: start(),
    breakDown: (down: boolean) => void (isDown = down),
    /** If false, the register replaces the record, but does not respond. */
    answers: (answering: boolean) => void (isSilent = !answering),
  }
}

const LATER: TokenGrant = { ...GRANT, accessToken: 'adopted-later', refreshToken: 'of the later login' }
const presentedBy = ({ source }: ReturnType<typeof manage>) => source.calls.map(({ refreshToken }) => refreshToken)

describe('given adopted tokens and a shared store', () => {
  it('when the store is available, then another process receives them', async () => {
    const { here, there } = fleet()
    await here.tokens.adopt(GRANT)
    expect([await there.tokens.getAccessToken(), there.source.calls]).toEqual(['adopted', []])
  })

  it('when they are reset at once, then they are not restored', async () => {
    const { here, there } = fleet()
    await Promise.all([here.tokens.adopt(GRANT), here.tokens.reset()])
    expect(await there.tokens.getAccessToken()).toBe('access-1')
  })

  it('when the store is unavailable, then this process uses them, and when it is back, the others receive the current tokens', async () => {
    const { clock, here, there, breakDown } = fleet()
    await there.tokens.getAccessToken()
    breakDown(true)
    await here.tokens.adopt(GRANT)
    await clock.advance(10_000)
    // This process renews without the store, with the adopted refresh token.
    await here.tokens.renew()
    expect(here.tokens.peekAccessToken()).toBe('access-1')
    expect(here.source.calls.map(({ refreshToken }) => refreshToken)).toEqual(['theirs'])
    await settle()
    expect(here.observed.storeUnavailable).toHaveLength(1)
    breakDown(false)
    await here.tokens.renew()
    expect(here.source.calls.map(({ refreshToken }) => refreshToken)).toEqual(['theirs', 'refresh-1'])
    await there.tokens.renew()
    await there.tokens.renew()
    expect(there.source.calls.at(-1)?.refreshToken).toBe('refresh-2')
  })

  it('when the store is unavailable, and they are reset here, then no process receives them', async () => {
    const { here, there, breakDown } = fleet()
    breakDown(true)
    await here.tokens.adopt(GRANT)
    await outcome(here.tokens.reset())
    breakDown(false)
    await here.tokens.renew()
    expect([await there.tokens.getAccessToken(), here.source.kinds]).toEqual(['access-1', 'obtain'])
  })

  it("when the store is unavailable under onUnavailable: 'fail', then the caller gets an error", async () => {
    const { here, breakDown } = fleet({ onUnavailable: 'fail' })
    breakDown(true)
    expect(await outcome(here.tokens.adopt(GRANT))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', retryable: true })
  })

  it('when the store was unavailable, and a later login is stored, then the earlier login does not replace it', async () => {
    const { here, there, breakDown } = fleet()
    breakDown(true)
    await here.tokens.adopt(GRANT)
    breakDown(false)
    await here.tokens.adopt(LATER)
    await here.tokens.renew()
    expect(presentedBy(here)).toEqual(['of the later login'])
    expect(await there.tokens.getAccessToken()).toBe('access-1')
  })

  it('when the store is unavailable once more, then the earlier login is not used again', async () => {
    const { clock, here, breakDown } = fleet()
    breakDown(true)
    await here.tokens.adopt(GRANT)
    breakDown(false)
    await here.tokens.adopt(LATER)
    breakDown(true)
    const renewed = here.tokens.renew()
    await clock.advance(2_000)
    await renewed
    expect(presentedBy(here)).toEqual([undefined])
  })

  it('when they are adopted and reset at once while the store is unavailable, then they are not restored', async () => {
    const { clock, here, there, breakDown } = fleet()
    breakDown(true)
    await Promise.all([here.tokens.adopt(GRANT), outcome(here.tokens.reset())])
    const renewed = here.tokens.renew()
    await clock.advance(2_000)
    await renewed
    breakDown(false)
    await here.tokens.renew()
    expect(presentedBy(here)).toEqual([undefined, undefined])
    expect(await there.tokens.getAccessToken()).toBe('access-2')
  })

  it("when the store's response is lost, and another process has renewed them since, then they are not stored a second time", async () => {
    const { clock, here, there, answers } = fleet()
    answers(false)
    const adopted = here.tokens.adopt(GRANT)
    await clock.advance(1_000)
    await adopted
    answers(true)
    await there.tokens.renew()
    expect(presentedBy(there)).toEqual(['theirs'])
    await here.tokens.renew()
    expect(presentedBy(here)).toEqual(['refresh-1'])
    expect([...here.observed.suspicious, ...there.observed.suspicious]).toEqual([])
  })

  it("when the store's response is lost, and they are renewed without it, then the store receives the new tokens", async () => {
    const { clock, here, breakDown, answers } = fleet()
    answers(false)
    const adopted = here.tokens.adopt(GRANT)
    await clock.advance(1_000)
    await adopted
    answers(true)
    breakDown(true)
    await here.tokens.renew()
    breakDown(false)
    await here.tokens.renew()
    expect(presentedBy(here)).toEqual(['theirs', 'refresh-1'])
  })

  it('when the store is unavailable, and the API rejects them when it is back, then they are replaced', async () => {
    const { here, breakDown } = fleet()
    breakDown(true)
    await here.tokens.adopt(GRANT)
    breakDown(false)
    expect(await here.tokens.replaceAccessToken('adopted')).toBe('access-1')
    expect(presentedBy(here)).toEqual(['theirs'])
  })

  it("when the service rejects the earlier login's refresh token after that, then the new one is presented anyway", async () => {
    const { clock, here, breakDown } = fleet()
    await here.tokens.adopt(GRANT)
    const refusal = held(failing(401))
    here.source.script.push(refusal.answer)
    const renewed = here.tokens.renew()
    await settle()
    breakDown(true)
    await here.tokens.adopt(LATER)
    refusal.open()
    await renewed
    await clock.advance(10_000)
    await here.tokens.renew()
    expect(presentedBy(here)).toEqual(['theirs', 'of the later login'])
  })

  it("when the store is unavailable under onUnavailable: 'fail', then it receives the tokens in use here when it is back", async () => {
    const { here, breakDown } = fleet({ onUnavailable: 'fail' })
    breakDown(true)
    await outcome(here.tokens.adopt(GRANT))
    breakDown(false)
    await here.tokens.renew()
    expect(presentedBy(here)).toEqual(['theirs'])
  })
})

describe('given a login that the store has not confirmed', () => {
  type World = ReturnType<typeof fleet>

  it.each<[string, string, (world: World, isWell: boolean) => void, (string | undefined)[]]>([
    ['the response is lost', 'it is not stored again', ({ answers }, isWell) => answers(isWell), [undefined]],
    [
      'the store is unavailable',
      'the login continues, because it is in no record (F361)',
      ({ breakDown }, isWell) => breakDown(!isWell),
      ['theirs'],
    ],
  ])('when %s, and another process logs out afterwards, then %s', async (_is, _then, makeWell, presented) => {
    const world = fleet()
    const { clock, here, there } = world
    makeWell(world, false)
    const adopted = here.tokens.adopt(GRANT)
    await clock.advance(5_000)
    await adopted
    makeWell(world, true)
    await there.tokens.reset()
    await here.tokens.renew()
    expect([await there.tokens.getAccessToken(), presentedBy(here)]).toEqual(['access-1', presented])
  })
})

describe('given a source that needs a user to log in, and a shared store (F159)', () => {
  /** A user has logged in in another process, and this process has no token yet. */
  async function loggedIn(options: SharedStoreOptions = {}) {
    const world = fleet(options)
    await world.there.tokens.adopt(GRANT)
    return { ...world, here: world.start(new LoginSource({ pairs: true })) }
  }

  it.each(['private', 'fail'] as const)(
    'when the store is unavailable (%s), then no user is sent to log in, and the login works when the store is back',
    async (onUnavailable) => {
      const { clock, here, breakDown } = await loggedIn({ onUnavailable })
      breakDown(true)
      const told = outcome(here.tokens.getAccessToken({ maxWaitMs: 10_000 }))
      await clock.advance(10_000)
      expect(await told).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', retryable: true })
      expect(here.tokens.status().phase).not.toBe('stopped')
      breakDown(false)
      await clock.advance(20_000)
      expect(await here.tokens.getAccessToken()).toBe('adopted')
    },
  )

  it('when the store is back and holds no login, then a login is required', async () => {
    const { clock, start, breakDown } = fleet()
    const { tokens } = start(new LoginSource({ pairs: true }))
    breakDown(true)
    const told = outcome(tokens.getAccessToken({ maxWaitMs: 10_000 }))
    await clock.advance(10_000)
    expect(await told).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    breakDown(false)
    await clock.advance(20_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
  })
})
