import { describe, expect, it, jest } from '@jest/globals'
import axios, { type AxiosAdapter, type AxiosError } from 'axios'
import { attachBearer, clientCredentials, TokenError, createTokenManager } from '../../src/index.ts'
import { startTokenService } from '../../tools/testing/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'
import { rejection, rejecting, startApi } from './support/api-server.ts'
import { inProcess } from './support/in-process.ts'
import { managerOf, startTokens } from './support/tokens.ts'
import { failureOf, gate, until } from './support/turns.ts'

const ADAPTERS = ['http', 'fetch'] as const

describe('given an adapter of another library that returns the status as text', () => {
  const asText = (answers: string[]) => {
    const sent: unknown[] = []
    const adapter: AxiosAdapter = (config) => {
      sent.push(config.headers.get('authorization'))
      const status = answers.shift() as never
      return Promise.resolve({ config, status, statusText: '', headers: {}, data: '{}' })
    }
    const api = axios.create({ adapter, baseURL: 'https://api.example' })
    attachBearer(api, startTokens().tokens)
    return { api, sent }
  }

  it('when it is 401, then the token is replaced and the request replayed', async () => {
    const { api, sent } = asText(['401', '200'])
    expect((await api.get('/a')).status).toBe('200')
    expect(sent).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  it('when it is 403, then the response surfaces', async () => {
    const { api, sent } = asText(['403'])
    expect((await api.get('/a')).status).toBe('403')
    expect(sent).toEqual(['Bearer token-1'])
  })
})

describe.each(ADAPTERS)('given an API that rejects the current token (%s adapter)', (adapter) => {
  it('when that token was revoked, then the request succeeds after one renewal and one replay', async () => {
    const service = await startTokenService()
    try {
      const api = axios.create({ adapter, baseURL: service.baseUrl })
      attachBearer(api, managerOf(clientCredentials({ baseUrl: service.baseUrl, ...service.client })))
      await api.get('/1')
      service.revokeAccessTokens()
      const { status, data } = await api.put<{ path: string; body: string }>('/2?q=ü', 'text ü')
      expect([status, data.path, data.body]).toEqual([200, '/2?q=%C3%BC', 'text ü'])
      expect(service.log.map(({ kind, path, status: answered }) => [kind, path, answered])).toEqual([
        ['obtain', '/token/', 200],
        ['resource', '/1', 200],
        ['resource', '/2?q=%C3%BC', 401],
        ['obtain', '/token/', 200],
        ['resource', '/2?q=%C3%BC', 200],
      ])
    } finally {
      await service.close()
    }
  })

  it('when the request accepts every status, then it is replayed too (F109)', async () => {
    const server = await startApi(rejecting('token-1'))
    const api = axios.create({ adapter, baseURL: server.baseUrl, validateStatus: () => true })
    attachBearer(api, startTokens().tokens)
    const { status, data } = await api.post<unknown>('/', { a: 1 })
    expect([status, data]).toEqual([200, { ok: true }])
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  it('when validateStatus is null, then it is replayed too', async () => {
    const server = await startApi(rejecting('token-1'))
    const api = axios.create({ adapter, baseURL: server.baseUrl, validateStatus: null })
    attachBearer(api, startTokens().tokens)
    expect((await api.get('/')).status).toBe(200)
    expect(server.received).toHaveLength(2)
  })

  it('when a third token exists before it rejects the second, then there is still only one replay (P8)', async () => {
    const { tokens } = startTokens()
    const server = await startApi(async (_, index) => {
      if (index === 1) await tokens.renew()
      return { status: 401 }
    })
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    expect(await failureOf(api.get('/'))).toMatchObject({ status: 401 })
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(await tokens.getAccessToken()).toBe('token-3')
  })

  it('when it rejects the next token too, then there is one replay, and the second 401 surfaces unchanged (F113, P8)', async () => {
    const server = await startApi((_, index) => ({
      status: 401,
      headers: { 'X-Answer': String(index) },
      body: `{"answer":${index}}`,
    }))
    const { tokens, minted } = startTokens()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    const error = await failureOf<AxiosError>(api.get('/'))
    expect(error).toMatchObject({ name: 'AxiosError', code: 'ERR_BAD_REQUEST', status: 401 })
    expect(error.message).toBe('Request failed with status code 401')
    expect(error.response?.data).toEqual({ answer: 1 })
    expect(error.response?.headers['x-answer']).toBe('1')
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(minted.calls).toBe(2)
  })

  it('when it rejects the next token too and every status is accepted, then the second 401 is the response', async () => {
    const server = await startApi((_, index) => ({ status: 401, body: `{"answer":${index}}` }))
    const api = axios.create({ adapter, baseURL: server.baseUrl, validateStatus: () => true })
    attachBearer(api, startTokens().tokens)
    const { status, data } = await api.get<unknown>('/')
    expect([status, data]).toEqual([401, { answer: 1 }])
    expect(server.received).toHaveLength(2)
  })

  it('when the replay fails with another error, then that error surfaces', async () => {
    const server = await startApi((_, index) => (index === 0 ? rejection : { status: 503 }))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens)
    expect(await failureOf(api.get('/'))).toMatchObject({ status: 503 })
    expect(server.received).toHaveLength(2)
  })

  it.each([400, 403, 404, 419, 498, 500, 503])(
    'when it responds with %d, then nothing is renewed or replayed (F114, P8)',
    async (status) => {
      const server = await startApi(() => ({ status }))
      const { tokens, minted } = startTokens()
      const api = axios.create({ adapter, baseURL: server.baseUrl })
      attachBearer(api, tokens)
      expect(await failureOf(api.get('/'))).toMatchObject({ status })
      expect((await api.get('/', { validateStatus: () => true })).status).toBe(status)
      expect([server.received.length, minted.calls]).toEqual([2, 1])
    },
  )

  it('when the renewal fails, then the original 401 surfaces, not the TokenError', async () => {
    const server = await startApi(() => rejection)
    const { tokens, minted } = startTokens()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await tokens.getAccessToken()
    minted.fail(new TokenError('ERR_CREDENTIALS_REJECTED', 'wrong'))
    const error = await failureOf<AxiosError>(api.get('/'))
    expect(error).toMatchObject({ name: 'AxiosError', status: 401 })
    expect(error.response?.data).toEqual({ error: 'refused' })
    expect([server.received.length, minted.calls]).toEqual([1, 2])
    // The cool-down has begun, so the next 401 makes no token request.
    expect((await api.get('/', { validateStatus: () => true })).status).toBe(401)
    expect([server.received.length, minted.calls]).toEqual([2, 2])
  })

  it('when the service issues the same token again, then the 401 surfaces and there is no replay', async () => {
    const server = await startApi(() => rejection)
    const { tokens, minted } = startTokens({ token: () => 'same' })
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    expect(await failureOf(api.get('/'))).toMatchObject({ name: 'AxiosError', status: 401 })
    expect([server.received.length, minted.calls]).toEqual([1, 2])
  })

  it('when the manager is closed before the 401 arrives, then the 401 surfaces', async () => {
    const answer = gate()
    const server = await startApi(async () => {
      await answer.opened
      return rejection
    })
    const { tokens } = startTokens()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    const failed = failureOf(api.get('/'))
    await until(() => server.received.length === 1)
    await tokens.close()
    answer.open()
    expect(await failed).toMatchObject({ name: 'AxiosError', status: 401 })
    expect(server.received).toHaveLength(1)
  })

  it('when it rejects token after token, then forced renewals keep their minimum gap, and each 401 surfaces', async () => {
    const clock = manualClock()
    const server = await startApi(() => rejection)
    const { tokens, minted } = startTokens({ clock })
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    for (let n = 0; n < 5; n += 1) expect(await failureOf(api.get('/'))).toMatchObject({ status: 401 })
    // The first request is rejected, replayed, and rejected again. For the other requests, it is too soon to renew.
    expect([server.received.length, minted.calls]).toEqual([6, 2])
    await clock.advance(6_000) // the gap between forced renewals: a tenth of the lifetime
    expect(await failureOf(api.get('/'))).toMatchObject({ status: 401 })
    expect([server.received.length, minted.calls]).toEqual([8, 3])
  })

  it.each(['stream', 'arraybuffer', 'json', 'text'] as const)(
    'when the responseType is %s, then the replay has it too',
    async (responseType) => {
      const server = await startApi(rejecting('token-1'))
      const api = axios.create({ adapter, baseURL: server.baseUrl, responseType })
      attachBearer(api, startTokens().tokens)
      const { data } = await api.get<unknown>('/')
      expect(server.received).toHaveLength(2)
      if (responseType === 'stream') expect(await textOf(data)).toBe('{"ok":true}')
      else if (responseType === 'arraybuffer') expect(Buffer.from(data as ArrayBuffer).toString()).toBe('{"ok":true}')
      else expect(data).toEqual(responseType === 'json' ? { ok: true } : '{"ok":true}')
    },
  )

  // Far more than socket buffers hold: while the body is unread, its connection is not free.
  const large = 'x'.repeat(8 * 1024 * 1024)

  it.each([
    ['without options', {}],
    ['with a size limit', { maxContentLength: 64 * 1024 * 1024 }],
    ['with a timeout', { timeout: 60_000 }],
    ['with a signal', { signal: new AbortController().signal }],
    ['with every status accepted', { validateStatus: () => true }],
  ])(
    'when a rejected response is a stream (%s), then its body is discarded and holds no connection',
    async (_, options) => {
      const server = await startApi((_request, index) => (index === 0 ? { status: 401, body: large } : {}))
      const api = axios.create({ adapter, baseURL: server.baseUrl, responseType: 'stream', ...options })
      attachBearer(api, startTokens().tokens)
      const { data } = await api.get<unknown>('/')
      expect(await textOf(data)).toBe('{"ok":true}')
      await until(() => server.unread === 0)
      expect(server.received).toHaveLength(2)
    },
  )

  it('when there is no other token for a rejected stream request, then its 401 surfaces with a readable body', async () => {
    const server = await startApi(() => ({ status: 401, body: large }))
    const api = axios.create({ adapter, baseURL: server.baseUrl, responseType: 'stream' })
    attachBearer(api, startTokens({ token: () => 'same' }).tokens)
    const error = await failureOf<AxiosError>(api.get('/'))
    expect((await textOf(error.response?.data)).length).toBe(large.length)
  })
})

async function textOf(stream: unknown): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream as AsyncIterable<Uint8Array>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe.each(ADAPTERS)('given a custom `refuses` (%s adapter)', (adapter) => {
  it('when it selects another status, then that status is replayed, and a 401 is not', async () => {
    const server = await startApi(({ url, headers }) => ({
      status: url === '/401' ? 401 : headers.authorization === 'Bearer token-1' ? 419 : 200,
    }))
    const { tokens, minted } = startTokens()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens, { refuses: ({ status }) => status === 419 })
    expect(await failureOf(api.get('/401'))).toMatchObject({ status: 401 })
    expect(minted.calls).toBe(1)
    expect((await api.get('/')).status).toBe(200)
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2'])
  })

  it('when it inspects a 200, then it receives the original response, and the caller gets the replay', async () => {
    const server = await startApi(({ headers }) => ({
      headers: { 'X-Token': 'ok' },
      body: headers.authorization === 'Bearer token-1' ? '{"error":"token"}' : '{"ok":true}',
    }))
    const seen: unknown[] = []
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens, {
      refuses: ({ status, headers, data }) => {
        seen.push([status, headers['x-token'], data])
        return (data as string).includes('"error"')
      },
    })
    expect((await api.get<unknown>('/')).data).toEqual({ ok: true })
    // `refuses` is also called with the response to the replay, because the manager reports new tokens that are rejected.
    expect(seen).toEqual(['{"error":"token"}', '{"ok":true}'].map((data) => [200, 'ok', data]))
  })

  it('when it always returns true, then there is one replay', async () => {
    const server = await startApi()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens, { refuses: () => true })
    expect((await api.get('/')).status).toBe(200)
    expect(server.received).toHaveLength(2)
  })

  it('when it throws, then the request rejects with that error', async () => {
    const reason = new Error('no idea')
    const server = await startApi()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens, {
      refuses: () => {
        throw reason
      },
    })
    expect(await failureOf(api.get('/'))).toBe(reason)
  })

  it.each([
    ['a promise', () => Promise.resolve(false)],
    ['a promise that rejects', () => Promise.reject(new Error('failed'))],
  ])('when it returns %s, then the request rejects and is not sent twice', async (_, promising) => {
    const server = await startApi()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    const refuses = promising as unknown as () => boolean
    attachBearer(api, startTokens().tokens, { refuses })
    expect(await failureOf(api.get('/'))).toEqual(new TypeError('refuses must not be async'))
    expect(server.received).toHaveLength(1)
  })

  it('when there is no response at all, then it is not called', async () => {
    const refuses = jest.fn(() => true)
    const api = axios.create({ adapter, baseURL: 'http://127.0.0.1:9' })
    const { tokens, minted } = startTokens()
    attachBearer(api, tokens, { refuses })
    expect((await failureOf<AxiosError>(api.get('/'))).isAxiosError).toBe(true)
    expect(refuses).not.toHaveBeenCalled()
    expect(minted.calls).toBe(1)
  })
})

