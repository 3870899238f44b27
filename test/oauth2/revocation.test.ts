import { describe, expect, it } from '@jest/globals'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { failureOf, serve } from '../service/world.ts'
import { client, ENDPOINT } from './world.ts'

const context = () => ({ signal: new AbortController().signal, clock: manualClock() })
const TOKENS = { accessToken: 'access-of-nobody', refreshToken: 'refresh-of-nobody' }

async function startServer(status = 200, body = '') {
  const server = await serve((_, reply) => reply.writeHead(status).end(body))
  const source = (options: Partial<OAuth2Options> = {}) =>
    oauth2({ tokenEndpoint: ENDPOINT, revocationEndpoint: `${server.origin}/revoke`, ...client, ...options })
  return { ...server, source }
}

describe('given a source with a revocationEndpoint (F208)', () => {
  it('when it has both tokens, then the refresh token is revoked, with the authentication of the exchanges', async () => {
    const { source, seen } = await startServer()
    await source().revoke!(TOKENS, context())
    expect(seen.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
      'POST /revoke token=refresh-of-nobody&token_type_hint=refresh_token',
    ])
    expect(seen[0]!.headers.authorization).toMatch(/^Basic /)
    await source({ clientAuthentication: 'post' }).revoke!(TOKENS, context())
    expect(seen[1]!.body).toContain('client_secret=secret-of-nobody')
  })

  it('when it has only an access token, then that is revoked; without tokens nothing is sent', async () => {
    const { source, seen } = await startServer()
    await source().revoke!({ accessToken: 'access-of-nobody' }, context())
    await source().revoke!({}, context())
    expect(seen.map(({ body }) => body)).toEqual(['token=access-of-nobody&token_type_hint=access_token'])
  })

  it.each([
    [503, '', 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'the token service failed'],
    [404, '', 'ERR_TOKEN_REQUEST', 'check revocationEndpoint'],
    [200, '<html>access-of-nobody</html>', 'ERR_TOKEN_RESPONSE', 'it is HTML; check revocationEndpoint'],
    [400, '{"error":"unsupported_token_type"}', 'ERR_TOKEN_REQUEST', 'unsupported_token_type: the server does not'],
    [401, '{"error":"invalid_client"}', 'ERR_CREDENTIALS_REJECTED', 'invalid_client: check clientId'],
    [200, '{"ok":false,"error":"internal_error"}', 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'internal_error'],
  ])('when the server answers %i %j, then it rejects and shows no token', async (status, body, code, message) => {
    const { source } = await startServer(status, body)
    const error = await failureOf(source().revoke!(TOKENS, context()))
    expect(error).toMatchObject({ code, status })
    expect(error.message).toContain(message)
    expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('of-nobody')
  })

  it('when the server never answers, then the signal ends the call', async () => {
    let arrive = () => undefined as unknown
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    const server = await serve(() => arrive())
    const source = oauth2({ tokenEndpoint: ENDPOINT, revocationEndpoint: server.origin, ...client })
    const limit = new AbortController()
    const failure = failureOf(source.revoke!(TOKENS, { ...context(), signal: limit.signal }))
    await arrived
    limit.abort()
    expect(await failure).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
  })
})

describe('given a source without a revocationEndpoint', () => {
  it('when it has a tokenEndpoint, then it cannot revoke', () => {
    const source = oauth2({ tokenEndpoint: ENDPOINT, ...client })
    expect('revoke' in source).toBe(false)
  })

  it('when its metadata name one, then that is called; if they name none, then it rejects', async () => {
    const answers: object[] = []
    const server = await serve((request, reply) =>
      reply.end(request.method === 'GET' ? JSON.stringify({ issuer: server.origin, ...answers.shift() }) : ''),
    )
    const source = oauth2({ issuer: server.origin, ...client })
    answers.push({ token_endpoint: `${server.origin}/token` })
    expect((await failureOf(source.revoke!(TOKENS, context()))).message).toContain('name no revocation_endpoint')
    source.reset!()
    answers.push({ token_endpoint: `${server.origin}/token`, revocation_endpoint: `${server.origin}/revoke` })
    await source.revoke!(TOKENS, context())
    expect(server.seen.at(-1)).toMatchObject({ method: 'POST', url: '/revoke' })
  })
})
