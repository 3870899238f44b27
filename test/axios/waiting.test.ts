import { PassThrough } from 'node:stream'
import { Readable } from 'node:stream'
import { describe, expect, it, jest } from '@jest/globals'
import axios, { type AxiosAdapter, type AxiosError, type AxiosRequestConfig } from 'axios'
import { attachBearer, TokenError, type TokenManager } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'
import { rejecting, startApi } from './support/api-server.ts'
import { inProcess } from './support/in-process.ts'
import { managerOf, startTokens } from './support/tokens.ts'
import { failureOf, gate, until } from './support/turns.ts'

const ADAPTERS = ['http', 'fetch'] as const

/** Shows whether a promise has settled. */
function watch<T>(promise: Promise<T>): { settled: boolean; promise: Promise<T> } {
  const watched = { settled: false, promise }
  const note = () => (watched.settled = true)
  promise.then(note, note)
  return watched
}

/** An attached instance whose token requests are held, with a manual clock. */
async function waitingWorld(adapter: AxiosRequestConfig['adapter'], script?: Parameters<typeof startApi>[0]) {
  const clock = watchedClock()
  const server = await startApi(script)
  const { tokens, minted } = startTokens({ clock })
  minted.hold()
  const api = axios.create({ ...(adapter !== undefined && { adapter }), baseURL: server.baseUrl })
  attachBearer(api, tokens)
  return { clock, server, tokens, minted, api }
}

describe.each(ADAPTERS)('given a token that takes long to arrive (%s adapter)', (adapter) => {
  it.each<[string, AxiosRequestConfig, object]>([
    ['a timeout', {}, { code: 'ECONNABORTED', message: 'timeout of 500ms exceeded: the request waited for a token' }],
    [
      'a timeout with clarifyTimeoutError',
      { transitional: { clarifyTimeoutError: true } },
      { code: 'ETIMEDOUT', message: 'timeout of 500ms exceeded: the request waited for a token' },
    ],
    ['a timeout with a message', { timeoutErrorMessage: 'too slow' }, { code: 'ECONNABORTED', message: 'too slow' }],
    [
      'an empty message',
      { timeoutErrorMessage: '' },
      { message: 'timeout of 500ms exceeded: the request waited for a token' },
    ],
  ])(
    'when a request has %s, then it fails in time like an axios timeout, is not sent, and the error mentions the wait (F97, F221)',
    async (_, options, expected) => {
      const { clock, server, api, minted, tokens } = await waitingWorld(adapter)
      const request = watch(api.get('/', { timeout: 500, ...options }))
      await clock.advance(499)
      expect(request.settled).toBe(false)
      await clock.advance(1)
      expect(request.settled).toBe(true)
      const error = await failureOf<AxiosError>(request.promise)
      expect(error).toMatchObject({ name: 'AxiosError', isAxiosError: true, ...expected })
      expect(error.cause).toMatchObject({ name: 'TokenError', code: 'ERR_WAIT_TIMEOUT' })
      expect(error.config).toMatchObject({ url: '/', adapter })
      expect(error.response).toBeUndefined()
      expect(axios.isCancel(error)).toBe(false)
      expect(clock.holding).toBe(0)
      // The renewal belongs to all callers, so it continues.
      minted.release()
      expect(await tokens.getAccessToken()).toBe('token-1')
      expect([server.received.length, minted.calls]).toEqual([0, 1])
    },
  )

  it('when the token arrives just in time, then the request is sent, with its full timeout for the call', async () => {
    const { clock, server, api, minted } = await waitingWorld(adapter)
    // The call itself takes real time, so its timeout must be long enough for a busy machine.
    const request = watch(api.get('/', { timeout: 9_000 }))
    await clock.advance(8_999)
    minted.release()
    const { config } = await request.promise
    expect(config.timeout).toBe(9_000)
    expect(server.bearers).toEqual(['Bearer token-1'])
  })

  it('when a request has no timeout, then it waits as long as the manager allows, and rejects with its error', async () => {
    const { clock, server, api, minted } = await waitingWorld(adapter)
    const request = watch(api.get('/'))
    for (let n = 0; n < 3; n += 1) await clock.advance(9_999) // each step is shorter than the timeout of an exchange
    await clock.advance(2)
    expect(request.settled).toBe(false)
    await clock.advance(1)
    expect(await failureOf(request.promise)).toMatchObject({ name: 'TokenError', code: 'ERR_WAIT_TIMEOUT' })
    expect(server.received).toHaveLength(0)
    minted.release()
  })

  it.each(['signal', 'cancelToken', 'signal beside a cancelToken', 'cancelToken beside a signal'])(
    'when a request is cancelled by its %s, then only that request ends, at once, and the renewal continues (F94)',
    async (by) => {
      const { server, api, minted } = await waitingWorld(adapter)
      const controller = new AbortController()
      const { token: cancelToken, cancel } = axios.CancelToken.source()
      const options: AxiosRequestConfig = {
        ...(by.includes('signal') && { signal: controller.signal }),
        ...(by.includes('cancelToken') && { cancelToken }),
      }
      const cancelled = watch(api.get('/cancelled', options))
      const other = api.get('/other')
      await settle()
      expect(cancelled.settled).toBe(false)
      if (by.startsWith('signal')) controller.abort()
      else cancel('changed my mind')
      await settle()
      expect(cancelled.settled).toBe(true)
      const error = await failureOf<AxiosError>(cancelled.promise)
      expect(axios.isCancel(error)).toBe(true)
      expect(error.code).toBe('ERR_CANCELED')
      if (by.startsWith('cancelToken')) expect(error.message).toBe('changed my mind')
      minted.release()
      expect((await other).status).toBe(200)
      expect(server.received.map(({ url }) => url)).toEqual(['/other'])
      expect(minted.calls).toBe(1)
    },
  )

  it('when it is aborted with a custom reason, then the error is still the one of axios', async () => {
    const { api, minted } = await waitingWorld(adapter)
    const controller = new AbortController()
    const failed = failureOf(api.get('/', { signal: controller.signal }))
    await settle()
    controller.abort(new Error('my reason'))
    expect(axios.isCancel(await failed)).toBe(true)
    minted.release()
  })

  it('when it was cancelled before it started, then no token is requested (F96)', async () => {
    const { api, minted } = await waitingWorld(adapter)
    const source = axios.CancelToken.source()
    source.cancel()
    expect(axios.isCancel(await failureOf(api.get('/', { signal: AbortSignal.abort() })))).toBe(true)
    expect(axios.isCancel(await failureOf(api.get('/', { cancelToken: source.token })))).toBe(true)
    expect(minted.calls).toBe(0)
  })
})

