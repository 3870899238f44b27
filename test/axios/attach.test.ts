import { inspect } from 'node:util'
import { describe, expect, it, jest } from '@jest/globals'
import { Readable } from 'node:stream'
import axios, { type AxiosError, type AxiosInstance, type InternalAxiosRequestConfig } from 'axios'
import { attachBearer, clientCredentials, isTokenError, TokenError, type TokenManager } from '../../src/index.ts'
import { startTokenService, type SimulatedService } from '../../tools/testing/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { rejecting, startApi } from './support/api-server.ts'
import { inProcess } from './support/in-process.ts'
import { managerOf, mint, startTokens } from './support/tokens.ts'
import { failureOf, gate, until } from './support/turns.ts'

const ADAPTERS = ['http', 'fetch'] as const

interface Echo {
  method: string
  path: string
  headers: Record<string, string>
  body: string
}

async function withService(use: (service: SimulatedService) => Promise<void>): Promise<void> {
  const service = await startTokenService()
  try {
    await use(service)
  } finally {
    await service.close()
  }
}

describe.each(ADAPTERS)('given an instance with a baseURL, written before this package (%s adapter)', (adapter) => {
  it('when a manager is attached, then an API that requires a token accepts its requests', () =>
    withService(async (service) => {
      const api = axios.create({ adapter, baseURL: service.baseUrl, headers: { 'X-Client': 'old' } })
      expect((await failureOf<{ status: number }>(api.get('/orders'))).status).toBe(401)
      attachBearer(api, managerOf(clientCredentials({ baseUrl: service.baseUrl, ...service.client })))
      const { data, status } = await api.post<Echo>('/orders?page=2', { a: 1 }, { headers: { 'X-Own': 'yes' } })
      expect(status).toBe(200)
      expect(data).toMatchObject({ method: 'POST', path: '/orders?page=2', body: '{"a":1}' })
      expect(data.headers).toMatchObject({ 'x-client': 'old', 'x-own': 'yes', 'content-type': 'application/json' })
      expect(service.count('obtain')).toBe(1)
    }))

  it('when fifty requests start at once on a cold manager, then there is one token request, and each request is sent once', () =>
    withService(async (service) => {
      const api = axios.create({ adapter, baseURL: service.baseUrl })
      attachBearer(api, managerOf(clientCredentials({ baseUrl: service.baseUrl, ...service.client })))
      const responses = await Promise.all(Array.from({ length: 50 }, (_, n) => api.get<Echo>(`/orders/${n}`)))
      expect(responses.map(({ data }) => data.path)).toEqual(Array.from({ length: 50 }, (_, n) => `/orders/${n}`))
      expect([service.count('obtain'), service.count('resource')]).toEqual([1, 50])
    }))

  it('when all verbs and calling styles are used, then each request carries the token', async () => {
    const server = await startApi()
    const { tokens } = startTokens({ origin: server.baseUrl })
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await api.get('/1')
    await api.delete('/2')
    await api.head('/3')
    await api.options('/4')
    await api.post('/5', {})
    await api.put('/6', {})
    await api.patch('/7', {})
    await api.request({ url: '/8' })
    await api('/9')
    await api({ method: 'put', url: '/10', data: 'x' })
    await api.get(`${server.baseUrl}/11`)
    await axios.get('/12', { adapter, baseURL: server.baseUrl }) // an instance without an attachment
    expect(server.bearers).toEqual([...Array<string>(11).fill('Bearer token-1'), undefined])
  })

  it('when a header name and a scheme are given, then they are used for the token', async () => {
    const server = await startApi()
    const named = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(named, startTokens().tokens, { header: 'X-Api-Token', scheme: 'Token' })
    await named.get('/1')
    const bare = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(bare, startTokens().tokens, { scheme: '' })
    await bare.get('/2')
    expect(server.received.map(({ headers }) => [headers['x-api-token'], headers.authorization])).toEqual([
      ['Token token-1', undefined],
      [undefined, 'token-1'],
    ])
  })

  it('when interceptors and transforms are registered before and after, then each runs once, even if a request is replayed', async () => {
    const server = await startApi(rejecting('token-1'))
    const { tokens } = startTokens()
    const ran: string[] = []
    const api = axios.create({
      adapter,
      baseURL: server.baseUrl,
      transformRequest: [
        (data: unknown) => {
          ran.push('transformRequest')
          return JSON.stringify(data)
        },
      ],
      transformResponse: [
        (data: string) => {
          ran.push('transformResponse')
          return { wrapped: JSON.parse(data) as unknown }
        },
      ],
    })
    const note = (side: string) => {
      api.interceptors.request.use((config) => {
        ran.push(`${side} request`)
        config.headers.set(`X-${side}`, 'was here')
        return config
      })
      api.interceptors.response.use((response) => {
        ran.push(`${side} response`)
        return response
      })
    }
    note('before')
    attachBearer(api, tokens)
    note('after')
    const { data } = await api.post<unknown>('/orders', { a: 1 })
    expect(data).toEqual({ wrapped: { ok: true } })
    expect(ran).toEqual([
      'after request',
      'before request',
      'transformRequest',
      'transformResponse',
      'before response',
      'after response',
    ])
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(server.received.map(({ headers }) => [headers['x-before'], headers['x-after']])).toEqual(
      Array(2).fill(['was here', 'was here']),
    )
    expect(server.received.map(({ body }) => body.toString())).toEqual(['{"a":1}', '{"a":1}'])
  })

  it('when the second response is an error too, then error handlers and transforms run once', async () => {
    const server = await startApi(rejecting('token-1', 'token-2'))
    const { tokens } = startTokens()
    const transform = jest.fn((data: unknown) => data)
    const onRejected = jest.fn((error: unknown) => Promise.reject(error as Error))
    const api = axios.create({ adapter, baseURL: server.baseUrl, transformResponse: transform })
    api.interceptors.response.use(undefined, onRejected)
    attachBearer(api, tokens)
    await failureOf(api.get('/orders'))
    expect(server.received).toHaveLength(2)
    expect([transform.mock.calls.length, onRejected.mock.calls.length]).toEqual([1, 1])
  })
})

