import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import { corrupted } from '../../tools/testing/fault-queue.ts'
import type { SimulatedFault } from '../../tools/testing/index.ts'
import type { ObtainDocument } from './world.ts'
import { callApi, newPair, obtainAsClient, obtainAsLogin, refresh, startWorld, until, verdict } from './world.ts'

describe('given a status fault', () => {
  it('when a request meets it, then the response has that status, the service does not act, and the next request succeeds', async () => {
    const service = await startWorld()
    const { refresh: token } = await newPair(service)
    service.failNext('refresh', {
      status: 503,
      headers: { 'Retry-After': '7', 'content-type': 'text/plain' },
      body: 'no',
    })
    const response = await refresh(service, token)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('7')
    expect(response.headers.get('content-type')).toBe('text/plain')
    expect(Date.parse(response.headers.get('date')!)).not.toBeNaN()
    expect(await response.text()).toBe('no')
    expect((await refresh(service, token)).status).toBe(200)
    expect(service.log.map((served) => served.status)).toEqual([200, 503, 200])
  })

  it.each([
    ['obtain', 400, '2006'],
    ['obtain', 429, 'throttled'],
    ['obtain', 500, undefined],
    ['obtain', 401, undefined],
  ] as const)('when it has no body and %s meets %d, then the application code is %s', async (kind, status, code) => {
    const service = await startWorld()
    service.failNext(kind, { status })
    const response = await obtainAsLogin(service)
    expect(response.headers.get('content-type')).toBe('application/vnd.api+json')
    expect(await verdict(response)).toEqual([status, code])
  })

  it('when it has no body and a refresh meets 401, then the application code is 2007', async () => {
    const service = await startWorld()
    service.failNext('refresh', { status: 401 })
    expect(await verdict(await refresh(service, 'any'))).toEqual([401, '2007'])
  })

  it('when it is a redirect without a body, then none is sent', async () => {
    const service = await startWorld()
    service.failNext('resource', { status: 307, headers: { Location: '/elsewhere' } })
    const response = await fetch(service.baseUrl, { redirect: 'manual' })
    expect([response.status, await response.text()]).toEqual([307, ''])
  })
})

describe('given queued faults', () => {
  it('when requests arrive, then each kind meets its own faults, in the given order and number', async () => {
    const service = await startWorld()
    const fault: SimulatedFault = { status: 500 }
    service.failNext('obtain', fault, 2)
    service.failNext('obtain', { status: 502 })
    service.failNext('resource', { status: 504 })
    fault.status = 501
    const { status } = await callApi(service, 'none')
    const obtains = []
    for (let n = 0; n < 4; n += 1) obtains.push((await obtainAsLogin(service)).status)
    expect([status, ...obtains]).toEqual([504, 500, 500, 502, 200])
  })

  it('when a request exceeds the size limit, then it meets none of them', async () => {
    const service = await startWorld()
    service.failNext('resource', { status: 500 })
    const large = await fetch(service.baseUrl, { method: 'POST', body: ' '.repeat(1_048_577) })
    expect([large.status, (await fetch(service.baseUrl)).status]).toEqual([413, 500])
  })
})

describe('given a dropped connection', () => {
  it.each([
    { drop: 'before', status: 200 },
    { drop: 'after', status: 401 },
  ] as const)('when it breaks $drop the service acts, then the same refresh token gets status $status', async (row) => {
    const service = await startWorld()
    const { refresh: token } = await newPair(service)
    service.failNext('refresh', { drop: row.drop })
    await expect(refresh(service, token)).rejects.toMatchObject({ message: 'fetch failed' })
    expect(service.log.at(-1)).toMatchObject({ kind: 'refresh', status: 0 })
    expect((await refresh(service, token)).status).toBe(row.status)
  })

  it('when it breaks after an obtain, then the token set that no client received can be stolen', async () => {
    const service = await startWorld()
    service.failNext('obtain', { drop: 'after' })
    await expect(obtainAsLogin(service)).rejects.toMatchObject({ message: 'fetch failed' })
    await service.stealRefreshToken()
  })

  it.each(['before', 'after'] as const)('when a resource is dropped %s, then there is no response', async (drop) => {
    const service = await startWorld()
    service.failNext('resource', { drop })
    await expect(fetch(service.baseUrl)).rejects.toMatchObject({ message: 'fetch failed' })
    expect(service.log).toMatchObject([{ kind: 'resource', status: 0 }])
  })
})