describe.each(ADAPTERS)('given a stream body, and a token that takes long to arrive (%s adapter)', (adapter) => {
  async function upload() {
    const world = await waitingWorld(adapter)
    const body = new Readable({ read: () => {} })
    const request = world.api.post('/', body)
    await until(() => world.minted.calls === 1)
    return { ...world, body, request }
  }

  it('when the stream fails, then the request fails at once as with axios, and is not sent', async () => {
    const { server, body, request } = await upload()
    body.destroy(Object.assign(new Error('no such file'), { code: 'ENOENT' }))
    const error = await failureOf<AxiosError>(request)
    expect(error).toMatchObject({ isAxiosError: true, code: 'ENOENT', message: 'no such file', config: { url: '/' } })
    expect(server.received).toEqual([])
  })

  it('when the stream is closed, then the request is cancelled and not sent', async () => {
    const { server, body, request } = await upload()
    body.destroy()
    expect(axios.isCancel(await failureOf(request))).toBe(true)
    expect(server.received).toEqual([])
  })

  it('when no token arrives, and the stream fails later, then the request has already failed and nothing else happens', async () => {
    const { minted, body, request } = await upload()
    minted.fail(new TokenError('ERR_CREDENTIALS_REJECTED', 'refused'))
    minted.release()
    expect(await failureOf(request)).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
    // Throws if there is no listener.
    expect(body.emit('error', new Error('no such file'))).toBe(true)
  })

  it('when the same stream is sent repeatedly without a token, then its listeners do not pile up', async () => {
    const { api, minted, body, request } = await upload()
    minted.fail(new TokenError('ERR_CREDENTIALS_REJECTED', 'refused'))
    minted.release()
    await failureOf(request)
    for (let again = 0; again < 12; again += 1) await failureOf(api.post('/', body))
    expect([body.listenerCount('error'), body.listenerCount('close')]).toEqual([1, 0])
  })

  it('when the token arrives, then the stream arrives whole', async () => {
    const { server, minted, body, request } = await upload()
    minted.release()
    body.push('one')
    body.push('two')
    body.push(null)
    await request
    expect(server.received.map((one) => one.body.toString())).toEqual(['onetwo'])
  })
})