describe('given a fresh token and only synchronous interceptors', () => {
  it('when a request starts, then it reaches its adapter in the same tick, with the token', async () => {
    const { tokens } = startTokens()
    const { adapter, calls } = inProcess()
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    api.interceptors.request.use((config) => config, undefined, { synchronous: true })
    attachBearer(api, tokens)
    await tokens.getAccessToken()
    const answer = api.get('/wallet')
    expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer token-1'])
    expect((await answer).data).toEqual({ ok: true })
  })
})

describe('given a fresh token and a baseURL that does not change', () => {
  it('when requests with relative URLs start, then no URL is parsed for them', async () => {
    const { tokens } = startTokens()
    const { adapter, calls } = inProcess()
    const api = axios.create({ adapter, baseURL: 'https://api.example.com/v1' })
    attachBearer(api, tokens)
    await api.get('/first')
    const RealURL = URL
    const parse = jest.spyOn(globalThis, 'URL').mockImplementation((...given) => new RealURL(...given))
    for (const url of ['/wallet', 'orders?page=2', '', '/a/b']) await api.get(url)
    expect(parse).not.toHaveBeenCalled()
    await api.get('https://api.example.com/absolute')
    expect(parse).toHaveBeenCalled() // the spy does see parsed URLs
    expect(calls.map(({ authorization }) => authorization)).toEqual(Array(6).fill('Bearer token-1'))
  })
})

describe('given a fresh token on an instance with an asynchronous interceptor', () => {
  it('when a request starts, then it carries the token too', async () => {
    const { tokens } = startTokens()
    const { adapter, calls } = inProcess()
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    api.interceptors.request.use(async (config) => config)
    await api.get('/wallet')
    expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer token-1'])
  })
})

