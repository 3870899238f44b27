import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import { createServer, type Socket } from 'node:net'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { createTokenManager, type TokenError } from '../src/index.ts'
import { oauth2 } from '../src/oauth2/index.ts'
import { startOidcServer } from './oauth2/support/oidc-server.ts'
import { selfSigned } from './service/certificate.ts'
import { grantText, listening, serve } from './service/world.ts'
import { type BuiltPackage, buildPackage } from './support/built-package.ts'
import { nodeWithSqlite } from './support/node-sqlite.ts'

const SECRET = 'a-secret-of-nobody'
const CLIENT = { EVERGREEN_CLIENT_ID: 'client-of-nobody', EVERGREEN_CLIENT_SECRET: SECRET }
const NEVER = { EVERGREEN_CLIENT_ID: '', EVERGREEN_CLIENT_SECRET: '', EVERGREEN_LOGIN: '', EVERGREEN_PASSWORD: '' }
const TOKEN = 'issued-token-of-nobody'
const GRANT = { access_token: TOKEN, token_type: 'Bearer', expires_in: 3_600 }

let built: BuiltPackage
beforeAll(async () => {
  built = await buildPackage()
})
afterAll(() => built.remove())
const ended: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ended.splice(0)) await end()
})

/** Runs the program as its users do, and expects no secret in its output. */
async function doctor(args: string[], env: NodeJS.ProcessEnv = CLIENT) {
  const program = join(built.dir, 'node_modules', 'axios-evergreen', 'dist', 'doctor.js')
  const { code, printed } = await built.run([program, 'doctor', ...args], { ...NEVER, ...env })
  for (const secret of [SECRET, TOKEN, 'refresh-of-nobody']) expect(printed).not.toContain(secret)
  return { code, printed }
}

type Handler = (request: IncomingMessage, reply: ServerResponse, body: string) => void

/** A server with metadata. `token` responds to token requests, `api` to all others. */
async function server(token: Handler, metadata: object | Handler = {}, api: Handler = (_, reply) => reply.end('{}')) {
  const bodies: string[] = []
  const served = await serve((request, reply) => {
    const { body } = served.seen.at(-1)!
    if (request.url === '/token') {
      bodies.push(body)
      token(request, reply, body)
      return
    }
    if (!request.url?.includes('/.well-known/')) {
      api(request, reply, body)
      return
    }
    if (typeof metadata === 'function') {
      ;(metadata as Handler)(request, reply, body)
      return
    }
    reply.end(JSON.stringify({ issuer: origin, token_endpoint: `${origin}/token`, ...metadata }))
  })
  const { origin } = served
  return { origin, bodies }
}

const answering =
  (status: number, body: string | object, headers: Record<string, string> = {}): Handler =>
  (_, reply) =>
    reply.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))

const granting = answering(200, GRANT)

describe('F310: given an independent OAuth 2.0 server', () => {
  it('when it is oidc-provider, then the doctor finds its endpoints, the client and the lifetime', async () => {
    const provider = await startOidcServer({
      ...{ clientId: 'client-of-nobody', clientSecret: SECRET, rotates: true },
      ...{ accessLifetimeS: 3_600, refreshLifetimeS: 86_400 },
    })
    ended.push(() => provider.end())
    const { code, printed } = await doctor(['--issuer', provider.issuer])
    expect({ code, printed }).toEqual({ code: 0, printed: expect.stringMatching(/All is well\.\n$/) })
    for (const line of [
      `issuer          ${provider.issuer}\n`,
      `token endpoint  ${provider.tokenEndpoint}`,
      'speaks          OAuth 2.0',
      'client          secret in the header',
      'access token    lives 60 min',
      'refresh token   none in the response',
      'clock           the service is',
    ])
      expect(printed).toContain(line)
    const wrong = await doctor(['--issuer', provider.issuer], { ...CLIENT, EVERGREEN_CLIENT_SECRET: 'wrong' })
    expect(wrong).toEqual({ code: 4, printed: expect.stringMatching(/invalid_client[^]*Compare the environment/) })
  })

  it('when it is oauth2-mock-server, then it finds the same', async () => {
    const mock = spawn(process.execPath, [join(__dirname, 'oauth2/support/mock-server.mjs')])
    ended.push(() => mock.kill())
    const [line] = (await once(mock.stdout, 'data')) as [Buffer]
    const issuer = String(line).trim()
    const { code, printed } = await doctor(['--issuer', issuer, '--scope', 'read write'])
    expect({ code, printed }).toEqual({ code: 0, printed: expect.stringMatching(/^access token +lives 60 min$/m) })
  })
})

