import { describe, expect, it } from '@jest/globals'
import type { OpenableStore } from '../../src/core/token-store.ts'
import { memoryStore } from '../../src/index.ts'
import { failing, failingWith, manage, outcome, ScriptedSource } from '../support/managed.ts'

/** A store that forgets the claim, as after a failover to a replica without it: the refresh token seems unused. */
function forgetful(): OpenableStore {
  const store = memoryStore() as OpenableStore
  return {
    kind: store.kind,
    open(...where) {
      const record = store.open(...where)
      return {
        async claim(...args) {
          const claim = await record.claim(...args)
          return claim.kind === 'granted' ? { ...claim, presentable: true, presentations: 0 } : claim
        },
        accept: (...args) => record.accept(...args),
        release: (...args) => record.release(...args),
        adopt: (...args) => record.adopt(...args),
        clear: (...args) => record.clear(...args),
      }
    },
  }
}

describe('given a store that has forgotten that a refresh token was presented', () => {
  it.each([
    ['lost', failingWith('ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown')],
    ['refused', failingWith('ERR_REFRESH_REJECTED', 'rejected')],
  ])('when the answer was %s, and the credentials fail too, then it is not presented again (I5)', async (_, answer) => {
    const source = new ScriptedSource({ pairs: true })
    const { clock, tokens } = manage(source, { store: forgetful(), retry: { maxAttempts: 2 } })
    await tokens.getAccessToken()
    source.script.push(answer, failing(503))
    await clock.advance(50_000)
    await outcome(tokens.getAccessToken())
    await clock.advance(60_000)
    await tokens.getAccessToken()
    const presented = source.calls.flatMap(({ refreshToken }) => refreshToken ?? [])
    expect(presented).toEqual(['refresh-1', 'refresh-2'])
  })
})