describe('given several instances and managers', () => {
  it('when two instances share a manager, then they share its token', async () => {
    const [one, two] = [await startApi(), await startApi()]
    const { tokens, minted } = startTokens()
    const [first, second] = [axios.create({ baseURL: one.baseUrl }), axios.create({ baseURL: two.baseUrl })]
    attachBearer(first, tokens)
    attachBearer(second, tokens)
    await Promise.all([first.get('/'), second.get('/')])
    await Promise.all([first.get(two.baseUrl), second.get(one.baseUrl)]) // each instance knows its own origin only
    expect(minted.calls).toBe(1)
    expect([one.bearers, two.bearers]).toEqual([
      ['Bearer token-1', undefined],
      ['Bearer token-1', undefined],
    ])
  })

  it('when two managers share an instance, then each origin receives the token of its manager', async () => {
    const [one, two, three] = [await startApi(rejecting('one-1')), await startApi(), await startApi()]
    const [first, second] = [startTokens({ name: 'one' }), startTokens({ name: 'two' })]
    const api = axios.create({ baseURL: one.baseUrl })
    attachBearer(api, first.tokens)
    attachBearer(api, second.tokens, { origins: [two.baseUrl], header: 'X-Token', scheme: '' })
    await api.get('/')
    await api.get(two.baseUrl)
    await api.get(three.baseUrl)
    expect(one.bearers).toEqual(['Bearer one-1', 'Bearer one-2'])
    expect(two.received.map(({ headers }) => [headers['x-token'], headers.authorization])).toEqual([
      ['two-1', undefined],
    ])
    expect(three.received.map(({ headers }) => [headers['x-token'], headers.authorization])).toEqual([
      [undefined, undefined],
    ])
    expect([first.minted.calls, second.minted.calls]).toEqual([2, 1])
  })

  it('when a second manager claims an origin of the first, then attaching throws, names the origin and changes nothing', async () => {
    const server = await startApi()
    const [first, second] = [startTokens({ name: 'one' }), startTokens({ name: 'two' })]
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, first.tokens)
    expect(() => attachBearer(api, second.tokens)).toThrow(TypeError)
    expect(() => attachBearer(api, second.tokens)).toThrow(`${server.baseUrl} already gets the token of another`)
    expect(() =>
      attachBearer(api, second.tokens, { origins: ['https://other.example.com', server.baseUrl.toUpperCase()] }),
    ).toThrow(server.baseUrl)
    await api.get('/')
    expect(server.bearers).toEqual(['Bearer one-1'])
    expect(second.minted.calls).toBe(0)
    attachBearer(api, second.tokens, { origins: ['https://other.example.com'] }) // the failed call did not claim this origin
  })

  it('when the first manager is detached, then its origin is free for the second', async () => {
    const server = await startApi()
    const api = axios.create({ baseURL: server.baseUrl })
    const attachment = attachBearer(api, startTokens({ name: 'one' }).tokens)
    await api.get('/1')
    attachment.detach()
    attachBearer(api, startTokens({ name: 'two' }).tokens)
    await api.get('/2')
    expect(server.bearers).toEqual(['Bearer one-1', 'Bearer two-1'])
  })

  it('when one of two managers is detached, then the other still works', async () => {
    const [one, two] = [await startApi(), await startApi()]
    const api = axios.create({ baseURL: one.baseUrl })
    const first = attachBearer(api, startTokens({ name: 'one' }).tokens)
    attachBearer(api, startTokens({ name: 'two' }).tokens, { origins: [two.baseUrl] })
    first.detach()
    await api.get('/')
    await api.get(two.baseUrl)
    expect([one.bearers, two.bearers]).toEqual([[undefined], ['Bearer two-1']])
  })
})