describe('F310: given an OAuth 2.0 server', () => {
  it('when scope and parameters are given, then each token request has them', async () => {
    const { origin, bodies } = await server(granting)
    const more = ['--parameter', 'audience=https://api.example', '--parameter', 'tenant=a=b', '--scope', 'read write']
    expect(await doctor(['--token-endpoint', `${origin}/token`, ...more])).toMatchObject({ code: 0 })
    expect(Object.fromEntries(new URLSearchParams(bodies[0]))).toEqual({
      ...{ grant_type: 'client_credentials', audience: 'https://api.example', tenant: 'a=b', scope: 'read write' },
    })
  })

  /** With the default of the option, the program of the user gets a 401. */
  const POST_IS_ODD = /^odd .*pass clientAuthentication: 'post' to oauth2\(\)\n\nIt works, with the oddities/m

  const post: Handler = (request, reply, body) =>
    request.headers.authorization !== undefined || !body.includes(`client_secret=${SECRET}`)
      ? answering(401, { error: 'invalid_client' })(request, reply, body)
      : granting(request, reply, body)

  it('when its metadata name only the body, then the secret is sent there at once', async () => {
    const { origin, bodies } = await server(post, { token_endpoint_auth_methods_supported: ['client_secret_post'] })
    const { code, printed } = await doctor(['--issuer', origin])
    expect({ code, printed }).toEqual({ code: 0, printed: expect.stringMatching(POST_IS_ODD) })
    expect(bodies).toHaveLength(1)
  })

  it('when it rejects the header and has no metadata, then the body is tried, and the report says which option to set', async () => {
    const { origin, bodies } = await server(post)
    const { code, printed } = await doctor(['--token-endpoint', `${origin}/token`])
    expect({ code, printed }).toEqual({ code: 0, printed: expect.stringMatching(POST_IS_ODD) })
    expect(bodies).toHaveLength(2)
  })

  it('when it rejects the secret in the header and in the body, then neither is recommended', async () => {
    const { origin, bodies } = await server(answering(401, { error: 'invalid_client' }))
    const { code, printed } = await doctor(['--token-endpoint', `${origin}/token`])
    expect([code, printed]).toEqual([4, expect.not.stringContaining("clientAuthentication: 'post'")])
    expect(bodies).toHaveLength(2)
  })

  it('when expires_in is in milliseconds, then the report is odd, and says so (night 12)', async () => {
    const { origin } = await server(answering(200, { ...GRANT, expires_in: 3_600_000 }))
    const { code, printed } = await doctor(['--token-endpoint', `${origin}/token`])
    expect({ code, printed }).toEqual({ code: 0, printed: expect.stringContaining('41.7 d, of which') })
    expect(printed).toMatch(/^odd .*Does the service send milliseconds, and mean 60 min\?\n\nIt works, with/m)
  })

  it('when it returns a refresh token and offers DPoP, then both are reported', async () => {
    const answer = { ...GRANT, refresh_token: 'refresh-of-nobody' }
    const { origin } = await server(answering(200, answer, { 'DPoP-Nonce': 'n' }), {
      dpop_signing_alg_values_supported: ['ES256'],
    })
    const { code, printed } = await doctor(['--issuer', origin])
    expect(code).toBe(0)
    expect(printed).toMatch(/^refresh token +of unknown lifetime; a refresh returns the same one again$/m)
    expect(printed).toMatch(/^DPoP +the server sends a nonce for proofs$/m)
  })

  it('when the API rejects the token, then the known parts of its challenge are reported', async () => {
    const challenge = `Bearer realm="${TOKEN}", error="insufficient_scope", scope="orders:write"`
    const { origin } = await server(granting, {}, answering(401, '', { 'WWW-Authenticate': challenge }))
    const { code, printed } = await doctor(['--issuer', origin, '--api', `${origin}/orders`])
    expect(code).toBe(9)
    expect(printed).toContain('it asks for Bearer, error insufficient_scope, scope orders:write')
  })
})

