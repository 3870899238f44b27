import { describe, expect, it } from '@jest/globals'
import { createTokenManager } from '../../src/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'
import { serve } from '../service/world.ts'

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

describe('given an API whose token is exchanged for that of the login, as docs/oauth2.md shows (F429)', () => {
  it.each(['adopt', 'logout'] as const)(
    'when %s ends the login while the exchanged token lives, then no request has it afterwards, and the next user is served',
    async (act) => {
      let n = 0
      const server = await serve((_, reply) => {
        const body = new URLSearchParams(server.seen.at(-1)!.body)
        n += 1
        const token = `${body.get('subject_token') ?? body.get('refresh_token') ?? ''}-${n}`
        reply.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 600 }))
      })
      const clock = watchedClock()
      const settings = { tokenEndpoint: `${server.origin}/token`, clientId: 'app' }
      const login = createTokenManager({ source: oauth2({ ...settings, grant: 'login' }), clock })
      const grant = async () => ({
        grant_type: EXCHANGE,
        subject_token: await login.getAccessToken(),
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        audience: 'orders',
      })
      const orders = createTokenManager({ source: oauth2({ ...settings, account: 'orders', grant }), clock })
      login.on('loginChanged', () => void orders.reset())
      const given = (user: string) => ({
        accessToken: user,
        accessLifetimeMs: 600_000,
        refreshToken: `r-${user}`,
        subject: user,
      })
      await login.adopt(given('ada'))
      expect(await orders.getAccessToken()).toMatch(/^ada/)
      if (act === 'adopt') await login.adopt(given('bob'))
      else await login.logout()
      await settle()
      const after = await orders.getAccessToken().catch(() => 'none')
      expect(after).toMatch(act === 'adopt' ? /^bob/ : /^none$/)
      await login.adopt(given('carl'))
      await settle()
      expect(await orders.getAccessToken()).toMatch(/^carl/)
      await Promise.all([login.close(), orders.close()])
    },
  )
})
