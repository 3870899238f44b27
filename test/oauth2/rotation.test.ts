import { describe, expect, it } from '@jest/globals'
import type { AxiosAdapter } from 'axios'
import { createTokenManager } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import type { OAuth2Options } from '../../src/oauth2/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { answering } from '../service/world.ts'
import { listen } from '../support/managed.ts'
import { GRANT, sourceBehind } from './world.ts'

/** A server that knows one secret of the client, and a program that reads it from a secret manager, which may lag behind. */
function rotating(options: Partial<OAuth2Options> = {}) {
  const secrets = { atServer: 'old-secret', inManager: 'old-secret' }
  const calls: string[] = []
  let issued = 0
  const adapter: AxiosAdapter = (config) => {
    const body = new URLSearchParams(String(config.data))
    const isKnown = body.get('client_secret') === secrets.atServer
    calls.push(`${body.get('refresh_token') ?? 'obtain'} ${isKnown ? 200 : 401}`)
    if (!isKnown) return answering(JSON.stringify({ error: 'invalid_client' }), 401)(config)
    issued += 1
    return answering(JSON.stringify({ ...GRANT, access_token: `a${issued}`, refresh_token: `r${issued}` }))(config)
  }
  const source = sourceBehind(adapter, {
    clientSecret: () => secrets.inManager,
    clientAuthentication: 'post',
    ...options,
  })
  const clock = manualClock()
  const tokens = createTokenManager({ source, clock, random: () => 0 }) as LoginManager
  return { secrets, calls, clock, tokens, told: listen(tokens) }
}

describe('given a clientSecret that is a function, and a secret that is rotated at the server (F306)', () => {
  it('when it returns the new secret by the next token request, then there is no failure', async () => {
    const { secrets, calls, tokens, told } = rotating()
    await tokens.renew()
    secrets.atServer = secrets.inManager = 'new-secret'
    await tokens.renew()
    expect(calls).toEqual(['obtain 200', 'obtain 200'])
    expect([told.suspicious, told.renewalFailed]).toEqual([[], []])
  })

  it('when it still returns the old one, then the login of a user is kept, there is no alarm, and the new one refreshes it', async () => {
    const { secrets, calls, clock, tokens, told } = rotating({ grant: 'login' })
    await tokens.adopt({ accessToken: 'a0', accessLifetimeMs: 3_600_000, refreshToken: 'r0' })
    secrets.atServer = 'new-secret'
    await expect(tokens.renew()).rejects.toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', refreshToken: 'kept' })
    expect([tokens.status().login, await tokens.getAccessToken()]).toEqual(['present', 'a0'])
    secrets.inManager = 'new-secret'
    await clock.advance(60_000)
    await tokens.renew()
    expect(calls).toEqual(['r0 401', 'r0 200'])
    expect([await tokens.getAccessToken(), told.suspicious, told.loginChanged.at(-1)?.login]).toEqual([
      'a1',
      [],
      'present',
    ])
  })
})