describe('given listeners on signals and cancel tokens', () => {
  it.each(['served', 'aborted', 'timed out', 'rejected by the manager'])(
    'when the waiting request is %s, then no listener is left',
    async (end) => {
      const { adapter } = inProcess()
      const { clock, api, minted, tokens } = await waitingWorld(adapter)
      const controller = new AbortController()
      const add = jest.spyOn(controller.signal, 'addEventListener')
      const remove = jest.spyOn(controller.signal, 'removeEventListener')
      const request = watch(api.get('/', { signal: controller.signal, timeout: 500 }))
      await settle()
      expect(add).toHaveBeenCalledTimes(1)
      expect(remove).toHaveBeenCalledTimes(0)
      if (end === 'served') minted.release()
      else if (end === 'aborted') controller.abort()
      else if (end === 'timed out') await clock.advance(500)
      else void tokens.close()
      await request.promise.catch(() => undefined)
      expect(remove.mock.calls.map(([type, listener]) => [type, listener])).toEqual(
        add.mock.calls.map(([type, listener]) => [type, listener]),
      )
      minted.release()
      await settle()
      expect(clock.holding).toBe(0)
    },
  )

  it.each(['served', 'cancelled', 'timed out'])(
    'when a request that waits with a cancel token is %s, then no listener is left on it',
    async (end) => {
      const { adapter } = inProcess()
      const { clock, api, minted } = await waitingWorld(adapter)
      const { token: cancelToken, cancel } = axios.CancelToken.source()
      const listeners = () => (cancelToken as unknown as { _listeners: unknown[] | null })._listeners ?? []
      const request = watch(api.get('/', { cancelToken, timeout: 500 }))
      await settle()
      expect(listeners()).toHaveLength(1)
      if (end === 'served') minted.release()
      else if (end === 'cancelled') cancel()
      else await clock.advance(500)
      await request.promise.catch(() => undefined)
      expect(listeners()).toHaveLength(0)
      minted.release()
    },
  )

  it('when the token is fresh, then the library adds no listener to a signal', async () => {
    const { adapter } = inProcess()
    const { tokens } = startTokens()
    await tokens.getAccessToken()
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    const { signal } = new AbortController()
    const add = jest.spyOn(signal, 'addEventListener')
    await api.get('/', { signal })
    expect(add).not.toHaveBeenCalled()
  })

  it.each([
    ['1000 requests wait on one signal', 1_000, false],
    ['100 requests wait on one signal and one cancel token', 100, true],
  ])('when %s, then there is no warning and no leak (F98)', async (_, count, withToken) => {
    const { adapter, calls } = inProcess()
    const { api, minted } = await waitingWorld(adapter)
    const { signal } = new AbortController()
    const add = jest.spyOn(signal, 'addEventListener')
    const remove = jest.spyOn(signal, 'removeEventListener')
    const { token: cancelToken } = axios.CancelToken.source()
    const options = { signal, ...(withToken && { cancelToken }) }
    const requests = Array.from({ length: count }, (_request, n) => api.get(`/${n}`, options))
    await settle() // too many listeners would make Node warn now, which would fail the test
    minted.release()
    await Promise.all(requests)
    expect(add.mock.calls.length).toBeLessThanOrEqual(1)
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length)
    expect([calls.length, minted.calls]).toEqual([count, 1])
  })

  it('when a hundred requests on one signal are aborted while they wait, then each is cancelled', async () => {
    const { adapter, calls } = inProcess()
    const { api, minted } = await waitingWorld(adapter)
    const controller = new AbortController()
    const requests = Array.from({ length: 100 }, () => failureOf(api.get('/', { signal: controller.signal })))
    await settle()
    controller.abort()
    expect((await Promise.all(requests)).every((error) => axios.isCancel(error))).toBe(true)
    expect(calls).toHaveLength(0)
    minted.release()
  })
})

/** A signal with only what axios needs, such as those of polyfills and test doubles. */
class GenericSignal extends EventTarget {
  aborted = false
  abort(): void {
    this.aborted = true
    this.dispatchEvent(new Event('abort'))
  }
}

