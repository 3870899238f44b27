import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosInstance, AxiosHeaders } from 'axios'
import { attachBearer, type AttachOptions, type TokenManager } from '../../src/index.ts'
import { startApi } from './support/api-server.ts'
import { inProcess } from './support/in-process.ts'
import { managerOf, mint, startTokens } from './support/tokens.ts'

const baseURL = 'https://api.example.com'

/** @returns The message of the TypeError that `attachBearer` throws. */
function rejection(options: unknown, instance: unknown = axios.create({ baseURL }), tokens?: unknown): string {
  try {
    attachBearer(
      instance as AxiosInstance,
      (tokens ?? startTokens().tokens) as TokenManager,
      options as AttachOptions | undefined,
    )
  } catch (error) {
    // Checked by name, because the TypeErrors of Node's own URL come from another realm here.
    expect((error as Error).name).toBe('TypeError')
    return (error as Error).message
  }
  throw new Error('it was accepted')
}

describe('given an invalid argument', () => {
  const notInstances: unknown[] = [{}, { interceptors: {} }, { interceptors: { request: {} } }, { defaults: {} }]
  it.each([undefined, null, 42, 'axios', () => undefined, ...notInstances, axios.create().interceptors])(
    'when the instance is %p, then attaching throws a TypeError that names it',
    (instance) => {
      expect(() => attachBearer(instance as AxiosInstance, startTokens().tokens)).toThrow(TypeError)
      expect(() => attachBearer(instance as AxiosInstance, startTokens().tokens)).toThrow(/instance/)
    },
  )

  const methods = { peekAccessToken: () => 't', getAccessToken: async () => 't', replaceAccessToken: async () => 't' }

  it.each([undefined, null, 42, 'token', () => 'token'])(
    'when the manager is %p, then attaching throws a TypeError that names it',
    (tokens) => {
      const instance = axios.create({ baseURL })
      expect(() => attachBearer(instance, tokens as unknown as TokenManager)).toThrow(TypeError)
      expect(() => attachBearer(instance, tokens as unknown as TokenManager)).toThrow(/tokens/)
    },
  )

  it.each(Object.keys(methods))('when the manager has no %s, then attaching throws a TypeError that names it', (name) =>
    expect(rejection({}, undefined, { ...methods, [name]: undefined })).toContain(name),
  )

  it('when a token source is given instead of a manager, then attaching throws a TypeError', () =>
    expect(rejection({}, undefined, mint().source)).toContain('tokens'))

  it.each([null, 42, 'https://api.example.com', () => undefined])(
    'when the options are %p, then attaching throws a TypeError that says so',
    (options) => expect(rejection(options)).toContain('options'),
  )

  it.each<[string, unknown]>([
    ['origins', 'https://api.example.com'],
    ['origins', new URL('https://api.example.com')],
    ['origins', {}],
    ['origins', null],
    ['origins', 42],
    ['origins', []],
    ['origins', [undefined]],
    ['origins', [null]],
    ['origins', [42]],
    ['origins', [{}]],
    ['origins', ['']],
    ['origins', ['api.example.com']],
    ['origins', ['/relative']],
    ['origins', ['//api.example.com']],
    ['origins', ['https://']],
    ['origins', ['*']],
    ['origins', ['null']],
    ['origins', ['ftp://api.example.com']],
    ['origins', ['file:///etc']],
    ['origins', ['https://api.example.com', 'http://other.example.com']],
    ['header', 42],
    ['header', null],
    ['header', ''],
    ['header', {}],
    ['header', 'X Token'],
    ['header', 'X-Token:'],
    ['header', 'X-Token\r\nX-Evil: 1'],
    ['header', 'X-Tökén'],
    ['scheme', 42],
    ['scheme', null],
    ['scheme', {}],
    ['refuses', 401],
    ['refuses', null],
    ['refuses', [401]],
    ['refuses', async () => false],
    ['allowInsecureHttp', 'yes'],
    ['allowInsecureHttp', 1],
    ['allowInsecureHttp', null],
  ])('when %s is %p, then attaching throws a TypeError that names it', (name, value) => {
    expect(rejection({ [name]: value })).toContain(name)
  })

  it.each([
    ['https://*.example.com', 'list each origin'],
    ['https://%2A.example.com', 'list each origin'],
    ['https://a.example/v1', "write 'https://a.example'"],
    ['https://a.example:8443/v1/', "write 'https://a.example:8443'"],
    ['https://a.example?canary', "write 'https://a.example'"],
    ['https://a.example/#canary', "write 'https://a.example'"],
    [new URL('https://a.example/v1'), "write 'https://a.example'"],
  ])('when origins has %s, then attaching throws a TypeError that says what to write (F174)', (origin, advice) => {
    const message = rejection({ origins: ['https://b.example', origin] })
    expect(message).toMatch(/^origins /)
    expect(message).toContain(advice)
    expect(message).not.toContain('canary')
  })

  it('when an option is unknown, then attaching throws a TypeError that names it and the option that was meant (F174)', () =>
    expect(rejection({ origin: [baseURL] })).toBe(
      "The options of attachBearer: there is no 'origin', did you mean 'origins'?",
    ))

  it.each([['Bea rer\r\nX-Evil: 1'], ['Beärer'], ['Bearer\n']])(
    'when scheme is %j, which no header can hold, then attaching throws a TypeError that names it',
    (scheme) => expect(rejection({ scheme })).toContain('scheme'),
  )

  it('when an origin contains a user and a password, then attaching throws an error that shows neither', () => {
    const message = rejection({ origins: ['https://canary-user:canary-pass@api.example.com/path'] })
    expect(message).toContain('origins')
    expect(message).not.toContain('canary')
  })

  it('when the baseURL of the instance contains a user and a password, then attaching throws an error that shows neither', () => {
    const message = rejection({}, axios.create({ baseURL: 'https://canary-user:canary-pass@api.example.com/v1' }))
    expect(message).toContain('baseURL')
    expect(message).not.toContain('canary')
  })

  it('when an option is rejected, then the instance is unchanged', async () => {
    const { adapter, calls } = inProcess()
    const api = axios.create({ adapter, baseURL })
    rejection({ origins: ['nonsense'] }, api)
    await api.get('/')
    expect(calls.map(({ authorization }) => authorization)).toEqual([undefined])
    expect(Object.getOwnPropertySymbols(api)).toEqual([])
  })

  it('when options are undefined, then the defaults apply', async () => {
    const server = await startApi()
    const api = axios.create({ baseURL: server.baseUrl })
    const { tokens } = startTokens()
    attachBearer(api, tokens, {
      origins: undefined,
      header: undefined,
      scheme: undefined,
      refuses: undefined,
      allowInsecureHttp: undefined,
    })
    await api.get('/')
    expect(server.bearers).toEqual(['Bearer token-1'])
  })

  it('when the caller changes the options afterwards, then the attachment does not change', async () => {
    const server = await startApi()
    const other = await startApi()
    const api = axios.create({ baseURL: server.baseUrl })
    const options = { origins: [server.baseUrl], header: 'Authorization', scheme: 'Bearer' }
    attachBearer(api, startTokens().tokens, options)
    options.origins.push(other.baseUrl)
    options.header = 'X-Other'
    options.scheme = 'Other'
    await api.get('/')
    await api.get(other.baseUrl)
    expect([server.bearers, other.bearers]).toEqual([['Bearer token-1'], [undefined]])
  })

  it('when the options are frozen, then attaching works', () => {
    const options = Object.freeze({ origins: Object.freeze([baseURL]) })
    expect(() => attachBearer(axios.create(), startTokens().tokens, options)).not.toThrow()
  })
})

