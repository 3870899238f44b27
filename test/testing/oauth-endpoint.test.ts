import { describe, expect, it } from '@jest/globals'
import type { SimulatedService } from '../../tools/testing/index.ts'
import { callApi, newPair, refresh as refreshVariantB, standAt, startWorld } from './world.ts'

interface Answered {
  status: number
  headers: Headers
  body: Record<string, string>
}

const basic = (id: string, secret: string) => ({ Authorization: `Basic ${btoa(`${id}:${secret}`)}` })

async function call(
  { tokenEndpoint }: SimulatedService,
  form: Record<string, string>,
  init: RequestInit = {},
): Promise<Answered> {
  const response = await fetch(tokenEndpoint, { method: 'POST', body: new URLSearchParams(form), ...init })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answered['body'] }
}

const asClient = (service: SimulatedService, form: Record<string, string>) =>
  call(service, form, { headers: basic(service.client.clientId, service.client.clientSecret) })
const obtain = (service: SimulatedService) => asClient(service, { grant_type: 'client_credentials' })
const refresh = (service: SimulatedService, token: string) =>
  asClient(service, { grant_type: 'refresh_token', refresh_token: token })
const kinds = ({ log }: SimulatedService) => log.map(({ kind, status }) => `${kind} ${status}`)

describe('given the client at the OAuth 2.0 endpoint', () => {
  it('when it presents its credentials by basic, then it gets an access token that the API accepts', async () => {
    const service = await startWorld({ accessLifetimeMs: 90_000 })
    const { status, headers, body } = await obtain(service)
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'application/json',
      'no-store',
    ])
    expect(body).toEqual({
      access_token: expect.stringMatching(/./),
      token_type: 'Bearer',
      expires_in: 90,
      refresh_token: expect.stringMatching(/./),
    })
    expect((await callApi(service, body.access_token!)).status).toBe(200)
    expect(kinds(service)).toEqual(['obtain 200', 'resource 200'])
  })

  it('when they are in the body, then they are accepted too', async () => {
    const service = await startWorld()
    const { clientId: client_id, clientSecret: client_secret } = service.client
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    expect((await call(service, form)).status).toBe(200)
    const { status, body } = await call(service, form, { headers: basic(client_id, client_secret) })
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })

  it('when basic is form-encoded, then it is decoded', async () => {
    const service = await startWorld()
    const { clientId, clientSecret } = service.client
    const headers = basic(clientId.replace('-', '%2D'), clientSecret)
    expect((await call(service, { grant_type: 'client_credentials' }, { headers })).status).toBe(200)
  })

  it.each([
    ['a wrong secret', (service: SimulatedService) => ({ headers: basic(service.client.clientId, 'wrong') })],
    ['another client', (service: SimulatedService) => ({ headers: basic('other', service.client.clientSecret) })],
    ['no client', () => ({})],
    ['another scheme', () => ({ headers: { Authorization: 'Bearer abc' } })],
  ])('when it presents %s, then it is rejected', async (_, init) => {
    const service = await startWorld()
    const { status, headers, body } = await call(service, { grant_type: 'client_credentials' }, init(service))
    expect([status, body.error]).toEqual([401, 'invalid_client'])
    expect(headers.get('www-authenticate')).toBe('Basic realm="token"')
  })

  it.each([
    [{}, 'invalid_request'],
    [{ grant_type: 'refresh_token' }, 'invalid_request'],
    [{ grant_type: 'refresh_token', refresh_token: 'unknown' }, 'invalid_grant'],
    [{ grant_type: 'password' }, 'unsupported_grant_type'],
  ])('when it sends %j, then the error is %s', async (form, error) => {
    const { status, body } = await asClient(await startWorld(), form)
    expect([status, body.error]).toEqual([400, error])
  })

  it('when the method or media type is wrong, then the response says so', async () => {
    const service = await startWorld()
    const put = await fetch(service.tokenEndpoint, { method: 'PUT', body: new URLSearchParams() })
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'POST'])
    const json = await fetch(service.tokenEndpoint, { method: 'POST', body: '{}' })
    expect([json.status, await json.json()]).toMatchObject([400, { error: 'invalid_request' }])
  })
})

