import { describe, expect, it } from '@jest/globals'
import { memoryStore, TokenError, type TokenGrant } from '../../src/index.ts'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

const GRANT: TokenGrant = {
  accessToken: 'adopted',
  accessLifetimeMs: 60_000,
  refreshToken: 'r',
  refreshLifetimeMs: 3_600_000,
}

/** Like the source of a login: only a user can obtain tokens. */
class LoginSource extends ScriptedSource {
  override obtain(): Promise<never> {
    this.obtains += 1
    return Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'Log in, then call adopt()'))
  }
  obtains = 0
}
function withLogin(options = {}) {
  const source = new LoginSource({ pairs: true })
  return { ...manage(source, options), source }
}

describe('given tokens from elsewhere', () => {
  it('when they are adopted, then they are used, and renewed in time', async () => {
    const { clock, source, tokens, observed } = manage(new ScriptedSource({ pairs: true }))
    await tokens.adopt(GRANT)
    expect(await tokens.getAccessToken()).toBe('adopted')
    expect(source.calls).toEqual([])
    await settle()
    expect(observed.renewed).toEqual([
      expect.objectContaining({ by: 'adopted', because: 'forced', attempts: 0, durationMs: 0 }),
    ])
    expect(tokens.status().counts.adoptions).toBe(1)
    await clock.advance(50_000)
    expect([await tokens.getAccessToken(), source.calls[0]?.refreshToken]).toEqual(['access-1', 'r'])
  })

  it('when callers wait for a renewal, then they get the adopted token, and the renewed one is dropped', async () => {
    const { source, tokens } = manage(new ScriptedSource({ pairs: true }))
    const late = held(() => source.grant())
    source.script.push(late.answer)
    const waiting = tokens.getAccessToken()
    await settle()
    await tokens.adopt(GRANT)
    expect(await waiting).toBe('adopted')
    late.open()
    await settle()
    expect([tokens.peekAccessToken(), source.kinds]).toEqual(['adopted', 'obtain'])
  })

  it('when the manager is in a cool-down, then the cool-down ends', async () => {
    const { source, tokens } = manage()
    source.script.push(failing(400))
    await outcome(tokens.getAccessToken())
    await tokens.adopt(GRANT)
    expect([await tokens.getAccessToken(), tokens.status().lastError]).toEqual(['adopted', undefined])
  })

  it('when a suspicion has stopped the manager, then the manager runs again', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource({ pairs: true }), { onSuspicious: 'stop' })
    await tokens.getAccessToken()
    source.script.push(failing(401))
    await clock.advance(50_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_SUSPICIOUS_REFRESH_TOKEN' })
    await tokens.adopt(GRANT)
    expect(await tokens.getAccessToken()).toBe('adopted')
    await clock.advance(50_000)
    expect([await tokens.getAccessToken(), source.calls.at(-1)?.refreshToken]).toEqual(['access-2', 'r'])
  })

  it('when the refresh token was forgotten before, then adopting it again makes it usable', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource({ pairs: true }))
    await tokens.adopt(GRANT)
    await tokens.reset()
    await tokens.adopt(GRANT)
    await tokens.getAccessToken()
    await clock.advance(50_000)
    expect(source.calls.map(({ refreshToken }) => refreshToken)).toEqual(['r'])
  })

  it('when a store is shared, then other owners get them', async () => {
    const store = memoryStore()
    const { tokens, clock } = manage(new ScriptedSource({ pairs: true }), { store })
    const other = manage(new ScriptedSource({ pairs: true }), { store }, clock)
    await tokens.adopt(GRANT)
    expect([await other.tokens.getAccessToken(), other.source.calls]).toEqual(['adopted', []])
  })

  it.each<[Partial<Record<keyof TokenGrant | 'access_token', unknown>> | undefined, RegExp]>([
    [undefined, /got undefined instead of \{ accessToken, accessLifetimeMs \}/],
    [{ accessLifetimeMs: 1_000 }, /accessToken is missing/],
    [{ access_token: 'a' }, /accessToken is missing.* fromTokenResponse\(\)/],
    [{ ...GRANT, accessToken: 'a\nb' }, /accessToken must be visible ASCII/],
    [{ accessToken: 'a', accessLifetimeMs: 0 }, /accessLifetimeMs must be positive/],
    [{ ...GRANT, refreshToken: 7 }, /refreshToken must be a string, got number/],
  ])('when %j is adopted, then a TypeError names the member, and nothing changes', async (grant, message) => {
    const { tokens } = manage()
    await tokens.getAccessToken()
    const error = await outcome(tokens.adopt(grant as never))
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toMatch(message)
    expect(tokens.peekAccessToken()).toBe('access-1')
  })

  it('when the manager is closed, then they are rejected', async () => {
    const { tokens } = manage()
    await tokens.close()
    expect(await outcome(tokens.adopt(GRANT))).toMatchObject({ code: 'ERR_CLOSED' })
  })
})

