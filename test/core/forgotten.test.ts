import { describe, expect, it } from '@jest/globals'
import { failing, failingWith, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { storeWith } from '../support/store-with.ts'
import { person } from '../../src/login/index.ts'

/** A store that forgets the lease, as after a failover to a replica that lacks it: the refresh token seems unused. */
const forgetful = () =>
  storeWith((record) => ({
    async acquire(...args) {
      const lease = await record.acquire(...args)
      return lease.kind === 'granted' ? { ...lease, presentable: true, presentations: 0 } : lease
    },
  }))

/** A store that is unreachable when it must forget a login. */
const unclearable = () => storeWith(() => ({ clear: () => Promise.reject(new Error('the store is out of reach')) }))

describe('given a store that has forgotten that a refresh token was presented', () => {
  it.each([
    ['lost', failingWith('ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown')],
    ['refused', failingWith('ERR_REFRESH_REJECTED', 'rejected')],
  ])(
    'when the response was %s, and the credentials fail too, then it is not presented again (I5)',
    async (_, answer) => {
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
    },
  )
})

describe('given a store that is unreachable at a logout, and still holds the login', () => {
  it('when a token is requested later, then the refresh token of the ended login is not presented (F208)', async () => {
    const source = Object.assign(new ScriptedSource({ pairs: true }), { login: person })
    const { tokens } = manage(source, { store: unclearable() })
    await tokens.adopt({ accessToken: 'login', accessLifetimeMs: 60_000, refreshToken: 'r' })
    await expect(tokens.logout()).rejects.toThrow('the store is out of reach')
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect(source.calls).toEqual([])
  })
})
