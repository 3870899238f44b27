import { Agent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import axios, {
  type AxiosAdapter,
  AxiosHeaders,
  type AxiosRequestConfig,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
} from 'axios'
import { snapshotConfig } from '../../src/axios/config-snapshot.ts'
import { sendWithToken } from '../../src/axios/bearer-adapter.ts'
import {
  concealAgents,
  concealError,
  concealRequest,
  concealResponse,
  withHiddenRequest,
} from '../../src/axios/concealment.ts'
import { discard } from '../../src/axios/discard.ts'
import { noting } from '../../src/axios/adapter-beneath.ts'
import { LateCheck } from '../../src/axios/late-check.ts'
import { memberOf } from '../../src/axios/member-of.ts'
import { addressOf } from '../../src/axios/origin-scope.ts'
import { trailTo } from '../../src/axios/redirects.ts'
import { errorForRequest } from '../../src/axios/request-error.ts'
import { checkForbidsRedirects, sendWithoutRedirects } from '../../src/axios/without-redirects.ts'
import type { WaitLimits } from '../../src/client/token-access.ts'
import { attachBearer, type AttachOptions } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { inProcess } from './support/in-process.ts'
import { startTokens } from './support/tokens.ts'

/** A function that records its arguments. */
function noted(then: () => unknown = () => undefined) {
  const calls: unknown[][] = []
  return Object.assign((...given: unknown[]) => (calls.push(given), then()), { calls })
}

/** Like Node's request: it holds its headers. */
class Sent {
  readonly headers = { authorization: 'Bearer secret' }
  readonly method = 'GET'
  readonly path = '/a'
}
const PRINTED = 'Request GET /a'

describe('given a response whose request must not be printed', () => {
  it('then the result is a copy whose request exists, can be replaced, and is not enumerable', () => {
    const request = new Sent()
    const response = { status: 200, request, data: 'a' }
    const reported = withHiddenRequest(response)
    expect(reported).not.toBe(response)
    expect(reported.request).toBe(request)
    expect(Object.keys(reported)).toEqual(['status', 'data'])
    expect(Object.getOwnPropertyDescriptor(reported, 'request')).toMatchObject({ writable: true, configurable: true })
  })

  it.each([
    ['of its own class', Object.assign(new Sent(), { request: new Sent() })],
    ['without a request', { status: 200 }],
    ['null', null],
    ['nothing', undefined],
    ['text', 'ok'],
  ])('when it is %s, then it is returned unchanged', (_, response) => {
    expect(withHiddenRequest<unknown>(response)).toBe(response)
  })

  it('when its body is a stream, then errors of that stream are concealed too, and still crash the process', () => {
    const data = new Readable({ read: () => undefined })
    concealResponse({ data }, 'authorization', {})
    const request = new Sent()
    const error = Object.assign(new Error('broken'), { request })
    expect(() => data.emit('error', error)).toThrow('broken')
    expect(Object.keys(error)).not.toContain('request')
  })

  it('when its body has `on`, but no monitor, then no listener is added', () => {
    const data = { on: noted() }
    concealResponse({ data }, 'authorization', {})
    expect(data.on.calls).toEqual([])
  })

  it.each([[null], [{}], ['text']])('when its body is %j, then nothing happens', (data) => {
    expect(() => concealResponse({ data }, 'authorization', {})).not.toThrow()
  })
})

describe('given an error that holds the token', () => {
  it('then none of its causes holds the token any longer', () => {
    const holders = [0, 1, 2, 3].map(() => ({ config: { headers: { Authorization: 'Bearer secret' } } }))
    const [first, second, third, fourth] = holders
    const error = { ...first, cause: { ...second, cause: { ...third, cause: fourth } } }
    concealError(error, 'authorization', {})
    expect(JSON.stringify(holders)).not.toContain('secret')
  })

  it('when it is its own cause, then concealing ends', () => {
    const error: { cause?: unknown } = {}
    error.cause = error
    expect(() => concealError(error, 'authorization', {})).not.toThrow()
  })

  it('when its headers are those of the request, then they stay, because they never held the token', () => {
    const headers = { Authorization: 'of the caller' }
    concealError({ config: { headers } }, 'authorization', headers)
    expect(headers).toEqual({ Authorization: 'of the caller' })
  })

  it.each(['_redirectable', '_currentRequest'])(
    'when its request refers to another request as %s, then that one prints no headers',
    (name) => {
      const other = new Sent()
      concealError({ request: { [name]: other } }, 'authorization', {})
      expect(JSON.stringify(other)).toBe(JSON.stringify(PRINTED))
    },
  )
})

describe('given a request of Node or fetch', () => {
  it('when it rejects assignment, because it inherits a frozen member, then it prints no headers anyway', () => {
    const request = Object.create(Object.freeze(Object.assign(new Sent(), { toJSON: () => 'all' }))) as Sent
    concealRequest(request)
    expect([JSON.stringify(request), inspect(request)]).toEqual([JSON.stringify(PRINTED), PRINTED])
    expect(Object.getOwnPropertyDescriptor(request, 'toJSON')).toMatchObject({ configurable: true })
  })

  it('when it already prints no headers, then nothing is written', () => {
    const request = new Sent()
    concealRequest(request)
    const written: unknown[] = []
    const set = (_: object, name: string | symbol) => written.push(name) > 0
    concealRequest(new Proxy(request, { set }))
    expect(written).toEqual([])
  })

  it('when an object has no headers, then it is not a request, and is left alone', () => {
    const object = { method: 'GET' }
    concealRequest(object)
    expect(JSON.stringify(object)).toBe('{"method":"GET"}')
  })

  it('then an agent is a single word in JSON, unless it has its own toJSON', () => {
    const agent = new Agent()
    concealAgents({ httpAgent: agent })
    expect(JSON.stringify({ agent })).toBe('{"agent":"Agent"}')
    expect(Object.getOwnPropertyDescriptor(agent, 'toJSON')).toMatchObject({ configurable: true, enumerable: false })
    const own = { toJSON: () => 'own' }
    concealAgents({ httpsAgent: own })
    expect(JSON.stringify(own)).toBe('"own"')
    expect([inspect(agent), inspect(own)]).toEqual(['Agent', 'Object'])
  })

  it('then the agent that axios has made for a proxy is hidden with its first response (F415)', () => {
    const agent = new Agent()
    concealResponse({ request: { agent, getHeader: () => undefined } }, 'authorization', {})
    expect(inspect({ agent })).toBe('{ agent: Agent }')
  })
})

describe('given a response that no caller reads', () => {
  it('when its body is a wrapped Node stream, then wrapper and socket are closed', () => {
    const data = { destroy: noted() }
    const request = { destroy: noted() }
    discard({ data, request } as never)
    expect([data.destroy.calls.length, request.destroy.calls.length]).toEqual([1, 1])
  })

  it('when its body is a fetch stream, then it is cancelled, even if the cancellation rejects', () => {
    const data = { cancel: noted(() => Promise.reject(new Error('locked'))) }
    discard({ data } as never)
    expect(data.cancel.calls).toHaveLength(1)
  })

  it.each([[null], [undefined], ['text'], [{ destroy: 'not a function' }]])(
    'when its body is %j, then nothing happens',
    (data) => {
      expect(() => discard({ data } as never)).not.toThrow()
    },
  )
})

describe('given a member of a config', () => {
  const polluted = <Value>(name: string, look: () => Value): Value => {
    Reflect.set(Object.prototype, name, 'polluted')
    try {
      return look()
    } finally {
      Reflect.deleteProperty(Object.prototype, name)
    }
  }

  it('when Object.prototype has it, then only the own member of the config counts', () => {
    const own: { baseURL?: string } = { baseURL: '/own' }
    const inheriting = Object.create({ baseURL: '/inherited' }) as typeof own
    const read = (from: typeof own) => polluted('baseURL', () => memberOf(from, 'baseURL'))
    expect([read(own), read({}), read(inheriting)]).toEqual(['/own', undefined, undefined])
  })

  it('when it is inherited from another object, then that value counts', () => {
    expect(memberOf(Object.create({ baseURL: '/inherited' }) as { baseURL?: string }, 'baseURL')).toBe('/inherited')
  })
})

describe('given the params of a request that may wait', () => {
  const headers = {}
  it.each<[boolean, unknown]>([
    [false, undefined],
    [false, { a: 1 }],
    [false, { a: null }],
    [true, { a: 1, b: { c: 1 } }],
    [true, { a: [1] }],
    [true, new URLSearchParams('a=1')],
    [true, new Map()],
  ])('then their query is serialized at the call: %s, for %p', (isTaken, params) => {
    expect(snapshotConfig({ headers, params } as never) !== undefined).toBe(isTaken)
  })
})

describe('given the address of a request, as it appears in a proof', () => {
  const url = 'https://api.example.com/a'
  it.each([
    [url, { url: `${url}#part` }],
    [`${url}?b=1`, { url, params: { b: 1 } }],
    [`${url}?own`, { url, params: { b: 1 }, paramsSerializer: { serialize: () => 'own' } }],
    [url, { baseURL: url }],
    [undefined, { url: 'http://' }],
  ])('then it is %s, for %j', (address, config) => {
    expect(addressOf(config as never)).toBe(address)
  })
})

describe('given the redirects of a request', () => {
  const url = 'https://api.example.com/a'
  it.each([
    [`${url}/b`, undefined, 'within'],
    [`${url}/b`, 'within', 'within'],
    ['https://other.example/', 'within', 'away'],
    [`${url}/b`, 'away', 'away'],
  ] as const)('when a redirect leads to %s after %s, then the trail is %s', (href, before, trail) => {
    expect(trailTo({ url } as never, href, before)).toBe(trail)
  })
})

describe('given a check that must run just before the adapter is chosen', () => {
  it.each([
    ['no transforms', undefined, 1],
    ['one transform', (data: unknown) => data, 2],
    ['a list of transforms', [(data: unknown) => data], 2],
  ])('when a request has %s, then the check runs last', (_, transformRequest, count) => {
    const look = noted()
    const config = { transformRequest } as never as { transformRequest: ((data: unknown) => unknown)[] }
    new LateCheck(look).at(config as never)
    expect(config.transformRequest).toHaveLength(count)
    config.transformRequest.at(-1)!.call(config, 'body')
    expect(look.calls).toEqual([[config, false]])
    expect(config.transformRequest).toHaveLength(count - 1)
  })

  it('then the observed adapter keeps its name', () => {
    const adapter = Object.assign(() => Promise.reject(new Error()), { adapterName: 'http' })
    expect(noting(adapter, { header: 'Authorization', hasCalledOurs: false })).toHaveProperty('adapterName', 'http')
  })
})

describe('given a request that follows no redirects', () => {
  const opaque = () => Promise.resolve({ status: 0, request: {} } as never)
  const send = (prover?: object) => sendWithoutRedirects(opaque, {} as never, { header: 'X-Token', prover } as never)

  it('when a browser receives a redirect, then the error says why it is not followed', async () => {
    await expect(send()).rejects.toThrow('is not followed because the token is in the header X-Token')
    await expect(send({})).rejects.toThrow('is not followed because the proof of dpop is for one address')
  })

  it('when the adapter cannot disable redirects, then the error says what to do', () => {
    const xhr = { adapterName: 'xhr' }
    const binding = { header: 'X-Token', prover: undefined }
    expect(() => checkForbidsRedirects(xhr, binding)).toThrow(
      "set adapter: 'fetch' on the instance, or send it as Authorization",
    )
    expect(() => checkForbidsRedirects({ adapterName: 'http' }, binding)).not.toThrow()
  })
})

describe('given an error for one request', () => {
  it('when the reason is not an Error, then an AxiosError says so, and has it as its cause', () => {
    const error = errorForRequest('a text', { url: '/a' } as never)
    expect(error).toMatchObject({ isAxiosError: true, config: { url: '/a' }, cause: 'a text' })
    expect(error.message).toBe('A custom token manager or option threw a value that is not an Error')
  })

  it('then retry libraries leave it alone, and the members that stop them are not printed', () => {
    const own = { raxConfig: { retry: 5, noResponseRetries: 2 }, 'axios-retry': { retries: 3 } }
    const { config } = errorForRequest(new Error('no token'), own as never) as Error & { config: typeof own }
    expect(config.raxConfig).toEqual({ retry: 0, noResponseRetries: 2 })
    expect(config['axios-retry']).toMatchObject({ retries: 3, retryCondition: expect.any(Function) as never })
    expect(Object.keys({ ...config })).toEqual([])
    expect(Object.getOwnPropertyDescriptor(config, 'raxConfig')).toMatchObject({ writable: true, configurable: true })
    expect(own.raxConfig.retry).toBe(5)
  })
})

describe('given the time that a request may wait', () => {
  const clock = manualClock()
  /** Each wait takes `tookMs`. @returns how long each wait may take, and how the last one ended */
  async function waits(config: object, ...tookMs: number[]) {
    const allowed: (number | undefined)[] = []
    const left = [...tookMs]
    const get = async ({ maxWaitMs }: WaitLimits) => {
      allowed.push(maxWaitMs)
      await clock.advance(left.shift()!)
      return 'token'
    }
    const access = {
      clock,
      maxWaitMs: 500,
      get,
      peek: () => undefined,
      hasEnded: () => left.length > 0,
      firstGeneration: () => 0,
    }
    const bearer = { access, header: 'Authorization', name: 'authorization', text: String, refuses: () => false }
    const adapter: AxiosAdapter = ({ headers }) =>
      Promise.resolve({ status: 200, data: headers.Authorization } as never)
    const sent = sendWithToken({ headers: new AxiosHeaders(), ...config }, adapter, bearer as never, undefined)
    const ended: unknown = await sent.then(
      ({ data }) => data as unknown,
      (error: unknown) => error,
    )
    return { allowed, ended }
  }

  it.each([
    [{}, [500]],
    [{ timeout: 0 }, [500]],
    [{ timeout: 300 }, [300]],
    [{ timeout: 700 }, [500]],
  ])('when its config has %j, then it may wait %j ms', async (config, expected) => {
    expect((await waits(config, 1)).allowed).toEqual(expected)
  })

  it('when it waits again, then only the remaining time is allowed, down to 0', async () => {
    expect((await waits({ timeout: 900 }, 200, 400, 1)).allowed).toEqual([500, 300, 0])
  })

  it('when the token arrives in the last millisecond of its timeout, then the request uses it', async () => {
    expect((await waits({ timeout: 300 }, 300)).ended).toBe('token')
  })

  it('when the token arrives later, then the error is that of axios, with the reason as its cause', async () => {
    const { ended } = await waits({ timeout: 300 }, 301)
    expect(ended).toMatchObject({ code: 'ECONNABORTED', cause: { code: 'ERR_WAIT_TIMEOUT' } })
    expect((ended as Error).cause).toHaveProperty('message', 'The token arrived too late for this request')
    const members = Object.getOwnPropertyDescriptor(ended, 'cause')
    expect(members).toMatchObject({ writable: true, configurable: true, enumerable: false })
  })

  it('when its body has `on`, but is not a stream, then no listener is added', async () => {
    const data = { on: noted() }
    expect((await waits({ data }, 1)).ended).toBe('token')
    expect(data.on.calls).toEqual([])
  })
})

describe('given the config of a request with a token, as an adapter sees it', () => {
  const baseURL = 'https://api.example.com'
  const callAdapter = async (config: AxiosRequestConfig, options: AttachOptions = {}) => {
    const seen: InternalAxiosRequestConfig[] = []
    const adapter: AxiosAdapter = (given) => {
      seen.push({ ...given, headers: Object.assign(new AxiosHeaders(), given.headers) })
      return Promise.resolve({ status: 200, statusText: '', data: '', config: given } as AxiosResponse)
    }
    const api = axios.create({ baseURL, adapter })
    attachBearer(api, startTokens().tokens, options)
    const answer = await api.get('/', config)
    return { seen: seen[0]!, answer }
  }

  it('when there is no prover, then there is no proof, and a DPoP header of the caller is left alone', async () => {
    expect(Object.keys((await callAdapter({})).seen.headers)).not.toContain('DPoP')
    const { seen, answer } = await callAdapter({ headers: { DPoP: 'of the caller' } })
    expect([seen.headers.get('DPoP'), answer.config.headers.get('DPoP')]).toEqual(['of the caller', 'of the caller'])
  })

  it('when the token must not follow redirects, then redirects are not observed', async () => {
    expect((await callAdapter({}, { header: 'X-Token' })).seen).toMatchObject({ maxRedirects: 0 })
    expect((await callAdapter({}, { header: 'X-Token' })).seen.beforeRedirect).toBeUndefined()
    expect((await callAdapter({})).seen.beforeRedirect).toEqual(expect.any(Function))
  })

  it('when it has agents, then each is a single word in JSON', async () => {
    const agents = { httpAgent: new Agent(), httpsAgent: new HttpsAgent() }
    await callAdapter(agents)
    expect(JSON.stringify(agents)).toBe('{"httpAgent":"Agent","httpsAgent":"Agent"}')
  })
})

describe('given an API with hand-made responses', () => {
  it('when a rejection has no headers, then it is replayed like any other', async () => {
    const seen: unknown[] = []
    const adapter: AxiosAdapter = (config) => {
      seen.push(config.headers.get('Authorization'))
      return Promise.resolve({
        status: seen.length === 1 ? 401 : 200,
        statusText: '',
        data: '',
        config,
      } as AxiosResponse)
    }
    const api = axios.create({ baseURL: 'https://api.example.com', adapter })
    attachBearer(api, startTokens().tokens)
    expect((await api.get('/')).status).toBe(200)
    expect(seen).toEqual(['Bearer token-1', 'Bearer token-2'])
  })
})

describe('given requests that are sent without a token', () => {
  async function reported(...requests: AxiosRequestConfig[]) {
    const api = axios.create({ adapter: inProcess().adapter })
    const origins = ['https://one.example.com', 'https://two.example.com']
    const managers = [startTokens({ name: 'one' }).tokens, startTokens({ name: 'two' }).tokens]
    const anomalies: string[] = []
    for (const tokens of managers) tokens.on('anomaly', ({ message }) => anomalies.push(message))
    attachBearer(api, managers[0]!, { origins: [origins[0]!] })
    attachBearer(api, managers[1]!, { origins: [origins[1]!], header: 'X-Token' })
    for (const request of requests) await api.request(request)
    return anomalies
  }

  it('when one has no origin, then both managers report it once', async () => {
    const message =
      'A request to an address without an origin went out without a token: only https://one.example.com, https://two.example.com may have it'
    expect(await reported({ url: '/a' }, { url: '/b' })).toEqual([message, message])
  })

  it("when one has its own token in either manager's header, then neither manager reports it", async () => {
    const url = 'https://elsewhere.example.com/'
    const own = [{ Authorization: 'own' }, { 'X-Token': 'own' }].map((headers) => ({ url, headers }))
    expect(await reported(...own)).toEqual([])
    expect(await reported({ url })).toHaveLength(2)
  })
})
