import { describe, expect, it } from '@jest/globals'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { person } from '../../src/login/index.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { WatchedRegister } from '../support/memory-register.ts'
import { TOKENS, twoOwners } from '../support/two-owners.ts'

const BOB = { ...TOKENS, subject: 'bob', loginId: '1' }
const LOGGED_OUT = { kind: 'missing', missing: 'logged-out' }

/** Executes writes, and loses the responses of the next ones. */
class UnansweredRegister extends WatchedRegister {
  unanswered = 0
  writes = 0

  override async replace(...given: Parameters<TokenRegister['replace']>) {
    const isReplaced = await super.replace(...given)
    this.writes += 1
    if (this.unanswered-- > 0) throw new Error('the connection broke')
    return isReplaced
  }
}

class LoginSource extends ScriptedSource {
  readonly login = person
}

describe('given a logout that the store has executed, and whose response is lost', () => {
  it.each([
    ['was stored', false],
    ['was stored without a response, too', true],
  ])('when the login %s, then the next step does not write the logout again', async (_, isUnanswered) => {
    const clock = manualClock()
    const register = new UnansweredRegister(clock)
    const { here, there } = twoOwners(register, clock)
    register.unanswered = isUnanswered ? 1 : 0
    const adopted = await here.adopt(0, BOB).catch(() => undefined)
    register.unanswered = 50
    await clock.advance(1_000)
    const ends = { login: adopted?.login, loginId: BOB.loginId }
    await expect(here.clear(adopted?.version ?? 0, ends)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    const { writes } = register
    await clock.advance(1_000)
    expect(await here.check?.(0)).toMatchObject(LOGGED_OUT)
    expect(await there.check?.(0)).toMatchObject(LOGGED_OUT)
    expect(register.writes).toBe(writes)
  })

  it('when the manager follows the login, then no write causes the next one', async () => {
    const clock = manualClock()
    const register = new UnansweredRegister(clock)
    const { tokens } = manage(new LoginSource(), { store: sharedStore(register) }, clock)
    await tokens.adopt({ accessToken: 'bob', accessLifetimeMs: 60_000, refreshToken: 'refresh-of-bob' })
    internalsOf(tokens)?.followLogin?.()
    await clock.advance(1_000)
    register.unanswered = 50
    const { writes } = register
    const loggedOut = outcome(tokens.logout())
    void tokens.logout().catch(() => undefined)
    await clock.advance(60_000)
    await loggedOut
    expect(register.writes - writes).toBeLessThan(10)
  })
})