describe('given a manager that is attached already', () => {
  it('when it is attached again, then nothing changes: one header, one interceptor, one replay, one detach (F104)', async () => {
    const server = await startApi(rejecting('token-1'))
    const { tokens } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    const use = jest.spyOn(api.interceptors.request, 'use')
    const [first, second] = [attachBearer(api, tokens), attachBearer(api, tokens, { scheme: 'Other' })]
    await api.get('/')
    const authorizations = server.received.map(({ rawHeaders }) =>
      rawHeaders.filter((_, index) => rawHeaders[index - 1] === 'Authorization'),
    )
    expect(authorizations).toEqual([['Bearer token-1'], ['Bearer token-2']])
    expect(use).toHaveBeenCalledTimes(1)
    second.detach()
    await api.get('/')
    first.detach()
    await api.get('/')
    expect(server.bearers.slice(2)).toEqual([undefined, undefined])
  })

  it('when the user clears the interceptors and attaches the manager again, then requests carry the token', async () => {
    const server = await startApi()
    const { tokens } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    api.interceptors.request.clear()
    const attachment = attachBearer(api, tokens)
    await api.get('/')
    attachment.detach()
    await api.get('/')
    expect(server.bearers).toEqual(['Bearer token-1', undefined])
  })

  it('when the user clears the interceptors and detaches the manager, then other interceptors stay', async () => {
    const server = await startApi()
    const api = axios.create({ baseURL: server.baseUrl })
    const attachment = attachBearer(api, startTokens().tokens)
    api.interceptors.request.clear()
    const seen = jest.fn((config: InternalAxiosRequestConfig) => config)
    api.interceptors.request.use(seen)
    attachment.detach()
    await api.get('/')
    expect(seen).toHaveBeenCalledTimes(1)
  })

  it('when a second copy of the package attaches the manager, then nothing changes (F126)', async () => {
    const server = await startApi(rejecting('token-1'))
    const { tokens } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    const use = jest.spyOn(api.interceptors.request, 'use')
    attachBearer(api, tokens)
    let copy: typeof attachBearer = attachBearer
    await jest.isolateModulesAsync(async () => {
      copy = ((await import('../../src/index.ts')) as { attachBearer: typeof attachBearer }).attachBearer
    })
    expect(copy).not.toBe(attachBearer)
    const attachment = copy(api, tokens)
    await api.get('/')
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(use).toHaveBeenCalledTimes(1)
    attachment.detach()
    await api.get('/')
    expect(server.bearers[2]).toBeUndefined()
  })
})

