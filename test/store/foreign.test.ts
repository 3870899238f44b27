import { describe, expect, it } from '@jest/globals'
import { TokenError, type TokenGrant } from '../../src/index.ts'
import { sharedStore, type SharedStoreOptions } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { person } from '../../src/login/index.ts'

/** A user must log in. */
class LoginSource extends ScriptedSource {
  readonly login = person

  override obtain(): Promise<TokenGrant> {
    return Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'Log in, then call adopt()'))
  }
}

/** The register holds a record that a newer release wrote. */
async function start(onUnavailable: SharedStoreOptions['onUnavailable'], source: ScriptedSource) {
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  const store = () => sharedStore(register, { onUnavailable })
  const before = manage(new ScriptedSource({ pairs: true }), { store: store() }, clock)
  await before.tokens.getAccessToken()
  const [[key, own] = ['', { value: '{}', until: 0 }]] = register.values
  const newer = { ...own, value: JSON.stringify({ ...(JSON.parse(own.value) as object), schema: 99 }) }
  register.values.set(key, newer)
  const process = manage(source, { store: store() }, clock)
  return {
    ...process,
    clock,
    stands: () => register.values.get(key) === newer,
    mend: () => register.values.set(key, own),
  }
}

describe.each(['private', 'fail'] as const)(
  'given a record of a newer release, and a store that is %s',
  (onUnavailable) => {
    it('when only a user can obtain, then no user is sent to log in, and the record is left alone (F143)', async () => {
      const { tokens, source, clock, stands, mend, observed } = await start(
        onUnavailable,
        new LoginSource({ pairs: true }),
      )
      const asked = outcome(tokens.getAccessToken({ maxWaitMs: 5_000 }))
      await clock.advance(5_000)
      expect(await asked).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', retryable: true })
      expect([stands(), source.calls, tokens.status().phase]).toEqual([true, [], 'empty'])
      expect(observed.anomaly.map(({ kind }) => kind)).toContain('stored-tokens-unusable')
      mend()
      await clock.advance(20_000)
      expect(await tokens.getAccessToken()).toBe('access-1')
    })

    it('when this process can obtain, then it has its own tokens, and the record is left alone (F143)', async () => {
      const { tokens, source, clock, stands } = await start(onUnavailable, new ScriptedSource({ pairs: true }))
      const asked = tokens.getAccessToken()
      await clock.advance(2_000)
      expect([await asked, source.kinds, stands()]).toEqual(['access-1', 'obtain', true])
    })
  },
)
