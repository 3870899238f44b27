import { createHmac } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import type { ObtainDocument, TokenObject } from './world.ts'
import {
  jsonApi,
  newPair,
  obtainAsClient,
  obtainAsLogin,
  post,
  refresh,
  standAt,
  startWorld,
  verdict,
} from './world.ts'

const now = Date.parse('2020-12-29T05:42:11.925Z')

describe('given the credentials of Variant A', () => {
  it.each(['/token/', '/token', '/token/?v=1'])(
    'when they are posted to %s, then the response has an access token',
    async (path) => {
      const service = await startWorld()
      const { clientId: client_id, clientSecret: client_secret } = service.client
      const response = await post(service, path, { client_id, client_secret })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/vnd.api+json')
      expect(await response.json()).toEqual({
        data: {
          type: 'auth-token',
          id: expect.stringMatching(/./),
          attributes: { access: expect.stringMatching(/./), expires_in: 60, token_type: 'Bearer' },
        },
      })
    },
  )

  it.each([
    { accessLifetimeMs: 500, seconds: 0.5 },
    { accessLifetimeMs: 1500, seconds: 1.5 },
    { accessLifetimeMs: 3_599_000, seconds: 3599 },
  ])('when tokens live $accessLifetimeMs ms, then expires_in is $seconds', async ({ accessLifetimeMs, seconds }) => {
    const service = await startWorld({ accessLifetimeMs })
    const body = await (await obtainAsClient(service)).json()
    expect(body).toMatchObject({ data: { attributes: { expires_in: seconds } } })
  })
})

