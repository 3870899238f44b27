import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { attachBearer, createTokenManager } from '../../src/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { watchedClock } from '../support/watched-clock.ts'
import { serve } from '../service/world.ts'
import { client } from './world.ts'

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** A server with single-use refresh tokens, which ends a login when one is used twice, and exchanges tokens (RFC 8693). */
async function startServer() {
  let n = 0
  let refreshToken = 'refresh-0'
  const calls: string[] = []
  const server = await serve((_, reply) => {
    // `seen` gets the request before its response.
    const body = new URLSearchParams(server.seen.at(-1)!.body)
    n += 1
    if (body.get('grant_type') === EXCHANGE) {
      calls.push(`exchange ${body.get('subject_token')}`)
      reply.end(JSON.stringify({ access_token: `${body.get('audience')}-${n}`, token_type: 'N_A', expires_in: 60 }))
      return
    }
    const isGood = body.get('refresh_token') === refreshToken
    calls.push(`refresh ${isGood ? 'good' : 'reused'}`)
    refreshToken = `refresh-${n}`
    const answer = { access_token: `login-${n}`, token_type: 'Bearer', expires_in: 120, refresh_token: refreshToken }
    reply.writeHead(isGood ? 200 : 400).end(JSON.stringify(isGood ? answer : { error: 'invalid_grant' }))
  })
  return { tokenEndpoint: `${server.origin}/token`, calls }
}

describe('given several APIs, one login and a server that exchanges tokens (F213)', () => {
  it('when both are used for ten minutes, then no API sees the token of another, and each refresh token is presented once', async () => {
    const server = await startServer()
    const clock = watchedClock()
    const settings = { tokenEndpoint: server.tokenEndpoint, ...client }
    const shared = { clock, random: () => 0 }
    const login = createTokenManager({ source: oauth2({ ...settings, grant: 'login' }), ...shared })
    await login.adopt({ accessToken: 'login-0', accessLifetimeMs: 120_000, refreshToken: 'refresh-0' })
    const startApi = async (audience: string) => {
      const resource = await serve((_, reply) => reply.end('{}'))
      const grant = async () => ({
        grant_type: EXCHANGE,
        subject_token: await login.getAccessToken(),
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        audience,
      })
      const tokens = createTokenManager({ source: oauth2({ ...settings, grant }), ...shared })
      const instance = axios.create({ baseURL: resource.origin })
      attachBearer(instance, tokens)
      return { tokens, instance, seen: () => resource.seen.map(({ headers }) => headers.authorization) }
    }
    const apis = [await startApi('orders'), await startApi('invoices')]
    const managers = [login, ...apis.map(({ tokens }) => tokens)]
    for (let second = 0; second < 600; second += 10) {
      await Promise.all(apis.map(({ instance }) => instance.get('/things')))
      await clock.advance(10_000)
      while (managers.some((tokens) => tokens.status().renewing)) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(apis[0]!.seen().every((header) => /^Bearer orders-\d+$/.test(header ?? ''))).toBe(true)
    expect(apis[1]!.seen().every((header) => /^Bearer invoices-\d+$/.test(header ?? ''))).toBe(true)
    expect(apis.map(({ seen }) => seen().length)).toEqual([60, 60])
    expect(server.calls).toContain('refresh good')
    expect(server.calls).not.toContain('refresh reused')
    for (const tokens of managers) await tokens.close()
  })
})
