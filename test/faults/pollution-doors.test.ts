import { describe, expect, it } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ApiServer, startApi } from '../axios/support/api-server.ts'
import { grantText, listening } from '../service/world.ts'
import { part } from '../support/part.ts'
import { run, withChildren } from './support/child.ts'

withChildren()

/** What a merge of JSON may put on `Object.prototype`. `theirs` is an address of the attacker, `socket` a socket of the attacker. */
const values = (theirs: string, socket: string): Record<string, unknown> => {
  const tokens = { accessToken: 'AT-EVIL', refreshToken: 'RT-EVIL', accessLifetimeMs: 9e8, refreshLifetimeMs: 9e8 }
  const pair = { ...tokens, accessExpiresAt: 9e15, refreshExpiresAt: 9e15, fence: 1e15, version: 1e15, subject: 'evil' }
  const addresses = [
    ...[
      'baseURL',
      'url',
      'href',
      'origin',
      'host',
      'hostname',
      'pathname',
      'search',
      'hash',
      'protocol',
      'port',
      'referrer',
    ],
    ...[
      'tokenEndpoint',
      'revocationEndpoint',
      'issuer',
      'serverUrl',
      'token_endpoint',
      'revocation_endpoint',
      'resource',
    ],
    ...['redirectUrl', 'metadataUrl', 'location', 'address', 'baseUrl', 'agent', 'servername', 'localAddress', 'path'],
  ]
  const texts = [
    ...[
      'clientId',
      'clientSecret',
      'client_id',
      'client_secret',
      'scheme',
      'scope',
      'account',
      'storeKey',
      'prefix',
      'kind',
    ],
    ...[
      'accessToken',
      'refreshToken',
      'access_token',
      'refresh_token',
      'token',
      'token_type',
      'nonce',
      'subject',
      'sub',
      'code',
    ],
    ...[
      'clientAuthentication',
      'grant',
      'refreshTokens',
      'onUnavailable',
      'onSuspicious',
      'body',
      'data',
      'method',
      'name',
      'loginId',
    ],
    ...[
      'username',
      'password',
      'login',
      'adapterName',
      'responseType',
      'mode',
      'cache',
      'credentials',
      'redirect',
      'integrity',
    ],
  ]
  return {
    ...Object.fromEntries(addresses.map((name) => [name, theirs])),
    ...Object.fromEntries(texts.map((name) => [name, 'EVIL'])),
    ...{
      socketPath: socket,
      origins: [theirs],
      proxy: { protocol: 'http', host: '127.0.0.1', port: new URL(theirs).port },
    },
    ...{ headers: { Authorization: 'Bearer AT-EVIL' }, auth: { username: 'u', password: 'p' }, params: { evil: '1' } },
    ...{
      pair,
      current: pair,
      stored: pair,
      tokens: pair,
      lease: { owner: 'EVIL', until: 9e15 },
      coolDown: { until: 9e15, code: 'ERR_CLOSED' },
    },
    ...{
      context: JSON.stringify({ tokenEndpoint: theirs, revocationEndpoint: theirs }),
      transport: { proxy: false },
      manager: {},
    },
    ...{
      epoch: 'EVIL',
      version: 1e15,
      fence: 1e15,
      clearedFence: 1e15,
      spent: ['EVIL'],
      ended: ['EVIL'],
      expires_in: 9e8,
      expiresIn: 9e8,
    },
    ...{
      allowInsecureHttp: true,
      allowAbsoluteUrls: false,
      evergreen: false,
      overwrite: true,
      background: false,
      withCredentials: true,
    },
    ...{
      reuseGraceMs: 9e8,
      defaultLifetimeMs: 9e8,
      maxRedirects: 9,
      status: 200,
      hasLogins: true,
      retry: {},
      renewal: {},
      keepalive: true,
    },
  }
}
const ALL = Object.keys(values('http://127.0.0.1:1', ''))
const NAMES = part(
  ALL,
  ALL.filter((_, n) => n % 4 === 0),
)