describe('given a token set', () => {
  it('when it is refreshed, then the response has the next token set, and the old refresh token is spent', async () => {
    const service = await startWorld()
    const first = await service.logIn()
    expect(first).toMatchObject({ accessLifetimeMs: 60_000, refreshLifetimeMs: 6 * 3_600_000 })
    expect((await callApi(service, first.accessToken)).status).toBe(200)
    const second = await refresh(service, first.refreshToken)
    expect(second.status).toBe(200)
    expect((await refresh(service, second.body.refresh_token!)).status).toBe(200)
    expect(kinds(service)).toEqual(['resource 200', 'refresh 200', 'refresh 200'])
  })

  it('when a spent refresh token is presented, then all tokens of its login are revoked, and no others', async () => {
    const service = await startWorld()
    const other = await service.logIn()
    const first = await service.logIn()
    const { body: second } = await refresh(service, first.refreshToken)
    const { status, body } = await refresh(service, first.refreshToken)
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    expect((await refresh(service, second.refresh_token!)).status).toBe(400)
    for (const token of [first.accessToken, second.access_token!])
      expect((await callApi(service, token)).status).toBe(401)
    expect((await callApi(service, other.accessToken)).status).toBe(200)
    expect((await refresh(service, other.refreshToken)).status).toBe(200)
  })

  it('when its refresh token was stolen, then the owner is rejected', async () => {
    const service = await startWorld()
    const { refreshToken } = await service.logIn()
    await service.stealRefreshToken()
    expect((await refresh(service, refreshToken)).body.error).toBe('invalid_grant')
    await expect(service.stealRefreshToken()).rejects.toThrow('No refresh token to steal')
  })

  it('when it has expired, then it is rejected, and nothing is revoked', async () => {
    const service = await startWorld({ refreshLifetimeMs: 1_000, accessLifetimeMs: 60_000 })
    standAt(1_000_000)
    const { refreshToken, accessToken } = await service.logIn()
    standAt(1_001_000)
    expect((await refresh(service, refreshToken)).body.error).toBe('invalid_grant')
    expect((await callApi(service, accessToken)).status).toBe(200)
  })

  it('when it comes from Variant B, then it belongs to the same service', async () => {
    const service = await startWorld()
    const pair = await newPair(service)
    const { body } = await refresh(service, pair.refresh)
    expect((await refreshVariantB(service, body.refresh_token!)).status).toBe(200)
  })
})

describe('given faults at the OAuth 2.0 endpoint', () => {
  it('when both endpoints are called, then they share one throttle', async () => {
    const service = await startWorld({ throttle: { calls: 2, windowMs: 60_000 } })
    await newPair(service)
    await obtain(service)
    const { status, headers, body } = await obtain(service)
    expect([status, body.error]).toEqual([429, 'temporarily_unavailable'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(50)
  })

  it.each([
    ['obtain', 400, 'invalid_request'],
    ['refresh', 400, 'invalid_grant'],
    ['refresh', 401, 'invalid_client'],
    ['refresh', 403, 'invalid_request'],
    ['obtain', 429, 'temporarily_unavailable'],
    ['obtain', 503, 'server_error'],
  ] as const)('when the next %s is to fail with %i, then the error is %s', async (kind, status, error) => {
    const service = await startWorld()
    service.failNext(kind, { status, headers: { 'Retry-After': '7' } })
    const answered = kind === 'obtain' ? await obtain(service) : await refresh(service, 'any')
    expect([answered.status, answered.body.error]).toEqual([status, error])
    expect(answered.headers.get('retry-after')).toBe('7')
    expect(kinds(service)).toEqual([`${kind} ${status}`])
  })

  it('when a body is given for the fault, then it is sent', async () => {
    const service = await startWorld()
    service.failNext('obtain', { status: 200, body: '{"error":"bad"}' })
    expect((await obtain(service)).body).toEqual({ error: 'bad' })
  })

  it('when the response is dropped, then the refresh token is spent anyway', async () => {
    const service = await startWorld()
    const { refreshToken } = await service.logIn()
    service.failNext('refresh', { drop: 'after' })
    await expect(refresh(service, refreshToken)).rejects.toThrow()
    expect((await refresh(service, refreshToken)).body.error).toBe('invalid_grant')
  })

  it('when the body is far too large, then it is rejected', async () => {
    const service = await startWorld()
    const { status } = await asClient(service, { grant_type: 'x'.repeat(1_100_000) })
    expect(status).toBe(413)
  })
})
