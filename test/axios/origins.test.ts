import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import axios, { type AxiosRequestConfig } from 'axios'
import nock from 'nock'
import { attachBearer, type AttachOptions } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'
import { startApi } from './support/api-server.ts'
import { inProcess } from './support/in-process.ts'
import { managerOf, mint, startTokens } from './support/tokens.ts'
import { failureOf } from './support/turns.ts'

/** @returns Kind and message of all anomalies. The manager reports them after the request that caused them. */
async function reported(anomalies: readonly { kind: string; message: string }[]): Promise<[string, string][]> {
  await settle()
  return anomalies.map(({ kind, message }) => [kind, message])
}

describe.each(['http', 'fetch'] as const)('given an instance with an https address (%s adapter)', (adapter) => {
  const sent: { origin: string; path: string; authorization: string | undefined }[] = []

  beforeAll(() => {
    nock.restore()
    nock.activate()
    nock.disableNetConnect()
  })
  afterEach(() => {
    nock.abortPendingRequests()
    nock.cleanAll()
    sent.length = 0
  })
  afterAll(() => {
    nock.enableNetConnect()
    nock.restore()
  })

  /** Makes every host respond, and records where each request went. */
  function everyHostAnswers(): void {
    for (const origin of [/^https:\/\//, /^http:\/\//])
      nock(origin)
        .persist()
        .get(/.*/)
        .reply(function (path) {
          const { authorization, host } = this.req.headers as Record<string, string | string[] | undefined>
          const { protocol } = (this.req as unknown as { options: { protocol: string } }).options
          sent.push({ origin: `${protocol}//${String(host)}`, path, authorization: authorization?.toString() })
          return [200, { ok: true }]
        })
  }

  const home = 'https://api.example.com'

  it.each([
    ['/wallet', '/v1/wallet'],
    ['wallet', '/v1/wallet'],
    ['', '/v1'],
    ['https://api.example.com/wallet', '/wallet'],
    ['HTTPS://API.EXAMPLE.COM/wallet', '/wallet'],
    ['https://api.example.com:443/wallet', '/wallet'],
    ['https://ａｐｉ.example.com/wallet', '/wallet'],
    ['\\\\evil.test/wallet', undefined],
    ['/\\evil.test/wallet', undefined],
    ['@evil.test/wallet', undefined],
    ['.evil.test/wallet', undefined],
    [':8443/wallet', undefined],
    ['/a//b', '/v1/a//b'],
    ['/redirect?to=https://evil.test/', '/v1/redirect?to=https://evil.test/'],
    ['evil.test://wallet', undefined],
  ])(
    'when a request goes to %s, then it reaches the own origin with the token, or no server (F107)',
    async (url, path) => {
      everyHostAnswers()
      const api = axios.create({ adapter, baseURL: `${home}/v1` })
      attachBearer(api, startTokens().tokens)
      await api.get(url).catch(() => undefined)
      expect(sent.filter(({ origin }) => origin !== home)).toEqual([])
      if (path !== undefined) expect(sent).toEqual([{ origin: home, path, authorization: 'Bearer token-1' }])
    },
  )

  it.each([
    'https://evil.test/',
    'https://example.com/',
    'https://sub.api.example.com/',
    'https://api.example.com.evil.test/',
    'https://api.example.com./',
    'https://api.example.com:8443/',
    'http://api.example.com/',
    'http://api.example.com:443/',
    'https://api.example.com@evil.test/',
    'https://api.example.com:443@evil.test/',
    'https://api.example.com%2eevil.test/',
    'https://api.example.com\t.evil.test/',
    'https://evil.test\\@api.example.com/',
    'https://evil.test#@api.example.com/',
    'https://evil.test/?https://api.example.com/',
    'https://аpi.example.com/',
    'https://api.example.соm/',
    'https://xn--pi-7cc.example.com/',
    'https://api。example。com.evil.test/',
    'https://[::1]/',
    'https://user@api.example.com/',
    'https://:pass@api.example.com/',
    '//evil.test/wallet',
    '///evil.test/wallet',
    '//api.example.com/wallet',
  ])('when a request goes to %s, then no token is sent (F107)', async (url) => {
    everyHostAnswers()
    const { tokens, minted } = startTokens()
    const api = axios.create({ adapter, baseURL: home })
    attachBearer(api, tokens)
    await api.get(url).catch(() => undefined)
    expect(sent.filter(({ authorization }) => authorization?.includes('token'))).toEqual([])
    expect(minted.calls).toBe(0)
  })

  it.each(['https:\\\\evil.test\\wallet', 'https:evil.test', 'https:/evil.test', 'HTTPS:evil.test'])(
    'when a request goes to the broken url %s, then axios rejects it, and nothing is sent',
    async (url) => {
      everyHostAnswers()
      const api = axios.create({ adapter, baseURL: home })
      attachBearer(api, startTokens().tokens)
      expect(await failureOf(api.get(url))).toMatchObject({ code: 'ERR_INVALID_URL' })
      expect(sent).toEqual([])
    },
  )

  it('when the host is international, then both of its spellings are the same origin', async () => {
    everyHostAnswers()
    const api = axios.create({ adapter, baseURL: 'https://bücher.example' })
    attachBearer(api, startTokens().tokens)
    await api.get('/1')
    await api.get('https://xn--bcher-kva.example/2')
    await api.get('https://BÜCHER.example/3')
    await api.get('https://bucher.example/4')
    expect(sent.map(({ authorization }) => authorization)).toEqual([
      ...Array<string>(3).fill('Bearer token-1'),
      undefined,
    ])
  })

  it('when absolute urls are not allowed, then they become paths of the baseURL, and the token is sent', async () => {
    everyHostAnswers()
    const api = axios.create({ adapter, baseURL: home, allowAbsoluteUrls: false })
    attachBearer(api, startTokens().tokens)
    await api.get('https://evil.test/wallet')
    await api.get('//evil.test/wallet')
    expect(sent.map(({ origin, authorization }) => [origin, authorization])).toEqual([
      [home, 'Bearer token-1'],
      [home, 'Bearer token-1'],
    ])
    // A request can override the setting of the instance.
    await api.get('https://evil.test/wallet', { allowAbsoluteUrls: true })
    expect(sent[2]).toMatchObject({ origin: 'https://evil.test', authorization: undefined })
  })

  it('when a host that is not loopback is requested over http, then no token is sent unless that is allowed', async () => {
    everyHostAnswers()
    const api = axios.create({ adapter, baseURL: home })
    attachBearer(api, startTokens().tokens)
    await api.get('http://api.example.com/1')
    const insecure = axios.create({ adapter, baseURL: 'http://api.example.com' })
    attachBearer(insecure, startTokens().tokens, { allowInsecureHttp: true })
    await insecure.get('/2')
    await insecure.get('https://api.example.com/3')
    expect(sent.map(({ path, authorization }) => [path, authorization])).toEqual([
      ['/1', undefined],
      ['/2', 'Bearer token-1'],
      ['/3', undefined],
    ])
  })
})

/** @returns The urls that received the token. */
async function reached(
  urls: readonly string[],
  {
    baseURL,
    sourceOrigin,
    ...options
  }: AttachOptions & { baseURL?: string | undefined; sourceOrigin?: string | undefined },
): Promise<string[]> {
  const { adapter, calls } = inProcess()
  const api = axios.create({ adapter, ...(baseURL !== undefined && { baseURL }) })
  const { source } = mint(sourceOrigin === undefined ? {} : { origin: sourceOrigin })
  attachBearer(api, managerOf(source), options)
  for (const url of urls) await api.get(url)
  return calls.flatMap(({ authorization, url }) => (authorization === undefined ? [] : [url!]))
}

describe('given the origins that may receive the token', () => {
  const [base, service, other] = ['https://api.example.com', 'https://auth.example.com', 'https://other.example.com']
  const urls = [`${base}/1`, `${service}/2`, `${other}/3`]

  it.each<[string, Parameters<typeof reached>[1], number[]]>([
    ['the baseURL and the source each have one', { baseURL: `${base}/v1`, sourceOrigin: service }, [0, 1]],
    ['only the baseURL has one', { baseURL: base }, [0]],
    ['only the source has one', { sourceOrigin: service }, [1]],
    ['the baseURL is a path', { baseURL: '/v1', sourceOrigin: service }, [1]],
    ['options name the same one twice', { baseURL: base, sourceOrigin: service, origins: [other] }, [2]],
    ['options name several', { baseURL: base, origins: [`${base}/`, new URL(other)] }, [0, 2]],
    ['options name one twice', { origins: [other, new URL(other), `${other}/`] }, [2]],
    ['options name one in another spelling', { origins: ['HTTPS://OTHER.example.com:443'] }, [2]],
    ['the source has an insecure origin', { baseURL: base, sourceOrigin: 'http://auth.example.com' }, [0]],
  ])('when %s, then exactly those receive the token (F106)', async (_, given, expected) => {
    expect(await reached(urls, given)).toEqual(expected.map((index) => urls[index]))
  })

  it('when baseURL is changed after attaching, then the token still goes to its previous origin only', async () => {
    const [server, other] = [await startApi(), await startApi()]
    const { tokens, anomalies } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await api.get('/1')
    api.defaults.baseURL = other.baseUrl
    await api.get('/2')
    await api.get(`${server.baseUrl}/3`)
    api.defaults.baseURL = server.baseUrl
    await api.get('/4')
    await api.get('/5', { baseURL: other.baseUrl })
    await api.get('/6')
    expect(server.received.map(({ url, headers }) => [url, headers.authorization])).toEqual(
      ['/1', '/3', '/4', '/6'].map((url) => [url, 'Bearer token-1']),
    )
    expect(other.bearers).toEqual([undefined, undefined])
    expect((await reported(anomalies)).map(([kind]) => kind)).toEqual(['origin-not-allowed'])
  })

  it.each([
    'http://api.example.com',
    'http://api.example.com:80',
    'http://10.0.0.1',
    'http://192.168.0.1:3000',
    'http://0.0.0.0',
    'http://[::2]',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://example.localhost.test',
    'http://api.localhost:3000',
  ])('when %s is among the options or the baseURL, then attaching throws unless that is allowed', async (insecure) => {
    const { tokens } = startTokens()
    expect(() => attachBearer(axios.create(), tokens, { origins: [insecure] })).toThrow(/^origins must be https/)
    expect(() => attachBearer(axios.create({ baseURL: insecure }), tokens)).toThrow(/^baseURL .*must be https/)
    expect(() => attachBearer(axios.create(), tokens, { origins: [insecure] })).toThrow(TypeError)
    expect(await reached([`${insecure}/1`], { origins: [insecure], allowInsecureHttp: true })).toHaveLength(1)
    expect(await reached([`${insecure}/1`], { baseURL: insecure, allowInsecureHttp: true })).toHaveLength(1)
  })

  it.each([
    'http://localhost:3000',
    'http://LOCALHOST',
    'http://127.0.0.1:8080',
    'http://127.8.9.10',
    'http://[::1]:3000',
  ])('when %s is, then attaching works, because the token does not leave this machine', async (loopback) => {
    expect(await reached([`${loopback}/1`], { origins: [loopback] })).toHaveLength(1)
    expect(await reached([`${loopback}/1`], { baseURL: loopback })).toHaveLength(1)
  })

  it('when the source has an insecure origin and that is allowed, then that origin receives the token', async () => {
    const insecure = 'http://auth.example.com'
    expect(await reached([insecure], { sourceOrigin: insecure, allowInsecureHttp: true })).toHaveLength(1)
    expect(() => attachBearer(axios.create(), managerOf(mint({ origin: insecure }).source))).toThrow(TypeError)
  })

  it('when a url is a URL object, then the token is sent', async () => {
    const server = await startApi()
    const api = axios.create()
    attachBearer(api, startTokens().tokens, { origins: [server.baseUrl] })
    await api.get(new URL(`${server.baseUrl}/1`) as never)
    expect(server.bearers).toEqual(['Bearer token-1'])
  })

  it.each([undefined, null])(
    'when a url is %p, then the request goes to the baseURL, as without this package',
    async (url) => {
      const server = await startApi()
      const api = axios.create({ baseURL: server.baseUrl })
      await api.get(url as never)
      attachBearer(api, startTokens().tokens)
      await api.get(url as never)
      expect(server.received.map((request) => [request.url, request.headers.authorization])).toEqual([
        ['/', undefined],
        ['/', 'Bearer token-1'],
      ])
    },
  )

  it('when a url has no origin, then axios throws the same error as without this package, and no token is requested', async () => {
    const { tokens, minted } = startTokens()
    const api = axios.create()
    const requests: AxiosRequestConfig[] = [{}, { url: '' }, { url: '/relative' }, { url: 'http://' }]
    const bare = await Promise.all(requests.map((request) => failureOf(api.request(request))))
    attachBearer(api, tokens, { origins: [base] })
    const attached = await Promise.all(requests.map((request) => failureOf(api.request(request))))
    expect(attached.map(({ message }) => message)).toEqual(bare.map(({ message }) => message))
    expect(minted.calls).toBe(0)
  })

  it('when the url is a data: url, then it is loaded without a token', async () => {
    const { tokens, minted } = startTokens()
    const api = axios.create({ adapter: 'http' })
    attachBearer(api, tokens, { origins: [base] })
    expect((await api.get<string>('data:text/plain,hello', { responseType: 'text' })).data).toBe('hello')
    expect(minted.calls).toBe(0)
  })
})

describe('given a request to an origin of no manager', () => {
  it('when it is sent, then one anomaly names that origin and the allowed ones (F106)', async () => {
    const [server, other] = [await startApi(), await startApi()]
    const { tokens, anomalies } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await api.get(`${other.baseUrl}/path?canary-query`)
    await api.get(`${other.baseUrl}/path`)
    expect(await reported(anomalies)).toEqual([['origin-not-allowed', expect.stringContaining(other.baseUrl)]])
    expect(anomalies[0]!.message).toContain(server.baseUrl)
    expect(anomalies[0]!.message).not.toContain('canary')
    expect(other.bearers).toEqual([undefined, undefined])
  })

  it('when the requests are more than a minute apart, then each origin is reported exactly once', async () => {
    const clock = manualClock()
    const { adapter } = inProcess()
    const { tokens, anomalies } = startTokens({ clock })
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    for (const host of ['one', 'two', 'one', 'two']) {
      await api.get(`https://${host}.test/`)
      await clock.advance(60_000)
    }
    expect((await reported(anomalies)).map(([, message]) => /https:\/\/\w+\.test/.exec(message)?.[0])).toEqual([
      'https://one.test',
      'https://two.test',
    ])
  })

  it('when two such origins are requested within a minute, then the second is reported at most a minute later', async () => {
    const clock = manualClock()
    const { adapter } = inProcess()
    const { tokens, anomalies } = startTokens({ clock })
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    await api.get('https://one.test/')
    await api.get('https://two.test/')
    await clock.advance(60_000)
    await api.get('https://two.test/')
    expect((await reported(anomalies)).map(([, message]) => /https:\/\/\w+\.test/.exec(message)?.[0])).toEqual([
      'https://one.test',
      'https://two.test',
    ])
  })

  it('when it has its own header, evergreen: false or auth, then no anomaly is reported', async () => {
    const { adapter } = inProcess()
    const { tokens, anomalies } = startTokens()
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    await api.get('https://one.test/', { headers: { Authorization: 'Own 1' } })
    await api.get('https://one.test/', { evergreen: false })
    await api.get('https://one.test/', { auth: { username: 'u', password: 'p' } })
    expect(await reported(anomalies)).toEqual([])
  })

  it('when hundreds of such origins are requested, then memory stays bounded and requests still work', async () => {
    const { adapter, calls } = inProcess()
    const { tokens, anomalies } = startTokens()
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    for (let n = 0; n < 200; n += 1) await api.get(`https://host-${n}.test/`)
    expect(calls.filter(({ authorization }) => authorization !== undefined)).toHaveLength(0)
    expect(await reported(anomalies)).toHaveLength(1)
  })

  it('when two managers are attached, then both report it', async () => {
    const { adapter } = inProcess()
    const [first, second] = [startTokens({ name: 'one' }), startTokens({ name: 'two' })]
    const api = axios.create({ adapter, baseURL: 'https://one.test' })
    attachBearer(api, first.tokens)
    attachBearer(api, second.tokens, { origins: ['https://two.test'] })
    await api.get('https://three.test/')
    expect((await reported(first.anomalies)).map(([kind]) => kind)).toEqual(['origin-not-allowed'])
    expect((await reported(second.anomalies)).map(([kind]) => kind)).toEqual(['origin-not-allowed'])
  })
})

describe('given a header that was added to the defaults after attaching', () => {
  it('when requests are sent, then they carry that header, and one anomaly reports it', async () => {
    const server = await startApi()
    const { tokens, anomalies, minted } = startTokens()
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await api.get('/')
    api.defaults.headers.common.Authorization = 'Old canary'
    await api.get('/')
    await api.get('/')
    expect(server.bearers).toEqual(['Bearer token-1', 'Old canary', 'Old canary'])
    expect(await reported(anomalies)).toEqual([['header-in-defaults', expect.stringContaining('Authorization')]])
    expect(anomalies[0]!.message).not.toContain('canary')
    expect(minted.calls).toBe(1)
    delete (api.defaults.headers.common as { Authorization?: string }).Authorization
    await api.get('/')
    expect(server.bearers[3]).toBe('Bearer token-1')
  })

  it.each(['post', 'get'] as const)(
    'when the header is a default of %s only, then only that method is affected',
    async (method) => {
      const server = await startApi()
      const { tokens, anomalies } = startTokens()
      const api = axios.create({ baseURL: server.baseUrl })
      attachBearer(api, tokens)
      Object.assign(api.defaults.headers[method], { authorization: 'Old canary' })
      await api.get('/')
      await api.post('/')
      expect(server.bearers).toEqual(
        method === 'get' ? ['Old canary', 'Bearer token-1'] : ['Bearer token-1', 'Old canary'],
      )
      expect((await reported(anomalies)).map(([kind]) => kind)).toEqual(['header-in-defaults'])
    },
  )
})