describe.each([false, true])(
  'given a signal that is not an AbortSignal, as axios allows (beside a cancel token: %p)',
  (both) => {
    const options = (signal: object) => ({
      signal: signal as AbortSignal,
      ...(both && { cancelToken: axios.CancelToken.source().token }),
    })

    it('when a request waits for its token, then it succeeds', async () => {
      const { adapter, calls } = inProcess()
      const { api, minted } = await waitingWorld(adapter)
      const request = api.get('/', options(new GenericSignal()))
      minted.release()
      await request
      expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer token-1'])
    })

    it('when it is aborted, then it is cancelled, and no listener is left', async () => {
      const { adapter, calls } = inProcess()
      const { api, minted } = await waitingWorld(adapter)
      const signal = new GenericSignal()
      const add = jest.spyOn(signal, 'addEventListener')
      const remove = jest.spyOn(signal, 'removeEventListener')
      const request = watch(api.get('/', options(signal)))
      await settle()
      signal.abort()
      await settle()
      minted.release()
      expect([request.settled, axios.isCancel(await failureOf(request.promise))]).toEqual([true, true])
      expect(calls).toHaveLength(0)
      expect(remove.mock.calls).toEqual(add.mock.calls)
    })

    it.each([false, true])(
      'when it is aborted and the body is a stream, then the wait ends at once (with throwIfAborted: %p, F226)',
      async (isWhole) => {
        const { adapter, calls } = inProcess()
        const { api, minted } = await waitingWorld(adapter)
        const signal = Object.assign(new GenericSignal(), isWhole && { throwIfAborted: () => {} })
        const request = watch(api.post('/', new PassThrough(), options(signal)))
        await settle()
        signal.abort()
        await settle()
        expect(request.settled).toBe(true)
        expect(axios.isCancel(await failureOf(request.promise))).toBe(true)
        minted.release()
        expect(calls).toHaveLength(0)
      },
    )

    it.each([false, true])(
      'when it is a plain object, of which axios sends a copy, then its abort ends the wait (with throwIfAborted: %p, F226)',
      async (isWhole) => {
        const { adapter, calls } = inProcess()
        const { api, minted } = await waitingWorld(adapter)
        const listeners: (() => void)[] = []
        const addEventListener = (_: string, listener: () => void) => void listeners.push(listener)
        const plain = { aborted: false, addEventListener, removeEventListener() {} }
        const signal = { ...plain, ...(isWhole && { throwIfAborted() {} }) }
        const request = watch(api.post('/', 'text', options(signal)))
        await settle()
        for (const listener of listeners) listener()
        await settle()
        expect(request.settled).toBe(true)
        expect(axios.isCancel(await failureOf(request.promise))).toBe(true)
        minted.release()
        expect(calls).toHaveLength(0)
      },
    )

    it('when it accepts no listeners, then a waiting request succeeds', async () => {
      const { adapter, calls } = inProcess()
      const { api, minted } = await waitingWorld(adapter)
      const request = api.get('/', options({ aborted: false }))
      minted.release()
      await request
      expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer token-1'])
    })
  },
)

describe('given a slow response that rejects the token', () => {
  it.each(['AbortSignal', 'GenericSignal', 'cancelToken'])(
    'when the request is cancelled by a %s before the response, then there is no renewal and no replay',
    async (by) => {
      const { tokens, minted } = startTokens()
      const answer = gate()
      const { adapter, calls } = inProcess(() => 401)
      // Some adapters ignore signals.
      const slow: AxiosAdapter = (config) => answer.opened.then(() => adapter(config))
      const api = axios.create({ adapter: slow, baseURL: 'https://api.example.com' })
      attachBearer(api, tokens)
      await tokens.getAccessToken()
      const controller = by === 'GenericSignal' ? new GenericSignal() : new AbortController()
      const { token: cancelToken, cancel } = axios.CancelToken.source()
      const signal = (controller instanceof GenericSignal ? controller : controller.signal) as AbortSignal
      const failed = failureOf(api.get('/', by === 'cancelToken' ? { cancelToken } : { signal }))
      if (by === 'cancelToken') cancel()
      else controller.abort()
      answer.open()
      expect(axios.isCancel(await failed)).toBe(true)
      expect([calls.length, minted.calls]).toEqual([1, 1])
    },
  )
})