describe('given a hanging request', () => {
  it('when other requests arrive, then they are processed, and the hanging one is logged without having acted', async () => {
    const service = await startWorld()
    const { refresh: token } = await newPair(service)
    service.failNext('refresh', { hang: true })
    const settled: string[] = []
    const hanging = refresh(service, token).catch(() => settled.push('hanging'))
    await until(() => service.count('refresh') === 1)
    expect((await refresh(service, token)).status).toBe(200)
    expect(settled).toEqual([])
    expect(service.log.map((served) => served.status)).toEqual([200, 0, 200])
    await service.close()
    await hanging
    expect(settled).toEqual(['hanging'])
  })
})

describe('given a corrupt response', () => {
  const obtain = async (corrupt: 'signature' | 'type' | 'json') => {
    const service = await startWorld()
    service.failNext('obtain', { corrupt })
    return { service, response: await obtainAsLogin(service) }
  }

  it('when it is the signature, then only the tag is wrong, and the token set is valid', async () => {
    const { service, response } = await obtain('signature')
    const { data, meta } = (await response.json()) as ObtainDocument
    const key = service.login.login + service.login.password
    const tag = createHmac('sha256', key)
      .update(meta.time + data.attributes.refresh)
      .digest('hex')
    expect(meta.sign).toMatch(/^[0-9a-f]{64}$/)
    expect(meta.sign).not.toBe(tag)
    expect(meta.sign.slice(1)).toBe(tag.slice(1))
    expect((await callApi(service, data.attributes.access)).status).toBe(200)
  })

  it.each(['0', '1', 'f'])('when the tag begins with %s, then it changes', (digit) => {
    const body = JSON.stringify({ meta: { sign: `${digit}ab` } })
    expect(corrupted('obtain', body, 'signature')).toMatch(/^\{"meta":\{"sign":"[0-9a-f]ab"\}\}$/)
    expect(corrupted('obtain', body, 'signature')).not.toBe(body)
  })

  it('when it is the type, then only that is wrong', async () => {
    const { service, response } = await obtain('type')
    const { data } = (await response.json()) as ObtainDocument
    expect(data.type).toBe('auth-ticket')
    service.failNext('refresh', { corrupt: 'type' })
    expect(await (await refresh(service, data.attributes.refresh)).json()).toMatchObject({ type: 'auth-ticket' })
  })

  it('when it is the JSON, then the body is not JSON, and the service has acted', async () => {
    const { service, response } = await obtain('json')
    expect(response.status).toBe(200)
    await expect(response.json()).rejects.toMatchObject({ name: 'SyntaxError' })
    await service.stealRefreshToken()
  })

  it('when it is truncated, then half of the announced bytes arrive, and the service has acted', async () => {
    const service = await startWorld()
    const { refresh: token } = await newPair(service)
    service.failNext('refresh', { corrupt: 'truncate' })
    const response = await refresh(service, token)
    let received = 0
    const read = async () => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) received += chunk.length
    }
    await expect(read()).rejects.toMatchObject({ message: 'terminated' })
    expect(received).toBe(Math.floor(Number(response.headers.get('content-length')) / 2))
    expect(received).toBeGreaterThan(100)
    expect((await refresh(service, token)).status).toBe(401)
    expect(service.log.map((served) => served.status)).toEqual([200, 200, 401])
  })

  it('when the member is not in the response, then the response is unchanged', async () => {
    const service = await startWorld()
    const pair = await newPair(service)
    for (const kind of ['obtain', 'refresh', 'resource'] as const) service.failNext(kind, { corrupt: 'signature' })
    expect((await obtainAsClient(service)).status).toBe(200)
    expect(await (await refresh(service, pair.refresh)).json()).toMatchObject({ type: 'auth-token' })
    expect(await (await callApi(service, pair.access)).json()).toMatchObject({ method: 'GET' })
    service.failNext('obtain', { corrupt: 'type' })
    service.failNext('obtain', { corrupt: 'type' })
    expect(await (await obtainAsClient(service)).json()).toMatchObject({ data: { type: 'auth-ticket' } })
  })

  it('when a resource has no JSON or is truncated, then its response is damaged too', async () => {
    const service = await startWorld()
    const { access } = await newPair(service)
    service.failNext('resource', { corrupt: 'json' })
    service.failNext('resource', { corrupt: 'truncate' })
    await expect((await callApi(service, access)).json()).rejects.toMatchObject({ name: 'SyntaxError' })
    await expect((await callApi(service, access)).text()).rejects.toMatchObject({ message: 'terminated' })
  })

  it('when a resource echoes a header that looks like a tag, then it is echoed unchanged', async () => {
    const service = await startWorld()
    const { access } = await newPair(service)
    service.failNext('resource', { corrupt: 'signature' })
    const headers = { Authorization: `Bearer ${access}`, sign: 'abc' }
    expect(await (await fetch(service.baseUrl, { headers })).json()).toMatchObject({ headers: { sign: 'abc' } })
  })

  it('when the response to a HEAD is truncated, then the connection ends anyway', async () => {
    const service = await startWorld()
    service.failNext('resource', { corrupt: 'truncate' })
    const closed = new Promise((resolve) => {
      const head = request(service.baseUrl, { method: 'HEAD' })
      head.on('response', (response) => response.resume())
      head.on('error', resolve).on('close', resolve)
      head.end()
    })
    await closed
    expect(service.count('resource')).toBe(1)
  })
})