describe('given requests that were sent with the same old token', () => {
  it('three late 401s for one old token: 1 renewal, and each request is replayed with the new token (F110, P9)', async () => {
    const responses = [gate(), gate(), gate()]
    const server = await startApi(async (request, index) => {
      await responses[index]?.opened
      return rejecting('token-1')(request, index)
    })
    const { tokens, minted } = startTokens()
    const renewals: string[] = []
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await tokens.getAccessToken()
    tokens.on('renewed', ({ because }) => void renewals.push(because))
    const requests = ['/0', '/1', '/2'].map((path) => api.get(path))
    await until(() => server.received.length === 3)
    responses[0]!.open()
    await until(() => server.received.length === 4) // the token is replaced, and the first replay has arrived
    responses[1]!.open()
    await until(() => server.received.length === 5)
    responses[2]!.open()
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([200, 200, 200])
    await settle()
    expect(server.bearers).toEqual([
      ...Array<string>(3).fill('Bearer token-1'),
      ...Array<string>(3).fill('Bearer token-2'),
    ])
    expect(server.received.map(({ url }) => url).slice(3)).toEqual(server.received.map(({ url }) => url).slice(0, 3))
    expect([minted.calls, renewals]).toEqual([2, ['refused']])
  })

  it('when all are rejected at once, then they share 1 renewal too', async () => {
    const server = await startApi(rejecting('token-1'))
    const { tokens, minted } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await tokens.getAccessToken()
    await Promise.all(Array.from({ length: 20 }, (_, n) => api.get(`/${n}`)))
    expect(server.bearers.filter((bearer) => bearer === 'Bearer token-1')).toHaveLength(20)
    expect(server.bearers.filter((bearer) => bearer === 'Bearer token-2')).toHaveLength(20)
    expect(minted.calls).toBe(2)
  })

  it('when a 401 arrives after a reset, then it surfaces, because the next token may belong to another account (F209)', async () => {
    const answer = gate()
    const { adapter, calls } = inProcess(({ authorization }) => (authorization === 'Bearer token-1' ? 401 : 200))
    const { tokens } = startTokens()
    const api = axios.create({
      adapter: (config) => answer.opened.then(() => adapter(config)),
      baseURL: 'https://a.test',
    })
    attachBearer(api, tokens)
    await tokens.getAccessToken()
    const answered = api.get('/')
    await tokens.reset()
    answer.open()
    expect(await failureOf(answered)).toMatchObject({ status: 401 })
    expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer token-1'])
  })
})