describe.each(ADAPTERS)(
  'given a request that waits for its first token and again for its replay (%s adapter)',
  (adapter) => {
    it('when both waits together take its timeout, then the 401 surfaces at that moment', async () => {
      const { clock, server, api, minted, tokens } = await waitingWorld(adapter, rejecting('token-1'))
      const request = watch(api.get('/', { timeout: 1_000 }))
      await clock.advance(600)
      minted.release()
      await until(() => tokens.status().phase === 'fresh')
      minted.hold()
      await until(() => minted.calls === 2) // the token was rejected, and the request waits again, with 400 ms left
      await clock.advance(399)
      expect(request.settled).toBe(false)
      await clock.advance(1)
      expect(await failureOf(request.promise)).toMatchObject({ name: 'AxiosError', status: 401 })
      expect(server.bearers).toEqual(['Bearer token-1'])
      minted.release()
    })

    it('when they take less, then the request succeeds', async () => {
      const { clock, server, api, minted, tokens } = await waitingWorld(adapter, rejecting('token-1'))
      const request = api.get('/', { timeout: 1_000 })
      await clock.advance(600)
      minted.release()
      await until(() => tokens.status().phase === 'fresh')
      minted.hold()
      await until(() => minted.calls === 2)
      await clock.advance(399)
      minted.release()
      expect((await request).status).toBe(200)
      expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
    })

    it('when the manager allows a shorter wait than its timeout, then that is the budget', async () => {
      const clock = manualClock()
      const server = await startApi(rejecting('token-1'))
      const { minted } = startTokens({ clock })
      const tokens = managerOf(minted.source, { clock, renewal: { maxWaitMs: 1_000 } })
      const api = axios.create({ adapter, baseURL: server.baseUrl })
      attachBearer(api, tokens)
      minted.hold()
      const request = watch(api.get('/', { timeout: 5_000 }))
      await clock.advance(600)
      minted.release()
      await until(() => tokens.status().phase === 'fresh')
      minted.hold()
      await until(() => minted.calls === 2)
      await clock.advance(399)
      expect(request.settled).toBe(false)
      await clock.advance(1)
      expect(await failureOf(request.promise)).toMatchObject({ name: 'AxiosError', status: 401 })
      minted.release()
    })

    it.each(['signal', 'cancelToken'])(
      'when it is cancelled by its %s in the second wait, then it rejects with the cancellation',
      async (by) => {
        const { server, api, minted, tokens } = await waitingWorld(adapter, rejecting('token-1'))
        const controller = new AbortController()
        const { token: cancelToken, cancel } = axios.CancelToken.source()
        const request = api.get('/', by === 'signal' ? { signal: controller.signal } : { cancelToken })
        minted.release()
        await until(() => tokens.status().phase === 'fresh')
        minted.hold()
        await until(() => minted.calls === 2)
        if (by === 'signal') controller.abort()
        else cancel()
        expect(axios.isCancel(await failureOf(request))).toBe(true)
        minted.release()
        await until(() => !tokens.status().renewing)
        expect(await tokens.getAccessToken()).toBe('token-2')
        expect(server.bearers).toEqual(['Bearer token-1'])
      },
    )
  },
)

describe('given a timeout and the waiting budget of the manager', () => {
  it.each([
    [999, 'ECONNABORTED'],
    [1_001, 'ERR_WAIT_TIMEOUT'],
  ])(
    'when the timeout is %d ms and the budget 1000, then the shorter one determines the error: %s (F97)',
    async (timeout, code) => {
      const clock = manualClock()
      const { minted } = startTokens({ clock })
      const tokens = managerOf(minted.source, { clock, renewal: { maxWaitMs: 1_000 } })
      minted.hold()
      const api = axios.create({ adapter: inProcess().adapter, baseURL: 'https://api.example.com', timeout })
      attachBearer(api, tokens)
      const request = watch(api.get('/'))
      await clock.advance(Math.min(timeout, 1_000) - 1)
      expect(request.settled).toBe(false)
      await clock.advance(1)
      expect(request.settled).toBe(true)
      expect(await failureOf(request.promise)).toMatchObject({ code })
      minted.release()
    },
  )

  it('when the token is within its hard window, then a request uses it before its timeout ends', async () => {
    const clock = manualClock()
    const server = await startApi()
    const { tokens, minted } = startTokens({ clock })
    const api = axios.create({ baseURL: server.baseUrl, timeout: 30_000 })
    attachBearer(api, tokens)
    await api.get('/')
    await clock.advance(44_000)
    minted.hold()
    await clock.advance(13_500) // the token has 2.5 s left; its hard window is 3 s
    const request = watch(api.get('/'))
    await clock.advance(1_499)
    expect(request.settled).toBe(false)
    await clock.advance(1)
    await request.promise
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-1'])
    minted.release()
  })
})