describe('given an attachment', () => {
  it('when it is detached, then requests in flight finish, replay included, and later requests carry no token', async () => {
    const answer = gate()
    const server = await startApi(async (request, index) => {
      if (index === 0) await answer.opened
      return rejecting('token-1')(request, index)
    })
    const { tokens } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    const attachment = attachBearer(api, tokens)
    const inFlight = api.get('/in-flight')
    await until(() => server.received.length === 1)
    attachment.detach()
    await api.get('/later')
    answer.open()
    expect((await inFlight).status).toBe(200)
    expect(server.received.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/in-flight', 'Bearer token-1'],
      ['/later', undefined],
      ['/in-flight', 'Bearer token-2'],
    ])
  })

  it('when the last attachment is detached, then the instance is unchanged', () => {
    const api = axios.create({ baseURL: 'https://api.example.com' })
    const ofOthers = api.interceptors.request.use((config) => config)
    const symbols = Object.getOwnPropertySymbols(api)
    const attached = [attachBearer(api, startTokens().tokens), undefined]
    attached[1] = attachBearer(api, startTokens().tokens, { origins: ['https://other.example.com'] })
    const handlers = () => (api.interceptors.request as unknown as { handlers: unknown[] }).handlers.filter(Boolean)
    attached[0]!.detach()
    expect(handlers()).toHaveLength(2)
    attached[1].detach()
    expect(handlers()).toHaveLength(1)
    expect(Object.getOwnPropertySymbols(api)).toEqual(symbols)
    api.interceptors.request.eject(ofOthers)
    expect(handlers()).toHaveLength(0)
  })

  it('when requests have the same settings, then one function replaces their adapter', async () => {
    const { adapter } = inProcess()
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, startTokens().tokens)
    const seen = new Set<unknown>()
    const look = [
      function (this: InternalAxiosRequestConfig, data: unknown) {
        seen.add(this.adapter)
        return data
      },
    ]
    for (const url of ['/1', '/2']) await api.post(url, {}, { transformRequest: look })
    expect([seen.size, seen.has(adapter)]).toEqual([1, false])
  })

  it('when it is detached while a request waits for its token, then that request still carries the token', async () => {
    const server = await startApi()
    const { tokens, minted } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    minted.hold()
    const attachment = attachBearer(api, tokens)
    const waiting = api.get('/')
    attachment.detach()
    minted.release()
    await waiting
    expect(server.bearers).toEqual(['Bearer token-1'])
  })

  it('when it is detached, then the manager stays open and works on other instances', async () => {
    const server = await startApi()
    const { tokens } = startTokens()
    const [api, other] = [axios.create({ baseURL: server.baseUrl }), axios.create({ baseURL: server.baseUrl })]
    const attachment = attachBearer(api, tokens)
    attachBearer(other, tokens)
    attachment.detach()
    await other.get('/')
    expect(server.bearers).toEqual(['Bearer token-1'])
    expect(tokens.status().phase).toBe('fresh')
  })

  it('when it is detached before and after a new attachment, then the new attachment stays', async () => {
    const server = await startApi()
    const { tokens } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    const old = attachBearer(api, tokens)
    old.detach()
    attachBearer(api, tokens, { scheme: 'New' })
    old.detach()
    await api.get('/')
    expect(server.bearers).toEqual(['New token-1'])
  })

  it('when one of two is detached before and after a new attachment, then the new one stays until its own detach', async () => {
    const [one, two] = [await startApi(), await startApi()]
    const { tokens } = startTokens({ name: 'one' })
    const api = axios.create({ baseURL: one.baseUrl })
    attachBearer(api, startTokens({ name: 'two' }).tokens, { origins: [two.baseUrl] })
    const old = attachBearer(api, tokens)
    old.detach()
    const current = attachBearer(api, tokens)
    old.detach()
    expect(attachBearer(api, tokens)).toBe(current)
    await api.get('/')
    current.detach()
    await api.get('/')
    await api.get(two.baseUrl)
    expect([one.bearers, two.bearers]).toEqual([['Bearer one-1', undefined], ['Bearer two-1']])
  })

  it('when an instance is created from the attached instance, then it sends no token, and can have its own attachment', async () => {
    const server = await startApi()
    const { tokens } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    // The axios types lack `create` of an instance.
    const child = (api as unknown as { create(config: object): AxiosInstance }).create({})
    await child.get('/1')
    attachBearer(child, tokens)
    await child.get('/2')
    expect(server.bearers).toEqual([undefined, 'Bearer token-1'])
  })
})