describe('given a source that needs a user to log in (F159)', () => {
  it('when no user has logged in, then all callers are rejected at once, and the source is not called again', async () => {
    const { clock, source, tokens, observed } = withLogin()
    for (let second = 0; second < 120; second += 1) {
      const error = await outcome(tokens.getAccessToken())
      expect(error).toMatchObject({
        code: 'ERR_LOGIN_REQUIRED',
        retryable: false,
        message: expect.stringMatching(/log.?in.*adopt\(\)/i),
      })
      expect(error).not.toHaveProperty('retryAt')
      expect(tokens.status()).toMatchObject({ phase: 'stopped', lastError: 'ERR_LOGIN_REQUIRED' })
      expect(tokens.status()).not.toHaveProperty('nextAttemptAt')
      await clock.advance(1_000)
    }
    expect(source.obtains).toBe(1)
    // The manager reports this once, not for each caller.
    expect(observed.renewalFailed.map(({ error, nextAttemptAt }) => [error.code, nextAttemptAt])).toEqual([
      ['ERR_LOGIN_REQUIRED', Infinity],
    ])
  })

  it('when a user has logged in, then the tokens are used and renewed', async () => {
    const { clock, source, tokens } = withLogin()
    await outcome(tokens.getAccessToken())
    await tokens.adopt(GRANT)
    expect(await tokens.getAccessToken()).toBe('adopted')
    await clock.advance(50_000)
    expect([await tokens.getAccessToken(), source.kinds]).toEqual(['access-1', 'refresh'])
  })

  it('when the refresh token is rejected, then the access token is used until it expires, and then a login is required', async () => {
    const { clock, source, tokens } = withLogin()
    await tokens.adopt(GRANT)
    source.script.push(failing(400))
    await clock.advance(50_000)
    expect(await tokens.getAccessToken()).toBe('adopted')
    await settle()
    await clock.advance(5_000)
    expect([tokens.peekAccessToken(), tokens.status().phase]).toEqual(['adopted', 'due'])
    await clock.advance(5_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect([source.kinds, source.obtains]).toEqual(['refresh', 1])
  })

  it('when another owner of the store logs in, then callers waiting for a login get its tokens within a second', async () => {
    const store = memoryStore()
    const { clock, tokens } = withLogin({ store })
    const other = manage(new LoginSource(), { store }, clock)
    await outcome(other.tokens.getAccessToken())
    await tokens.adopt(GRANT)
    await clock.advance(999)
    expect(await outcome(other.tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    await clock.advance(1)
    expect(await other.tokens.getAccessToken()).toBe('adopted')
  })

  it('when reset() logs out, then nothing is presented or requested until the next login', async () => {
    const { clock, source, tokens } = withLogin()
    await tokens.adopt(GRANT)
    await tokens.reset()
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    await clock.advance(60_000)
    expect([source.calls, source.obtains]).toEqual([[], 1])
    await tokens.adopt({ ...GRANT, accessToken: 'again' })
    expect(await tokens.getAccessToken()).toBe('again')
  })

  it('when renew() is called, then it rejects, and the source is not called again', async () => {
    const { source, tokens } = withLogin()
    await outcome(tokens.getAccessToken())
    expect(await outcome(tokens.renew())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect(source.obtains).toBe(1)
  })
})