describe('given a manager made by hand that implements only the interface', () => {
  /** Waits until the signal aborts, as the interface requires, and has no other limit. */
  const tokens = {
    peekAccessToken: () => undefined,
    getAccessToken: ({ signal }: { signal?: AbortSignal } = {}) =>
      new Promise<string>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      }),
    replaceAccessToken: async () => 'other',
  } as unknown as TokenManager

  it('when a request has a timeout, then it fails in time', async () => {
    jest.useFakeTimers()
    const api = axios.create({ adapter: inProcess().adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    const failed = failureOf<AxiosError>(api.get('/', { timeout: 500 }))
    await jest.advanceTimersByTimeAsync(500)
    const timers = jest.getTimerCount()
    jest.useRealTimers()
    const message = 'No access token was available within the time that this caller can wait'
    expect(await failed).toMatchObject({ isAxiosError: true, code: 'ECONNABORTED', cause: { message } })
    expect(timers).toBe(0)
  })

  it('when a request has a signal and is aborted, then it is cancelled', async () => {
    const api = axios.create({ adapter: inProcess().adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    const controller = new AbortController()
    const failed = failureOf(api.get('/', { signal: controller.signal }))
    controller.abort()
    expect(axios.isCancel(await failed)).toBe(true)
  })
})

/** Invalid values that a manager made by hand may return instead of a token. */
const UNUSABLE: [what: string, token: unknown, got: string][] = [
  ['undefined', undefined, 'undefined'],
  ['null', null, 'null'],
  ['an empty string', '', 'an empty string'],
  ['a number', 42, 'number'],
  ['an object', { accessToken: 'canary' }, 'object'],
  ['a string with a line break', 'canary\r\nX-Evil: 1', 'others'],
  ['a string with a space', 'canary canary', 'others'],
  ['a string beyond ASCII', 'canär', 'others'],
]

describe.each(UNUSABLE)('given a manager made by hand whose token is %s', (_, token, got) => {
  const rejecting = { peekAccessToken: () => 'good', getAccessToken: async () => 'good' }
  const made = (members: object) => ({ replaceAccessToken: async () => 'other', ...members }) as unknown as TokenManager

  it.each<[string, TokenManager, number]>([
    ['it has waited for', made({ peekAccessToken: () => undefined, getAccessToken: async () => token }), 0],
    ['it finds at hand', made({ peekAccessToken: () => token ?? null, getAccessToken: async () => token }), 0],
    ['must use to replace a rejected one', made({ ...rejecting, replaceAccessToken: async () => token }), 1],
  ])('when that is what a request %s, then it is not sent (F170)', async (place, tokens, sent) => {
    const { adapter, calls } = inProcess(() => 401)
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    const error = await failureOf(api.get('/'))
    expect(calls.map(({ authorization }) => authorization)).toEqual(Array(sent).fill('Bearer good'))
    // The caller gets the response of the API, which is more useful than our error.
    if (place.includes('replace')) expect(error).toMatchObject({ status: 401 })
    else expect(error).toBeInstanceOf(TypeError)
    const given = token === undefined && place.includes('at hand') ? 'null' : got
    const message = `AccessToken of the token manager must return a token of visible ASCII characters, got ${given}`
    if (!place.includes('replace')) expect(error.message).toContain(message)
    expect(error.message).not.toMatch(/can/)
  })
})

describe('given a manager made by hand that ignores signals', () => {
  const never = () => new Promise<string>(() => undefined)

  it.each(['signal', 'cancelToken'])(
    'when a request is cancelled by its %s, then its wait ends at once (F170)',
    async (by) => {
      const tokens = { peekAccessToken: () => undefined, getAccessToken: never, replaceAccessToken: never }
      const { adapter, calls } = inProcess()
      const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
      attachBearer(api, tokens as unknown as TokenManager)
      const controller = new AbortController()
      const { token: cancelToken, cancel } = axios.CancelToken.source()
      const request = watch(api.get('/', by === 'signal' ? { signal: controller.signal } : { cancelToken }))
      await settle()
      if (by === 'signal') controller.abort()
      else cancel()
      await settle()
      expect([request.settled, axios.isCancel(await failureOf(request.promise))]).toEqual([true, true])
      expect(calls).toEqual([])
    },
  )

  it('when no replacement for a rejected token arrives, and the request is cancelled, then it rejects at once (F170)', async () => {
    const tokens = { peekAccessToken: () => 'good', getAccessToken: never, replaceAccessToken: never }
    const { adapter, calls } = inProcess(() => 401)
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens as unknown as TokenManager)
    const controller = new AbortController()
    const request = watch(api.get('/', { signal: controller.signal }))
    await settle()
    controller.abort()
    await settle()
    expect([request.settled, axios.isCancel(await failureOf(request.promise)), calls.length]).toEqual([true, true, 1])
  })
})