const node = nodeWithSqlite()
;(node ? describe : describe.skip)('F310: given a login in a file of SQLite', () => {
  const RUN = ['--input-type=module', '--eval']
  const run = (args: string[]) =>
    new Promise<{ code: number; printed: string }>((settle) => {
      const env = { ...process.env, ...NEVER, ...CLIENT, NODE_NO_WARNINGS: '1' }
      execFile(node!, args, { env, cwd: built.dir }, (error, stdout, stderr) =>
        settle({ code: error ? Number(error.code) : 0, printed: stdout + stderr }),
      )
    })
  const PROGRAM = join('node_modules', 'axios-evergreen', 'dist', 'doctor.js')
  /** Stores a login, as a user's program does. */
  const adopt = (tokenEndpoint: string, file: string, accessLifetimeMs: number) =>
    run([
      ...RUN,
      `import { createTokenManager } from 'axios-evergreen'
       import { oauth2 } from 'axios-evergreen/oauth2'
       import { sqliteStore } from 'axios-evergreen/sqlite'
       const client = { clientId: '${CLIENT.EVERGREEN_CLIENT_ID}', clientSecret: '${SECRET}' }
       const source = oauth2({ tokenEndpoint: '${tokenEndpoint}', ...client, grant: 'login', account: 'anna' })
       const tokens = createTokenManager({ source, store: sqliteStore({ file: '${file}' }) })
       await tokens.adopt({ accessToken: '${TOKEN}', accessLifetimeMs: ${accessLifetimeMs}, refreshToken: 'refresh-of-nobody' })`,
    ])

  it.each([
    ['lives', 3_600_000, 0],
    ['has ended', 0, 1],
  ])('when its access token %s, then the API accepts a token (%i ms left, %i refreshes)', async (_, livesMs, calls) => {
    const { origin, bodies } = await server(answering(200, { ...GRANT, refresh_token: 'refresh-of-nobody-2' }))
    const [tokenEndpoint, file] = [`${origin}/token`, `login-${calls}.db`]
    expect(await adopt(tokenEndpoint, file, livesMs)).toEqual({ code: 0, printed: '' })
    const stored = ['--grant', 'login', '--file', file, '--account', 'anna']
    const args = ['--token-endpoint', tokenEndpoint, ...stored, '--api', `${origin}/orders`]
    const { code, printed } = await run([PROGRAM, 'doctor', ...args])
    expect({ code, printed }).toEqual({ code: 0, printed: expect.stringMatching(/All is well\.\n$/) })
    expect(printed).toMatch(/^API .* responded with 200: accepts the token$/m)
    for (const secret of [SECRET, TOKEN, 'refresh-of-nobody']) expect(printed).not.toContain(secret)
    expect(bodies.map((body) => new URLSearchParams(body).get('grant_type'))).toEqual(
      Array.from({ length: calls }, () => 'refresh_token'),
    )
  })

  it.each([
    ['no new tokens', `WHEN NEW.value LIKE '%${TOKEN}%'`, 1],
    ['nothing', '', 0],
  ])('when the disk accepts %s, then that is reported as a problem of the store', async (_, refused, calls) => {
    const { origin, bodies } = await server(answering(200, { ...GRANT, refresh_token: 'refresh-of-nobody-2' }))
    const [tokenEndpoint, file] = [`${origin}/token`, `full-${calls}.db`]
    await adopt(tokenEndpoint, file, 0)
    const refuses = `CREATE TRIGGER full BEFORE INSERT ON evergreen_tokens ${refused} BEGIN SELECT RAISE(FAIL, 'full'); END`
    const program = `import { DatabaseSync } from 'node:sqlite'; new DatabaseSync('${file}').exec(${JSON.stringify(refuses)})`
    expect(await run([...RUN, program])).toEqual({ code: 0, printed: '' })
    const stored = ['--grant', 'login', '--file', file, '--account', 'anna']
    const { code, printed } = await run([PROGRAM, 'doctor', '--token-endpoint', tokenEndpoint, ...stored])
    expect({ code, printed }).toEqual({ code: 3, printed: expect.not.stringContaining('All is well') })
    expect(printed).toMatch(/^PROBLEM \(store\) ERR_STORE_UNAVAILABLE$/m)
    expect(printed.match(/^PROBLEM/gm)).toHaveLength(1)
    for (const secret of [SECRET, TOKEN, 'refresh-of-nobody']) expect(printed).not.toContain(secret)
    expect(bodies).toHaveLength(calls)
  })

  it('when no user has logged in, then it says so, with a separate exit code', async () => {
    const { origin, bodies } = await server(granting)
    const args = ['--token-endpoint', `${origin}/token`, '--grant', 'login', '--file', 'none.db']
    expect(await run([PROGRAM, 'doctor', ...args])).toMatchObject({ code: 12 })
    expect(bodies).toEqual([])
  })
})