/** All public functions, created and used while the member is there, or only used then. Their results are printed; the servers record what arrives. */
const program = (name: string | undefined, value: unknown, { api, service }: { api: string; service: string }) => `
  const { oauth2, mcpLogin, sharedStore, withBearer, memoryRegister } = evergreen
  const [api, service] = ${JSON.stringify([api, service])}
  const text = (error) => [error?.name, error?.code, error?.message].filter(Boolean).join(' ').slice(0, 120)
  const tried = (act) => Promise.resolve().then(act).then((done) => String(typeof done === 'object' ? done.status : done), text)
  const register = () => {
    let kept
    return {
      kind: 'own',
      read: async () => Object.assign(Object.create(null), { now: Date.now() }, kept !== undefined && { value: kept }),
      replace: async (_key, expected, next) => expected === kept && ((kept = next), true),
    }
  }
  const client = { clientId: 'client', clientSecret: 'SECRET' }
  const endpoints = { tokenEndpoint: service + '/token', revocationEndpoint: service + '/revoke' }
  const retry = { maxAttempts: 1 }
  const provider = () => ({
    redirectUrl: api + '/callback', clientMetadata: { redirect_uris: [api + '/callback'] },
    clientInformation: () => ({ client_id: 'agent' }), tokens() {}, saveTokens() {}, codeVerifier: () => 'v', saveCodeVerifier() {}, redirectToAuthorization() {},
  })
  const asleep = (who) => ({ accessToken: null, refreshToken: 'RT-' + who })
  const DOORS = {
    attachBearer() {
      const source = clientCredentials({ baseUrl: service, ...client, transport: { proxy: false } })
      const tokens = createTokenManager({ source, retry })
      const instance = axios.create({ baseURL: api, adapter: 'http', proxy: false })
      attachBearer(instance, tokens)
      return async () => [await tried(() => instance.post('/axios', 'x')), await tried(() => instance.get(${JSON.stringify('')} + '/axios'))]
    },
    withBearer() {
      const source = oauth2({ ...endpoints, ...client, transport: { proxy: false } })
      const tokens = createTokenManager({ source, retry, store: sharedStore(register(), { commandTimeoutMs: 5_000 }) })
      const attached = withBearer(fetch, tokens, { origins: [api] })
      return async () => [await tried(() => attached(api + '/fetch')), await tried(() => attached(api + '/fetch', { method: 'POST', body: 'x' }))]
    },
    login() {
      const source = oauth2({ ...endpoints, ...client, grant: 'login', account: 'alice', transport: { proxy: false } })
      const tokens = createTokenManager({ source, retry, store: sharedStore(register(), { commandTimeoutMs: 5_000 }) })
      const instance = axios.create({ baseURL: api, adapter: 'http', proxy: false })
      attachBearer(instance, tokens)
      return async () => [
        await tried(() => tokens.adopt(asleep('alice'))),
        await tried(() => instance.get('/login')),
        await tried(async () => JSON.stringify(await tokens.logout())),
      ]
    },
    mcpLogin() {
      const login = mcpLogin({ serverUrl: api + '/mcp', provider: provider(), manager: { retry } })
      const { authProvider, fetch } = login.transport
      return async () => [
        await tried(() => authProvider.saveTokens({ token_type: 'Bearer', access_token: 'AT-bob', expires_in: 3600, refresh_token: 'RT-bob' })),
        await tried(() => fetch(api + '/mcp', { method: 'POST', body: 'x' })),
        await tried(async () => JSON.stringify(await login.tokens.logout())),
      ]
    },
  }
  const pollute = ${name === undefined ? '() => undefined' : `() => void (Object.prototype[${JSON.stringify(name)}] = ${JSON.stringify(value)})`}
  const clean = () => ${name === undefined ? 'undefined' : `delete Object.prototype[${JSON.stringify(name)}]`}
  setTimeout(() => process.exit(say('hung')), 120_000)
  const lines = []
  for (const when of ['used', 'made'])
    for (const [door, make] of Object.entries(DOORS)) {
      let outcome
      try {
        if (when === 'made') pollute()
        const use = make()
        pollute()
        outcome = await use()
      } catch (error) {
        outcome = [text(error)]
      }
      clean()
      lines.push(when + ' ' + door + ': ' + outcome.join(' | '))
    }
  lines.forEach(say)
  process.exit()
`