describe('given a manager without a token', () => {
  it.each(ADAPTERS)(
    'when a request starts (%s adapter), then it rejects with the TokenError and is not sent',
    (adapter) =>
      withService(async (service) => {
        const server = await startApi()
        service.failNext('obtain', { status: 400 })
        const api = axios.create({ adapter, baseURL: server.baseUrl })
        attachBearer(api, managerOf(clientCredentials({ baseUrl: service.baseUrl, ...service.client })))
        const error = await failureOf<TokenError>(api.get('/orders'))
        expect(error).toBeInstanceOf(TokenError)
        expect(error).toMatchObject({ name: 'TokenError', code: 'ERR_CREDENTIALS_REJECTED', status: 400 })
        expect(server.received).toHaveLength(0)
      }),
  )

  it('when several requests reject, then each has its own error, which holds its config and prints none of it (F161)', () =>
    withService(async (service) => {
      service.failNext('obtain', { status: 503 })
      const api = axios.create({ baseURL: 'https://api.example.com', headers: { 'X-Own': 'canary' } })
      const source = clientCredentials({ baseUrl: service.baseUrl, ...service.client })
      attachBearer(api, managerOf(source, { retry: { maxAttempts: 1 } }), { header: 'X-Token' })
      const errors = await Promise.all(['/1', '/2'].map((url) => failureOf<TokenError & AxiosError>(api.get(url))))
      expect(errors.map(({ config }) => config?.url)).toEqual(['/1', '/2'])
      for (const error of errors) {
        expect([isTokenError(error), error instanceof TokenError, axios.isAxiosError(error)]).toEqual([
          true,
          true,
          true,
        ])
        expect(error).toMatchObject({ name: 'TokenError', code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', retryable: true })
        expect([error.config?.adapter, error.config?.headers.has('X-Token')]).toEqual([api.defaults.adapter, false])
        expect(error.stack).toContain('attach.test')
        for (const text of [inspect(error, { depth: 9 }), JSON.stringify(error), JSON.stringify(Object.entries(error))])
          expect(text).not.toContain('canary')
      }
    }))

  it('when a custom manager throws the same TokenError repeatedly, then each request has a copy, which does not grow (F161)', async () => {
    const shared = new TokenError('ERR_CLOSED', 'closed', { cause: new Error('why') })
    const tokens = { getAccessToken: () => Promise.reject(shared), replaceAccessToken: async () => 'no' }
    const api = axios.create({ baseURL: 'https://api.example.com' })
    attachBearer(api, handMade({ ...tokens, peekAccessToken: () => undefined }))
    const { stack } = shared
    const [first, second] = [await failureOf(api.get('/')), await failureOf(api.get('/'))]
    expect(first).not.toBe(second)
    expect([first, second]).toMatchObject(Array(2).fill({ code: 'ERR_CLOSED', message: 'closed', cause: shared.cause }))
    expect([shared.stack, Object.keys(shared).includes('config')]).toEqual([stack, false])
  })

  it('when the manager is closed, then pending and later requests reject with ERR_CLOSED and are not sent', async () => {
    const server = await startApi()
    const { tokens, minted } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    minted.hold()
    const waiting = failureOf(api.get('/waiting'))
    await until(() => minted.calls === 1)
    const closed = tokens.close()
    expect(await waiting).toMatchObject({ name: 'TokenError', code: 'ERR_CLOSED' })
    expect(await failureOf(api.get('/later'))).toMatchObject({ name: 'TokenError', code: 'ERR_CLOSED' })
    minted.release()
    await closed
    expect(server.received).toHaveLength(0)
  })

  it('when a renewal fails while the token is valid, then no request fails', async () => {
    const clock = manualClock()
    const server = await startApi()
    const { tokens, minted } = startTokens({ clock })
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await api.get('/')
    minted.fail(new TokenError('ERR_TOKEN_REQUEST', 'gone'))
    await clock.advance(50_000) // the token became due at 45 s
    await api.get('/')
    await clock.advance(0)
    await api.get('/')
    expect(minted.calls).toBeGreaterThan(1)
    expect(server.bearers).toEqual(Array(3).fill('Bearer token-1'))
  })
})

/** A manager that a user writes for tokens from another source. It has the members of the interface, and nothing more. */
function handMade(members: Partial<TokenManager>): TokenManager {
  return members as TokenManager
}

describe('given a manager made by hand', () => {
  it('when it is attached, then its tokens are sent, replaced and limited to the origins as with any manager', async () => {
    const [server, other] = [await startApi(rejecting('old')), await startApi()]
    const replaced: string[] = []
    let token: string | undefined
    const tokens = handMade({
      peekAccessToken: () => token,
      getAccessToken: async () => (token = 'old'),
      replaceAccessToken: async (refused) => {
        replaced.push(refused)
        return (token = 'new')
      },
    })
    const api = axios.create({ baseURL: server.baseUrl })
    const attachment = attachBearer(api, tokens)
    expect(attachBearer(api, tokens)).toBe(attachment)
    await api.get('/1')
    await api.get('/2')
    await api.get(other.baseUrl)
    expect(server.bearers).toEqual(['Bearer old', 'Bearer new', 'Bearer new'])
    expect(other.bearers).toEqual([undefined])
    expect(replaced).toEqual(['old'])
    attachment.detach()
    await api.get('/3')
    expect(server.bearers[3]).toBeUndefined()
  })

  it('when a request with a body that can be sent only once is rejected, then its 401 surfaces, and the next request has another token', async () => {
    const server = await startApi(rejecting('old'))
    let token = 'old'
    const tokens = handMade({
      peekAccessToken: () => token,
      getAccessToken: async () => token,
      replaceAccessToken: async (refused) => (token = `not ${refused}`.replace(' ', '-')),
    })
    const api = axios.create({ baseURL: server.baseUrl, adapter: 'http' })
    attachBearer(api, tokens)
    await expect(api.post('/', Readable.from(['once']))).rejects.toMatchObject({ status: 401 })
    await api.get('/')
    expect(server.bearers).toEqual(['Bearer old', 'Bearer not-old'])
  })

  it('when a request is sent without a token, then one process warning reports it, because the manager has no events (F191)', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const { adapter } = inProcess()
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    const tokens = { peekAccessToken: () => 'token', getAccessToken: async () => 'token' }
    await jest.isolateModulesAsync(async () => {
      // A copy of the module that has not warned yet.
      const copy = await import('../../src/index.ts')
      copy.attachBearer(api, handMade({ ...tokens, replaceAccessToken: async () => 'token' }))
    })
    for (const host of ['one', 'two']) await api.get(`https://${host}.test/`)
    const code = 'origin-not-allowed'
    expect(warn.mock.calls).toEqual([[expect.stringContaining('https://one.test'), expect.objectContaining({ code })]])
  })

  it('when the methods belong to a class, then they are called on its instance', async () => {
    class Tokens {
      #token = 'private'
      peekAccessToken(): string {
        return this.#token
      }
      getAccessToken = async () => this.#token
      replaceAccessToken = async () => this.#token
    }
    const server = await startApi()
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, handMade(new Tokens()))
    await api.get('/')
    expect(server.bearers).toEqual(['Bearer private'])
  })

  it('when it returns the rejected token again, then the request is not replayed and the 401 surfaces', async () => {
    const server = await startApi(rejecting('same'))
    const tokens = handMade({
      peekAccessToken: () => 'same',
      getAccessToken: async () => 'same',
      replaceAccessToken: async () => 'same',
    })
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    expect(await failureOf(api.get('/'))).toMatchObject({ name: 'AxiosError', status: 401 })
    expect(server.bearers).toEqual(['Bearer same'])
  })

  it('when it rejects with its own error, then the request rejects with that error', async () => {
    const server = await startApi()
    const reason = new Error('no token today')
    const tokens = handMade({
      peekAccessToken: () => undefined,
      getAccessToken: () => Promise.reject(reason),
      replaceAccessToken: () => Promise.reject(reason),
    })
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    expect(await failureOf(api.get('/'))).toBe(reason)
    expect(server.received).toHaveLength(0)
  })
})