describe('given an invalid fault', () => {
  it.each<[string, string, unknown, number, string]>([
    ['TypeError', 'token', { status: 500 }, 1, 'kind must be obtain, refresh, revoke, login or resource, got token'],
    ['TypeError', 'toString', { status: 500 }, 1, 'got toString'],
    [
      'TypeError',
      'obtain',
      {},
      1,
      "fault must be { status }, { drop: 'before' | 'after' }, { hang: true } or { corrupt: 'signature' | 'type' | 'json' | 'truncate' }, got {}",
    ],
    ['TypeError', 'obtain', null, 1, 'got null'],
    ['TypeError', 'obtain', { drop: 'never' }, 1, 'got {"drop":"never"}'],
    ['TypeError', 'obtain', { hang: false }, 1, 'got {"hang":false}'],
    ['TypeError', 'obtain', { corrupt: 'all' }, 1, 'got {"corrupt":"all"}'],
    ['TypeError', 'obtain', { status: '500' }, 1, 'fault.status must be a number, got 500'],
    ['RangeError', 'obtain', { status: 199 }, 1, 'fault.status must be a whole number from 200 to 599, got 199'],
    ['RangeError', 'obtain', { status: 600 }, 1, 'got 600'],
    ['TypeError', 'obtain', { status: 500, headers: { 'a b': 'c' } }, 1, 'a b'],
    ['TypeError', 'obtain', { status: 500, headers: { a: 'c\nd' } }, 1, '"a"'],
    ['RangeError', 'obtain', { status: 500 }, 0, 'times must be a whole number from 1'],
    ['RangeError', 'obtain', { status: 500 }, 1.5, 'got 1.5'],
  ])('when it is given, then a %s is thrown: %s %p %d "%s"', async (name, kind, fault, times, message) => {
    const service = await startWorld()
    const failNext = () => service.failNext(kind as 'obtain', fault as SimulatedFault, times)
    expect(failNext).toThrow(expect.objectContaining({ name, message: expect.stringContaining(message) }))
    expect((await obtainAsLogin(service)).status).toBe(200)
  })
})
