import { randomUUID } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import type { ServerResponse } from 'node:http'
import { createTokenManager } from '../../src/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { failureOf, serve } from '../service/world.ts'
import { listen } from '../support/managed.ts'
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

  it('when it has only an access token, then that one is revoked; without tokens nothing is sent', async () => {
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
    [403, '', 'ERR_CREDENTIALS_REJECTED', 'check revocationEndpoint, and the client'],
    [200, '{"ok":false,"error":"internal_error"}', 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'internal_error'],
  ])('when the server responds %i %j, then it rejects and shows no token', async (status, body, code, message) => {
    const { source } = await startServer(status, body)
    const error = await failureOf(source().revoke!(TOKENS, context()))
    expect(error).toMatchObject({ code, status })
    expect(error.message).toContain(message)
    expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('of-nobody')
  })

  it('when the server never responds, then the signal ends the request', async () => {
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

  it('when its metadata name one, then that one is used; if they name none, then it rejects', async () => {
    const answers: object[] = []
    const server = await serve((request, reply) =>
      reply.end(request.method === 'GET' ? JSON.stringify({ issuer: server.origin, ...answers.shift() }) : ''),
    )
    const source = oauth2({ issuer: server.origin, ...client })
    answers.push({ token_endpoint: `${server.origin}/token` })
    expect((await failureOf(source.revoke!(TOKENS, context()))).message).toContain('have no revocation_endpoint')
    source.reset!()
    answers.push({ token_endpoint: `${server.origin}/token`, revocation_endpoint: `${server.origin}/revoke` })
    await source.revoke!(TOKENS, context())
    expect(server.seen.at(-1)).toMatchObject({ method: 'POST', url: '/revoke' })
  })
})

describe('given a manager that logs out (F279, F280, F283)', () => {
  const start = async (answers: ((reply: ServerResponse) => unknown)[], options: object = {}) => {
    const server = await serve((_, reply) => (answers.shift() ?? (() => reply.end()))(reply))
    const revocationEndpoint = `${server.origin}/revoke`
    const source = oauth2({
      tokenEndpoint: ENDPOINT,
      revocationEndpoint,
      ...client,
      ...options,
      grant: 'login',
      account: randomUUID(),
    })
    const tokens = createTokenManager({ source, retry: { baseDelayMs: 0 } })
    const told = listen(tokens)
    await tokens.adopt({ refreshToken: 'refresh-of-nobody' })
    return { server, tokens, told }
  }
  const answer =
    (status: number, headers = {}) =>
    (reply: ServerResponse) =>
      reply.writeHead(status, headers).end()
  const reset = (reply: ServerResponse) => reply.socket?.resetAndDestroy()

  it.each<[string, ((reply: ServerResponse) => unknown)[], object, number]>([
    ['503, then a reset, then 200', [answer(503), reset], { revoked: true }, 3],
    ['429 with a short Retry-After, then 200', [answer(429, { 'Retry-After': '0' })], { revoked: true }, 2],
    [
      '429 with a long Retry-After',
      [answer(429, { 'Retry-After': '30' })],
      { revoked: false, reason: 'unavailable' },
      1,
    ],
    ['503 for ever', [answer(503), answer(503), answer(503)], { revoked: false, reason: 'unavailable' }, 3],
    ['401', [answer(401)], { revoked: false, reason: 'refused' }, 1],
    ['a redirect', [answer(302, { Location: '/' })], { revoked: false, reason: 'refused' }, 1],
  ])('when the server responds %s, then the logout reports the outcome', async (_, answers, result, calls) => {
    const { server, tokens, told } = await start(answers)
    expect([await tokens.logout(), server.seen.length]).toEqual([result, calls])
    expect(told.anomaly.map(({ kind }) => kind)).toEqual('reason' in result ? ['not-revoked'] : [])
    expect(JSON.stringify(told)).not.toContain('of-nobody')
  })

  it('when the connection is refused, then that is the reason, and the next logout tries again', async () => {
    const server = await serve((_, reply) => reply.end())
    const { tokens } = await start([], { revocationEndpoint: 'http://127.0.0.1:1/revoke' })
    expect(await tokens.logout()).toEqual({ revoked: false, reason: 'unavailable' })
    expect(await tokens.logout()).toEqual({ revoked: false, reason: 'unavailable' })
    expect(server.seen).toEqual([])
  })

  it('when the metadata of the issuer name no address, or none is given, then the reason states it', async () => {
    const server = await serve((_, reply) =>
      reply.end(JSON.stringify({ issuer: server.origin, token_endpoint: `${server.origin}/token` })),
    )
    for (const options of [
      { tokenEndpoint: undefined, revocationEndpoint: undefined, issuer: server.origin },
      { revocationEndpoint: undefined },
    ]) {
      const { tokens, told } = await start([], options)
      expect(await tokens.logout()).toEqual({ revoked: false, reason: 'no-endpoint' })
      expect(told.anomaly[0]?.message).toContain('revocationEndpoint')
    }
  })
})
