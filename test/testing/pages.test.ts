/** What pages need from the simulated service: CORS, a public client, a login without a form, and a logout. */
import { describe, expect, it } from '@jest/globals'
import type { SimulatedService } from '../../tools/testing/index.ts'
import { callApi, newPair, post, startWorld } from './world.ts'

const ORIGIN = 'http://localhost:5173'
const EXPOSED = 'Retry-After, Date, WWW-Authenticate, DPoP-Nonce'

interface Answered {
  status: number
  text: string
  body: Record<string, string | number>
  headers: Headers
}

async function call(url: string, form: Record<string, string>, init: RequestInit = {}): Promise<Answered> {
  const headers = { Origin: ORIGIN, ...(init.headers as Record<string, string> | undefined) }
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form), ...init, headers })
  const text = await response.text()
  return {
    status: response.status,
    text,
    body: text === '' ? {} : (JSON.parse(text) as Answered['body']),
    headers: response.headers,
  }
}

/** A page: a client without a secret. */
const refresh = ({ tokenEndpoint }: SimulatedService, refresh_token: string, client_id = 'page') =>
  call(tokenEndpoint, { grant_type: 'refresh_token', refresh_token, client_id })
const revoke = ({ revocationEndpoint }: SimulatedService, token: string, more: Record<string, string> = {}) =>
  call(revocationEndpoint, { token, client_id: 'page', ...more })
const kinds = ({ log }: SimulatedService) => log.map(({ kind, path, status }) => `${kind} ${path} ${status}`)

describe('given a page of another origin', () => {
  const paths = ['/orders', '/token/', '/token/refresh/', '/oauth/token', '/oauth/revoke', '/oauth/login']

  it.each(paths)(
    'when its browser sends a preflight for %s, then that is allowed, and does not count as a request',
    async (path) => {
      const service = await startWorld()
      for (const kind of ['obtain', 'refresh', 'revoke', 'login', 'resource'] as const)
        service.failNext(kind, { status: 503 })
      const response = await fetch(service.baseUrl + path, {
        method: 'OPTIONS',
        headers: {
          Origin: ORIGIN,
          'Access-Control-Request-Method': 'PATCH',
          'Access-Control-Request-Headers': 'authorization,idempotency-key',
        },
      })
      expect(response.status).toBe(204)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'PATCH',
        'access-control-allow-headers': 'authorization,idempotency-key',
      })
      expect(service.log).toEqual([])
    },
  )

  it('when OPTIONS is not a preflight, then it is a request for a resource', async () => {
    const service = await startWorld()
    expect((await fetch(service.baseUrl, { method: 'OPTIONS' })).status).toBe(401)
    expect(service.count('resource')).toBe(1)
  })

  it('when there is a response, whatever its status, then the page may read it, and four of its headers', async () => {
    const service = await startWorld({ throttle: { calls: 1, windowMs: 60_000 } })
    const { access } = await newPair(service)
    service.failNext('resource', { status: 502 })
    const answers = [
      await callApi(service, access),
      await callApi(service, access),
      await callApi(service, 'unknown'),
      await post(service, '/token/', {}),
      await fetch(service.tokenEndpoint),
      await fetch(service.revocationEndpoint),
      await fetch(service.baseUrl, { method: 'POST', body: ' '.repeat(1_048_577) }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([502, 200, 401, 429, 429, 405, 413])
    for (const { headers } of answers)
      expect([headers.get('access-control-allow-origin'), headers.get('access-control-expose-headers')]).toEqual([
        '*',
        EXPOSED,
      ])
  })
})

describe('given a client without a secret', () => {
  it.each(['page', 'the client'])(
    'when it identifies as %s, then it may refresh the tokens of a login',
    async (name) => {
      const service = await startWorld({ accessLifetimeMs: 90_000 })
      const { refreshToken } = await service.logIn('ada')
      const id = name === 'page' ? name : service.client.clientId
      const { status, body } = await refresh(service, refreshToken, id)
      expect([status, body.expires_in]).toEqual([200, 90])
      expect((await callApi(service, String(body.access_token))).status).toBe(200)
      expect((await refresh(service, String(body.refresh_token), id)).status).toBe(200)
      expect((await refresh(service, refreshToken, id)).body.error).toBe('invalid_grant')
    },
  )

  it('when it requests more, then it is rejected: the client has a secret', async () => {
    const service = await startWorld()
    const { access, refresh: token } = await newPair(service)
    const asked = [
      await call(service.tokenEndpoint, { grant_type: 'client_credentials', client_id: service.client.clientId }),
      await refresh(service, token),
      await revoke(service, token),
      await revoke(service, access),
    ]
    expect(asked.map(({ status, body }) => [status, body.error])).toEqual(Array(4).fill([401, 'invalid_client']))
    expect((await callApi(service, access)).status).toBe(200)
  })

  it('when it has no name either, or a wrong secret, then it is rejected', async () => {
    const service = await startWorld()
    const { refreshToken } = await service.logIn()
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken }
    for (const more of [{}, { client_id: '' }, { client_id: service.client.clientId, client_secret: 'wrong' }])
      expect((await call(service.tokenEndpoint, { ...form, ...(more as object) })).body.error).toBe('invalid_client')
    expect((await refresh(service, refreshToken)).status).toBe(200)
  })
})