describe('given the credentials of Variant B', () => {
  it('when they are posted, then the response has a token set whose instants count from its request', async () => {
    const service = await startWorld({ clockOffsetMs: 86_400_000 })
    standAt(now)
    const response = await obtainAsLogin(service)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/vnd.api+json')
    expect(response.headers.get('date')).toBe('Wed, 30 Dec 2020 05:42:11 GMT')
    expect(await response.json()).toEqual({
      data: {
        type: 'auth-token',
        id: expect.stringMatching(/./),
        attributes: {
          access: expect.stringMatching(/./),
          refresh: expect.stringMatching(/./),
          access_expired_at: '2020-12-30T05:43:11.925000Z',
          refresh_expired_at: '2020-12-30T11:42:11.925000Z',
          is_2fa_confirmed: false,
        },
      },
      meta: { time: '2020-12-30T05:42:11.925000Z', sign: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
  })

  it('when there is a token set, then meta.sign is the tag of meta.time and refresh under login and password', async () => {
    const service = await startWorld()
    const { data, meta } = (await (await obtainAsLogin(service)).json()) as ObtainDocument
    const tag = createHmac('sha256', Buffer.from(`${service.login.login}${service.login.password}`, 'utf8'))
    tag.update(Buffer.from(meta.time + data.attributes.refresh, 'utf8'))
    expect(meta.sign).toBe(tag.digest().toString('hex'))
  })

  it('when two token sets are obtained in one millisecond, then their times differ and each counts from its own', async () => {
    const service = await startWorld()
    standAt(now)
    const [first, second] = [await obtainAsLogin(service), await obtainAsLogin(service)]
    expect(await first.json()).toMatchObject({ meta: { time: '2020-12-29T05:42:11.925000Z' } })
    expect(await second.json()).toMatchObject({
      meta: { time: '2020-12-29T05:42:11.925001Z' },
      data: { attributes: { access_expired_at: '2020-12-29T05:43:11.925001Z' } },
    })
  })

  it.each([
    { accessLifetimeMs: 0.25, text: '2020-12-29T05:42:11.925250Z' },
    { accessLifetimeMs: 0.9996, text: '2020-12-29T05:42:11.925999Z' },
  ])('when tokens live $accessLifetimeMs ms, then they expire at $text', async ({ accessLifetimeMs, text }) => {
    const service = await startWorld({ accessLifetimeMs })
    standAt(now)
    expect((await newPair(service)).access_expired_at).toBe(text)
  })
})

describe('given a refresh token', () => {
  it.each(['/token/refresh/', '/token/refresh'])(
    'when posted to %s, then the response is the bare next token set',
    async (path) => {
      const service = await startWorld()
      const first = await newPair(service)
      const response = await post(service, path, { refresh: first.refresh })
      const second = (await response.json()) as TokenObject
      expect(response.status).toBe(200)
      expect(Object.keys(second).sort()).toEqual(['attributes', 'id', 'type'])
      expect(second.type).toBe('auth-token')
      expect(Object.keys(second.attributes).sort()).toEqual(Object.keys(first).sort())
      expect(second.attributes.refresh).not.toBe(first.refresh)
      expect(second.attributes.access).not.toBe(first.access)
    },
  )

  it('when it is used twice, then the second use is rejected with 2007 and its successor is valid', async () => {
    const service = await startWorld()
    const { refresh: token } = await newPair(service)
    const { attributes: next } = (await (await refresh(service, token)).json()) as TokenObject
    expect(await verdict(await refresh(service, token))).toEqual([401, '2007'])
    expect((await refresh(service, next.refresh)).status).toBe(200)
  })

  it('when two requests use it at once, then exactly one gets the next token set', async () => {
    const service = await startWorld()
    const { refresh: token } = await newPair(service)
    const answers = await Promise.all([refresh(service, token), refresh(service, token)])
    expect(answers.map((response) => response.status).sort()).toEqual([200, 401])
  })

  it('when it has expired by the clock of the service, then it is rejected with 2007', async () => {
    const service = await startWorld({ refreshLifetimeMs: 1000, clockOffsetMs: -5000 })
    standAt(now)
    const [one, two] = [await newPair(service), await newPair(service)]
    standAt(now + 999)
    expect((await refresh(service, one.refresh)).status).toBe(200)
    standAt(now + 1001)
    expect(await verdict(await refresh(service, two.refresh))).toEqual([401, '2007'])
  })

  it('when it is stolen, then it is rejected with 2007 and the log does not show the theft', async () => {
    const service = await startWorld()
    const [bystander, victim] = [await newPair(service), await newPair(service)]
    await service.stealRefreshToken()
    expect(await verdict(await refresh(service, victim.refresh))).toEqual([401, '2007'])
    expect((await refresh(service, bystander.refresh)).status).toBe(200)
    expect(service.log.map((served) => served.status)).toEqual([200, 200, 401, 200])
  })

  it('when there is none to steal, then the thief gets an error', async () => {
    const service = await startWorld()
    await expect(service.stealRefreshToken()).rejects.toThrow('No refresh token to steal')
  })
})

describe('given a request that is not as specified', () => {
  it('when credentials are wrong, then it is rejected with 400 and 2006', async () => {
    const service = await startWorld()
    const { client, login } = service
    const wrong = [
      { client_id: client.clientId, client_secret: 'wrong' },
      { client_id: 'wrong', client_secret: client.clientSecret },
      { login: login.login, password: 'wrong' },
      { login: 'wrong', password: login.password },
    ]
    for (const attributes of wrong)
      expect(await verdict(await post(service, '/token/', attributes))).toEqual([400, '2006'])
    expect(await verdict(await refresh(service, 'unknown'))).toEqual([401, '2007'])
  })

  it('when it is rejected, then the body is a JSON:API error', async () => {
    const service = await startWorld()
    const response = await post(service, '/token/', { login: 'wrong', password: 'wrong' })
    expect(response.headers.get('content-type')).toBe('application/vnd.api+json')
    expect(await response.json()).toEqual({
      errors: [{ status: '400', code: '2006', detail: 'No active account found with the given credentials.' }],
    })
  })

  it.each([
    ['not JSON', '{'],
    ['nothing', ''],
    ['null', 'null'],
    ['text', '"data"'],
    ['no data', '{}'],
    ['no attributes', '{"data":{"type":"auth-token"}}'],
    ['null attributes', '{"data":{"type":"auth-token","attributes":null}}'],
    ['no credentials', '{"data":{"type":"auth-token","attributes":{}}}'],
    ['half of Variant A', '{"data":{"type":"auth-token","attributes":{"client_id":"a"}}}'],
    ['half of Variant B', '{"data":{"type":"auth-token","attributes":{"login":"a"}}}'],
    ['no strings', '{"data":{"type":"auth-token","attributes":{"login":1,"password":2,"refresh":3}}}'],
    ['another type', '{"data":{"type":"token","attributes":{"login":"a","password":"b","refresh":"c"}}}'],
  ])('when its body is %s, then it is rejected with 400 and no application code', async (_, body) => {
    const service = await startWorld()
    for (const path of ['/token/', '/token/refresh/']) {
      const response = await fetch(service.baseUrl + path, { method: 'POST', headers: jsonApi, body })
      expect(await verdict(response)).toEqual([400, undefined])
    }
  })

  it.each(['/token/', '/token/refresh/'])('when it is a GET of %s, then 405 names the allowed method', async (path) => {
    const response = await fetch((await startWorld()).baseUrl + path)
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST')
  })

  it.each([
    ['application/json', 415],
    ['text/plain', 415],
    ['', 415],
    ['application/vnd.api+json', 200],
    ['Application/Vnd.Api+JSON; charset=utf-8', 200],
  ])('when its Content-Type is "%s", then the status is %d', async (type, status) => {
    const service = await startWorld()
    const body = Buffer.from(JSON.stringify({ data: { type: 'auth-token', attributes: service.login } }))
    const headers: Record<string, string> = type ? { 'Content-Type': type } : {}
    const response = await fetch(`${service.baseUrl}/token/`, { method: 'POST', headers, body })
    expect(response.status).toBe(status)
  })

  it.each([
    [1_048_576, 400],
    [1_048_577, 413],
    [5_000_000, 413],
  ])('when its body has %d bytes, then the status is %d', async (size, status) => {
    const service = await startWorld()
    const response = await fetch(`${service.baseUrl}/token/`, {
      method: 'POST',
      headers: jsonApi,
      body: ' '.repeat(size),
    })
    expect(response.status).toBe(status)
    expect(service.log.map((served) => served.status)).toEqual([status])
    expect((await obtainAsLogin(service)).status).toBe(200)
  })
})