describe.each(ADAPTERS)(
  'given a token service that is called through the attached instance (%s adapter)',
  (adapter) => {
    it('when a request starts, then the token request is sent without a token, and does not wait for itself (F162)', () =>
      withService(async ({ baseUrl, client, log }) => {
        const api = axios.create({ adapter, baseURL: baseUrl })
        const transport = { adapter: (config: InternalAxiosRequestConfig) => api.request(config) }
        attachBearer(api, managerOf(clientCredentials({ baseUrl, ...client, transport })))
        expect((await api.get('/orders')).status).toBe(200)
        expect(log.map(({ kind, status }) => [kind, status])).toEqual([
          ['obtain', 200],
          ['resource', 200],
        ])
      }))
  },
)

describe('given an instance that needs a token which its own credential provider must fetch', () => {
  it('when the credential provider calls the API through that instance, then the call fails, and nothing is sent', async () => {
    const clock = manualClock()
    const server = await startApi()
    const api = axios.create({ baseURL: server.baseUrl })
    const { source } = mint()
    const tokens = managerOf({ ...source, obtain: async () => (await api.get('/secret')).data as never }, { clock })
    attachBearer(api, tokens)
    const failed = failureOf(api.get('/orders'))
    await clock.advance(60_000)
    expect(await failed).toBeInstanceOf(TokenError)
    expect(server.received).toHaveLength(0)
  })
})