const html = answering(200, '<!doctype html><p>Log in', { 'Content-Type': 'text/html' })
const BROKEN: [name: string, token: Handler, metadata: object | Handler, code: number, line: RegExp][] = [
  ['a web page as the response', html, {}, 6, /The response is a web page/],
  ['a firewall in front (F372)', answering(403, '<p>No'), {}, 6, /something in front of the service/],
  ['a web page as metadata', granting, html, 6, /The response is a web page/],
  ['no metadata', granting, answering(404, ''), 6, /check issuer/],
  [
    'metadata of another issuer',
    granting,
    { issuer: 'https://other.example' },
    6,
    /issuer must equal the issuer in its metadata/,
  ],
  ['metadata without a token endpoint', granting, { token_endpoint: undefined }, 6, /have no token_endpoint/],
  ['metadata that fail', granting, answering(503, SECRET), 3, /responded with 503/],
  ['metadata that are not JSON', granting, answering(200, SECRET), 6, /check issuer/],
  ['a wrong client', answering(401, { error: 'invalid_client', error_description: SECRET }), {}, 4, /Compare the env/],
  ['a client without this grant', answering(400, { error: 'unauthorized_client' }), {}, 4, /allow client credentials/],
  ['an unknown grant', answering(400, { error: 'unsupported_grant_type' }), {}, 6, /--grant login/],
  ['a wrong scope', answering(400, { error: 'invalid_scope' }), {}, 6, /Compare --scope/],
  ['a missing audience', answering(400, { error: 'invalid_target' }), {}, 6, /--parameter resource=/],
  ['a missing parameter', answering(400, { error: 'invalid_request' }), {}, 6, /A parameter is missing/],
  ['a server that requires DPoP', answering(400, { error: 'invalid_dpop_proof' }), {}, 6, /pass dpop to oauth2\(\)/],
  ['throttling', answering(429, '', { 'Retry-After': '17' }), {}, 5, /Wait 17 s/],
  ['a server that fails', answering(503, SECRET), {}, 3, /try again later/],
  ['a redirect', answering(302, '', { Location: 'https://login.example.com/' }), {}, 6, /redirect/],
  ['garbage', answering(200, SECRET), {}, 6, /not a JSON object/],
  ['a response without a token', answering(200, {}), {}, 6, /access_token/],
  ['the payment service', answering(200, grantText()), {}, 6, /^speaks +Variant A/m],
]

