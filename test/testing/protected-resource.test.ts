import { describe, expect, it } from '@jest/globals'
import { callApi, newPair, obtainAsClient, obtainAsLogin, refresh, standAt, startWorld } from './world.ts'

describe('given a valid access token', () => {
  it('when a request carries it, then the request is echoed without it', async () => {
    const service = await startWorld()
    const { access } = await newPair(service)
    const response = await fetch(`${service.baseUrl}/orders/7?page=2`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${access}`, 'Idempotency-Key': 'k1', 'Content-Type': 'text/plain' },
      body: 'größe',
    })
    const text = await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(text).not.toContain(access)
    const echo = JSON.parse(text) as { headers: object }
    expect(echo).toMatchObject({ method: 'PUT', path: '/orders/7?page=2', body: 'größe' })
    expect(echo.headers).toMatchObject({ 'idempotency-key': 'k1', 'content-type': 'text/plain' })
    expect(echo.headers).not.toHaveProperty('authorization')
  })

  it('when it comes from Variant A, or from a refresh, then it is valid too', async () => {
    const service = await startWorld()
    const { data } = (await (await obtainAsClient(service)).json()) as { data: { attributes: { access: string } } }
    const { refresh: token } = await newPair(service)
    const next = (await (await refresh(service, token)).json()) as { attributes: { access: string } }
    expect((await callApi(service, data.attributes.access)).status).toBe(200)
    expect((await callApi(service, next.attributes.access)).status).toBe(200)
  })

  it('when newer tokens were obtained and refreshed, then it is still valid', async () => {
    const service = await startWorld()
    const { access, refresh: token } = await newPair(service)
    await refresh(service, token)
    await newPair(service)
    expect((await callApi(service, access)).status).toBe(200)
  })

  it('when its lifetime has passed by the clock of the service, then it is rejected', async () => {
    const service = await startWorld({ accessLifetimeMs: 2000, clockOffsetMs: 3_600_000 })
    standAt(1_000_000)
    const { access } = await newPair(service)
    standAt(1_001_999)
    expect((await callApi(service, access)).status).toBe(200)
    standAt(1_002_000)
    expect((await callApi(service, access)).status).toBe(401)
  })

  it('when access tokens are revoked, then it is rejected, and its refresh token and later tokens are valid', async () => {
    const service = await startWorld()
    const { access, refresh: token } = await newPair(service)
    service.revokeAccessTokens()
    expect((await callApi(service, access)).status).toBe(401)
    const next = (await (await refresh(service, token)).json()) as { attributes: { access: string } }
    expect((await callApi(service, next.attributes.access)).status).toBe(200)
  })
})

describe('given no valid access token', () => {
  it.each([
    ['no header', undefined, 'Bearer'],
    ['another scheme', 'Basic YTpi', 'Bearer'],
    ['no token', 'Bearer', 'Bearer'],
    ['an unknown token', 'Bearer unknown', 'Bearer error="invalid_token"'],
  ])('when a request has %s, then it is rejected with 401 by the clock of the service', async (_, value, challenge) => {
    const service = await startWorld({ clockOffsetMs: 86_400_000 })
    standAt(Date.parse('2020-12-29T05:42:11.925Z'))
    const response = await fetch(`${service.baseUrl}/orders`, { headers: value ? { Authorization: value } : {} })
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe(challenge)
    expect(response.headers.get('date')).toBe('Wed, 30 Dec 2020 05:42:11 GMT')
    expect(await response.json()).toEqual({
      errors: [{ status: '401', detail: 'A valid access token is required.' }],
    })
  })

  it.each(['/', '/tokens', '/token/refresh/now', '//token/', '/v1/token/'])(
    'when %s is posted to, then it is a resource, not the token endpoint',
    async (path) => {
      const service = await startWorld()
      expect((await fetch(service.baseUrl + path, { method: 'POST' })).status).toBe(401)
      expect(service.count('resource')).toBe(1)
    },
  )

  it.each([
    ['Bearer', 200],
    ['bearer', 200],
    ['Basic', 401],
  ])('when a valid one has the scheme %s, then the status is %d', async (scheme, status) => {
    const service = await startWorld()
    const headers = { Authorization: `${scheme} ${(await newPair(service)).access}` }
    expect((await fetch(service.baseUrl, { headers })).status).toBe(status)
  })

  it('when a refresh token is presented as an access token, then it is rejected', async () => {
    const service = await startWorld()
    expect((await callApi(service, (await newPair(service)).refresh)).status).toBe(401)
  })
})

describe('given requests of every kind', () => {
  it('when they have a response, then the log lists them, oldest first', async () => {
    const service = await startWorld({ clockOffsetMs: 5000 })
    standAt(1_000_000)
    const pair = await newPair(service)
    await obtainAsLogin(service)
    standAt(1_000_001)
    await refresh(service, pair.refresh)
    standAt(1_000_002)
    await callApi(service, pair.access, '/orders?page=2')
    expect(service.log).toEqual([
      { at: 1_000_000, kind: 'obtain', method: 'POST', path: '/token/', status: 200 },
      { at: 1_000_000, kind: 'obtain', method: 'POST', path: '/token/', status: 200 },
      { at: 1_000_001, kind: 'refresh', method: 'POST', path: '/token/refresh/', status: 200 },
      { at: 1_000_002, kind: 'resource', method: 'GET', path: '/orders?page=2', status: 200 },
    ])
    expect([service.count('obtain'), service.count('refresh'), service.count('resource')]).toEqual([2, 1, 1])
  })
})