describe.each(ADAPTERS)('given an API that does not accept the issued tokens (%s adapter)', (adapter) => {
  it('when it rejects a token and its replacement, then an anomaly says what to check, and the 401 surfaces (F190)', async () => {
    const clock = manualClock()
    const server = await startApi(() => rejection)
    const { tokens, anomalies } = startTokens({ clock })
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    expect(await failureOf(api.get('/1'))).toMatchObject({ name: 'AxiosError', status: 401 })
    await clock.advance(10_000)
    expect(await failureOf(api.get('/2'))).toMatchObject({ name: 'AxiosError', status: 401 })
    await settle()
    expect(server.received).toHaveLength(4)
    expect(anomalies).toEqual([
      { kind: 'new-tokens-refused', message: expect.stringMatching(/belong together.*audience.*scope/) },
    ])
    await clock.advance(50_000)
    await failureOf(api.get('/3'))
    await settle()
    expect(anomalies).toHaveLength(2)
  })

  it('when it rejects a token, and the service issues the same token again, then an anomaly says so (F190)', async () => {
    const server = await startApi(() => rejection)
    const obtain = async () => ({ accessToken: 'the-same', accessLifetimeMs: 60_000 })
    const tokens = createTokenManager({ source: { id: 'cached', origin: server.baseUrl, obtain } })
    const anomalies: string[] = []
    tokens.on('anomaly', ({ kind, message }) => anomalies.push(`${kind}: ${message}`))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    expect(await failureOf(api.get('/1'))).toMatchObject({ name: 'AxiosError', status: 401 })
    await settle()
    expect(anomalies).toEqual([expect.stringMatching(/^new-tokens-refused: .* issued the rejected access token again/)])
    expect(server.received).toHaveLength(1)
    await tokens.close()
  })

  it('when the replay is redirected and rejected by another origin, then no anomaly is reported (F190)', async () => {
    const other = await startApi(() => rejection)
    const server = await startApi((_, index) =>
      index === 0 ? rejection : { status: 302, headers: { Location: other.baseUrl } },
    )
    const { tokens, anomalies } = startTokens()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    expect(await failureOf(api.get('/'))).toMatchObject({ status: 401 })
    await settle()
    expect([server.received.length, other.bearers, anomalies]).toEqual([2, [undefined], []])
  })
})