describe('F310, F372: given a broken peer', () => {
  it.each(BROKEN)(
    'when it has %s, then the doctor says what it received and what to do',
    async (_, token, metadata, code, line) => {
      const { origin } = await server(token, metadata)
      expect(await doctor(['--issuer', origin])).toEqual({ code, printed: expect.stringMatching(line) })
    },
  )

  it.each([
    ['404', answering(404, ''), 6],
    ['503', answering(503, ''), 3],
    ['a web page', html, 6],
  ])('when its metadata are %s, then the code is the one that a program gets', async (_, metadata, exitCode) => {
    const { origin } = await server(granting, metadata)
    const tokens = createTokenManager({
      source: oauth2({ issuer: origin, clientId: 'client-of-nobody', clientSecret: SECRET }),
      retry: { maxAttempts: 1 },
    })
    const error: unknown = await tokens.getAccessToken().catch((thrown: unknown) => thrown)
    await tokens.close()
    const { code, printed } = await doctor(['--issuer', origin, '--json'])
    const { code: itsCode, message } = error as TokenError
    const { problems } = JSON.parse(printed) as object & { problems: unknown[] }
    expect({ code, problems }).toEqual({
      code: exitCode,
      problems: [expect.objectContaining({ code: itsCode, message })],
    })
  })

  it('when only its metadata are reachable, then the token endpoint is what is unreachable', async () => {
    const { origin } = await server(granting, { token_endpoint: 'http://127.0.0.1:1/token' })
    const { code, printed } = await doctor(['--issuer', origin])
    expect({ code, printed }).toEqual({
      code: 3,
      printed: expect.stringMatching(/ERR_TOKEN_SERVICE_UNAVAILABLE\n.*ECONNREFUSED[^]*There was no response/),
    })
  })

  it.each([
    ['', '/'],
    ['/', ''],
    ['/tenant/', '/tenant'],
    ['/tenant', '/tenant/'],
  ])(
    "when --issuer ends with '%s', and the issuer in its metadata with '%s', then both are shown",
    async (typed, named) => {
      const { origin } = await server(granting, (_, reply) =>
        reply.end(JSON.stringify({ issuer: origin + named, token_endpoint: `${origin}/token` })),
      )
      const { code, printed } = await doctor(['--issuer', origin + typed])
      expect(code).toBe(6)
      expect(printed).toContain(`issuer          ${origin}${typed}\nmetadata        of the issuer ${origin}${named}\n`)
    },
  )

  it('when the issuer in its metadata is no plain URL, then it is not shown', async () => {
    const { origin } = await server(granting, { issuer: `https://id.example.com/?code=${SECRET}` })
    expect((await doctor(['--issuer', origin])).printed).not.toContain('of the issuer')
  })

  it('when no server is listening, then it says so', async () =>
    expect(await doctor(['--token-endpoint', 'http://127.0.0.1:1/token'])).toEqual({
      code: 3,
      printed: expect.stringMatching(/ECONNREFUSED[^]*There was no response/),
    }))

  it('when it ends the connection, then it says so', async () => {
    const peer = createServer((socket: Socket) => void socket.end()).listen(0, '127.0.0.1')
    await once(peer, 'listening')
    ended.push(() => peer.close())
    const { port } = peer.address() as { port: number }
    expect(await doctor(['--issuer', `http://127.0.0.1:${port}`])).toMatchObject({ code: 3 })
  })

  it('when its certificate is not trusted, then it says so', async () => {
    const { key, cert } = selfSigned('localhost')
    const peer = createTlsServer({ key, cert })
    const port = (await listening(peer)).split(':')[1]
    expect(await doctor(['--issuer', `https://localhost:${port}`])).toEqual({
      code: 6,
      printed: expect.stringMatching(/does not trust the certificate[^]*NODE_EXTRA_CA_CERTS/),
    })
  })
})

describe('F311: given the doctor of the payment service', () => {
  it('when the response to a login is a web page, then it says so, and nothing about signatures', async () => {
    const { origin } = await serve((request, reply) => html(request, reply, ''))
    const { code, printed } = await doctor(['--base-url', origin], { EVERGREEN_LOGIN: 'a', EVERGREEN_PASSWORD: SECRET })
    expect({ code, printed }).toEqual({ code: 6, printed: expect.stringContaining('The response is a web page') })
    expect(printed).not.toMatch(/signature/i)
  })
})

describe('F310: given an invalid call of the doctor', () => {
  const AT = ['--issuer', 'https://id.example.com']
  it.each([
    [[...AT, '--parameter', `client_secret=${SECRET}`], CLIENT, /Do not pass credentials as arguments/],
    [[...AT, '--parameter', SECRET], CLIENT, /--parameter must be given as NAME=VALUE/],
    [[...AT, '--client-id', SECRET], CLIENT, /Do not pass credentials as arguments/],
    [[...AT, '--grant', 'password'], CLIENT, /--grant must be login/],
    [[...AT, '--grant', 'login'], CLIENT, /--grant login and --file go together/],
    [[...AT, '--scope'], CLIENT, /--scope must be given a value/],
    [AT, {}, /^Set EVERGREEN_CLIENT_ID and EVERGREEN_CLIENT_SECRET\.$/m],
    [AT, { EVERGREEN_CLIENT_ID: 'a' }, /^EVERGREEN_CLIENT_SECRET must be set, too\.$/m],
    [
      [...AT, '--grant', 'login', '--file', 'login.db'],
      {},
      /^Set EVERGREEN_CLIENT_ID, and EVERGREEN_CLIENT_SECRET unless the client is public\.$/m,
    ],
    [['--base-url', 'https://a.example', '--scope', 'a'], CLIENT, /--scope is for OAuth 2\.0/],
    [['--issuer', 'http://id.example.com'], CLIENT, /must be https[^]*--allow-insecure-http/],
  ] as [string[], NodeJS.ProcessEnv, RegExp][])('when it is %j, then no call is made', async (args, env, line) =>
    expect(await doctor(args, env)).toEqual({ code: 2, printed: expect.stringMatching(line) }),
  )
})