describe('given an Authorization header left in the defaults of the instance', () => {
  const leftover = 'Bearer canary-leftover'

  it.each<[string, (api: AxiosInstance) => void]>([
    ['common to all methods', (api) => (api.defaults.headers.common.Authorization = leftover)],
    ['of one method', (api) => (api.defaults.headers.post.Authorization = leftover)],
    ['directly', (api) => Object.assign(api.defaults.headers, { Authorization: leftover })],
    ['in lower case', (api) => (api.defaults.headers.common.authorization = leftover)],
    ['in upper case', (api) => Object.assign(api.defaults.headers, { AUTHORIZATION: leftover })],
    ['as AxiosHeaders', (api) => (api.defaults.headers.common = new AxiosHeaders({ Authorization: leftover }))],
  ])('when a manager is attached and the header is there %s, then attaching throws and says what to do', (_, leave) => {
    const api = axios.create({ baseURL })
    leave(api)
    const message = rejection({}, api)
    expect(message).toContain('Authorization')
    expect(message).toContain('defaults')
    expect(message).toMatch(/delete|remove/)
    expect(message).not.toContain('canary')
  })

  it('when the header was passed to axios.create, then attaching throws too', () => {
    expect(rejection({}, axios.create({ baseURL, headers: { authorization: leftover } }))).toContain('defaults')
    const byMethod = axios.create({ baseURL, headers: { patch: { authorization: leftover } } })
    expect(rejection({}, byMethod)).toContain('defaults')
  })

  it('when another header name is configured, then only that header matters', () => {
    const api = axios.create({ baseURL, headers: { Authorization: leftover, 'x-token': leftover } })
    expect(rejection({ header: 'X-Token' }, api)).toContain('X-Token')
    expect(() => attachBearer(api, startTokens().tokens, { header: 'X-Other' })).not.toThrow()
  })

  it('when the header is deleted or set to undefined, then attaching works', () => {
    const api = axios.create({ baseURL, headers: { Authorization: leftover } })
    delete (api.defaults.headers as { Authorization?: string }).Authorization
    api.defaults.headers.common.Authorization = undefined as never
    expect(() => attachBearer(api, startTokens().tokens)).not.toThrow()
  })

  it.each([undefined, null])('when the defaults have no headers at all (%p), then attaching works', (headers) => {
    const api = axios.create({ baseURL })
    Object.assign(api.defaults, { headers })
    expect(() => attachBearer(api, startTokens().tokens)).not.toThrow()
  })
})

describe('given no origin that may receive the token', () => {
  it.each([undefined, '', '/api', 'api.example.com'])(
    'when the baseURL is %p and the source has no origin, then attaching throws and says what to pass',
    (given) => {
      const message = rejection(undefined, axios.create(given === undefined ? {} : { baseURL: given }))
      expect(message).toContain('origin')
      expect(message).toContain('baseURL')
      expect(message).toContain('origins')
    },
  )

  it('when the manager is made by hand, then attaching throws too', () => {
    const manager = { peekAccessToken: () => 't', getAccessToken: async () => 't', replaceAccessToken: async () => 't' }
    expect(rejection({}, axios.create(), manager)).toContain('origins')
  })
})

describe('given a source whose origin is not in the form of URL.origin', () => {
  it.each([
    'https://api.example.com/',
    'https://API.example.com',
    'https://api.example.com:443',
    'https://api.example.com/token/',
  ])('when the origin is %s, then requests to that origin carry the token', async (origin) => {
    const { adapter, calls } = inProcess()
    const api = axios.create({ adapter })
    attachBearer(api, managerOf(mint({ origin }).source))
    await api.get('https://api.example.com/wallet')
    expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer token-1'])
  })
})