describe('given a login', () => {
  const claimsOf = (token: unknown) =>
    JSON.parse(Buffer.from(String(token).split('.')[1]!, 'base64url').toString()) as Record<string, unknown>

  it('when a subject is given, then the response has it, and so has the ID token as sub', async () => {
    const service = await startWorld({ accessLifetimeMs: 90_000, clockOffsetMs: 86_400_000 })
    const { answer, ...login } = await service.logIn('ada')
    expect(login).toEqual({
      accessToken: answer.access_token,
      accessLifetimeMs: 90_000,
      refreshToken: answer.refresh_token,
      refreshLifetimeMs: 6 * 3_600_000,
      subject: 'ada',
    })
    expect(answer).toMatchObject({ token_type: 'Bearer', expires_in: 90, refresh_expires_in: 6 * 3_600 })
    const { iat, exp, ...claims } = claimsOf(answer.id_token)
    expect(claims).toEqual({ iss: service.baseUrl, sub: 'ada', aud: 'page' })
    expect(Number(exp) - Number(iat)).toBeGreaterThanOrEqual(90)
    expect(Number(iat) - Date.now() / 1_000).toBeGreaterThan(86_000)
    expect(service.log).toEqual([])
  })

  it('when none is given, then the response names no user', async () => {
    const login = await (await startWorld()).logIn()
    expect(login).not.toHaveProperty('subject')
    expect(login.answer).not.toHaveProperty('id_token')
  })

  it.each([
    [{ subject: 'gråce@example.com' }, 'gråce@example.com'],
    [{ subject: '' }, undefined],
    [{}, undefined],
  ])('when a page posts %j to the login endpoint, then it gets the same response', async (form, subject) => {
    const service = await startWorld()
    const { status, body, headers } = await call(service.loginEndpoint, form)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body.id_token && claimsOf(body.id_token).sub).toBe(subject)
    expect((await callApi(service, String(body.access_token))).status).toBe(200)
    expect((await refresh(service, String(body.refresh_token))).status).toBe(200)
    expect(kinds(service)).toEqual(['login /oauth/login 200', 'resource /orders 200', 'refresh /oauth/token 200'])
  })

  it('when a GET is sent to the login endpoint, then the response says so', async () => {
    const response = await fetch((await startWorld()).loginEndpoint)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('when the next login is to fail, then it fails, and nothing else does', async () => {
    const service = await startWorld()
    service.failNext('login', { status: 503 })
    expect((await call(service.loginEndpoint, {})).status).toBe(503)
    expect((await call(service.loginEndpoint, {})).status).toBe(200)
    expect(service.count('login')).toBe(2)
  })
})

describe('given a logout', () => {
  it('when the refresh token is revoked, then all tokens of its login are, and no other login', async () => {
    const service = await startWorld()
    const other = await service.logIn()
    const first = await service.logIn()
    const { body: second } = await refresh(service, first.refreshToken)
    const { status, text } = await revoke(service, String(second.refresh_token), { token_type_hint: 'refresh_token' })
    expect([status, text]).toEqual([200, ''])
    for (const access of [first.accessToken, String(second.access_token)])
      expect((await callApi(service, access)).status).toBe(401)
    expect((await refresh(service, String(second.refresh_token))).body.error).toBe('invalid_grant')
    expect((await callApi(service, other.accessToken)).status).toBe(200)
    expect((await refresh(service, other.refreshToken)).status).toBe(200)
  })

  it('when a spent refresh token is revoked, then that ends its login too', async () => {
    const service = await startWorld()
    const { refreshToken } = await service.logIn()
    const { body } = await refresh(service, refreshToken)
    expect((await revoke(service, refreshToken)).status).toBe(200)
    expect((await refresh(service, String(body.refresh_token))).status).toBe(400)
  })

  it('when the access token is revoked, then only that one is', async () => {
    const service = await startWorld()
    const { accessToken, refreshToken } = await service.logIn()
    expect((await revoke(service, accessToken, { token_type_hint: 'refresh_token' })).status).toBe(200)
    expect((await callApi(service, accessToken)).status).toBe(401)
    expect((await refresh(service, refreshToken)).status).toBe(200)
  })

  it('when the token is unknown, then it counts as revoked (RFC 7009, section 2.2)', async () => {
    expect((await revoke(await startWorld(), 'unknown')).status).toBe(200)
  })

  it('when the client has a secret, then it may revoke its own tokens, and logins', async () => {
    const service = await startWorld()
    const { clientId, clientSecret } = service.client
    const headers = { Authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` }
    for (const token of [(await newPair(service)).refresh, (await service.logIn()).refreshToken])
      expect((await call(service.revocationEndpoint, { token }, { headers })).status).toBe(200)
    expect(service.log.slice(-2)).toMatchObject(Array(2).fill({ kind: 'revoke', path: '/oauth/revoke', status: 200 }))
    await expect(service.stealRefreshToken()).rejects.toThrow('No refresh token to steal')
  })

  it.each([
    [{}, 400, 'invalid_request'],
    [{ token: 'any', client_id: '' }, 401, 'invalid_client'],
  ])('when the request is %j, then the response is %d %s', async (form, status, error) => {
    const { revocationEndpoint } = await startWorld()
    const answered = await call(revocationEndpoint, { client_id: 'page', ...form })
    expect([answered.status, answered.body.error]).toEqual([status, error])
  })

  it.each([
    ['a 503', { status: 503 }, 503],
    ['a drop', { drop: 'after' }, 0],
  ] as const)('when it meets %s, then that is in the log', async (_, fault, status) => {
    const service = await startWorld({ throttle: { calls: 1, windowMs: 60_000 } })
    const { refreshToken } = await service.logIn()
    service.failNext('revoke', fault)
    await revoke(service, refreshToken).catch(() => undefined)
    expect((await revoke(service, refreshToken)).status).toBe(200)
    expect(service.log.map((served) => [served.kind, served.status])).toEqual([
      ['revoke', status],
      ['revoke', 200],
    ])
  })
})