/** A token service with metadata, which reports what it received. */
async function startService(seen: string[]) {
  let issued = 0
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const path = request.url ?? ''
      seen.push(`${path} ${body} ${String(request.headers.authorization)}`)
      const json = (answer: object) =>
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
      issued += 1
      const grant = {
        access_token: `AT-${issued}`,
        token_type: 'Bearer',
        expires_in: 3600,
        refresh_token: `RT-${issued}`,
      }
      const at = (name: string) => `http://${request.headers.host}${name}`
      const metadata = { issuer: at(''), token_endpoint: at('/token'), revocation_endpoint: at('/revoke') }
      if (path.startsWith('/token/')) response.end(grantText())
      else json(path === '/token' ? grant : path.startsWith('/.well-known') ? metadata : {})
    })
  })
  return { url: `http://${await listening(server)}`, end: () => (server.closeAllConnections(), server.close()) }
}

describe('given one member of Object.prototype, and a separate process with all public functions', () => {
  it('when it creates and uses them, then nothing goes elsewhere, and no token of the attacker is used (F365)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'evergreen-'))
    const socket = join(folder, 'socket')
    const seen: string[] = []
    const service = await startService(seen)
    try {
      const api: ApiServer = await startApi(({ url }) =>
        url.startsWith('/.well-known')
          ? { body: JSON.stringify({ resource: `${api.baseUrl}/mcp`, authorization_servers: [service.url] }) }
          : {},
      )
      const foreign: ApiServer[] = [await startApi(), await startApi(undefined, socket)]
      const given = values(foreign[0]!.baseUrl, socket)
      const outcomeOf = async (name?: string) => {
        const child = run(
          program(name, name === undefined ? undefined : given[name], { api: api.baseUrl, service: service.url }),
        )
        await child.ended
        return child.lines.length > 0 ? child.lines : [child.complaints.slice(0, 400)]
      }
      const usual = await outcomeOf()
      const odd: Record<string, string[]> = {}
      const left = [...NAMES]
      const worker = async () => {
        for (let name = left.pop(); name !== undefined; name = left.pop())
          odd[name] = (await outcomeOf(name)).filter((line) => !usual.includes(line))
      }
      await Promise.all([worker(), worker()])
      // Which functions send something else than without the member, and where.
      const table = Object.entries(odd).filter(([, lines]) => lines.length > 0)
      process.stdout.write(
        `${[...usual, ...table.map(([name, lines]) => `${name}:\n  ${lines.join('\n  ')}`)].join('\n')}\n`,
      )
      expect(
        foreign.flatMap(({ received }) => received.map(({ url, headers }) => [url, headers.authorization])),
      ).toEqual([])
      const arrived = [...seen, ...api.received.map(({ headers, url }) => `${url} ${headers.authorization}`)]
      expect(arrived.filter((one) => /AT-EVIL|RT-EVIL/.test(one))).toEqual([])
      expect(api.bearers.every((bearer) => bearer === undefined || /^Bearer (AT-|issued-token)/.test(bearer))).toBe(
        true,
      )
      expect(usual.join('\n')).not.toMatch(/Error/)
      expect(Object.keys(odd)).toHaveLength(NAMES.length)
      expect(ALL.length).toBeGreaterThanOrEqual(101)
    } finally {
      service.end()
      rmSync(folder, { recursive: true })
    }
  })
})
