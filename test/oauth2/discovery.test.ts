import { describe, expect, it } from '@jest/globals'
import type { ServerResponse } from 'node:http'
import { Agent } from 'node:https'
import { AxiosError } from 'axios'
import { createTokenManager, type TokenErrorCode } from '../../src/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { ADAPTERS, failureOf, serve } from '../service/world.ts'
import { client, GRANT } from './world.ts'

const DAY = 86_400_000
type Document = Record<string, unknown>

/** A server that responds with its metadata, and with tokens. @param paths The response of each path; `{}`: nothing is there. */
async function startServer(paths: (origin: string) => Record<string, Document | number | string>) {
  const state = { paths: {} as ReturnType<typeof paths> }
  const server = await serve((request, reply) => {
    const found = state.paths[request.url ?? '']
    if (request.url === '/token') reply.end(JSON.stringify(GRANT))
    else if (typeof found === 'object') reply.end(JSON.stringify(found))
    else if (typeof found === 'string') reply.end(found)
    else reply.writeHead(found ?? 404).end()
  })
  state.paths = paths(server.origin)
  const asked = () => server.seen.map(({ method, url }) => `${method} ${url}`)
  return { origin: server.origin, seen: server.seen, state, asked }
}

function sourceOf(issuer: string | URL, options: Partial<OAuth2Options> = {}) {
  const source = oauth2({ issuer, ...client, ...options })
  const clock = manualClock()
  const obtain = () => source.obtain({ signal: new AbortController().signal, clock })
  return { source, clock, obtain }
}

const OAUTH = '/.well-known/oauth-authorization-server'
const OPENID = '/.well-known/openid-configuration'
const metadata = (origin: string, path = '', more: Document = {}) => ({
  issuer: `${origin}${path}`,
  token_endpoint: `${origin}/token`,
  ...more,
})

describe('given metadata with mtls_endpoint_aliases (F410)', () => {
  const withCertificate = new Agent({ cert: 'certificate-of-nobody' })
  const aliases = (origin: string) => ({ mtls_endpoint_aliases: { token_endpoint: `${origin}/mtls/token` } })
  const started = () =>
    startServer((origin) => ({
      [OAUTH]: { ...metadata(origin, '', { revocation_endpoint: `${origin}/revoke` }), ...aliases(origin) },
      '/mtls/token': GRANT,
      '/revoke': {},
    }))

  it.each<[string, Partial<OAuth2Options>, string]>([
    ['its certificate (cert)', { transport: { httpsAgent: withCertificate } }, '/mtls/token'],
    [
      'its certificate (pfx)',
      { transport: { httpsAgent: new Agent({ pfx: 'certificate-of-nobody' }) } },
      '/mtls/token',
    ],
    ['nothing', {}, '/token'],
    ['an agent without a certificate', { transport: { httpsAgent: new Agent({ ca: 'of-nobody' }) } }, '/token'],
  ])('when the client authenticates by %s, then the endpoint is the right one', async (_, options, path) => {
    const server = await started()
    const none = { clientSecret: undefined, clientAuthentication: 'none', grant: 'login' } as const
    const { source } = sourceOf(server.origin, { ...none, ...options })
    await source.refresh!('r', { signal: new AbortController().signal, clock: manualClock() })
    await source.revoke!({ refreshToken: 'r' }, { signal: new AbortController().signal, clock: manualClock() })
    // The metadata have no alias of the revocation endpoint.
    expect(server.asked().slice(1)).toEqual([`POST ${path}`, 'POST /revoke'])
  })

  it.each<[string, Partial<OAuth2Options>]>([
    ['authenticates by a secret', {}],
    ['authenticates by a function', { clientSecret: undefined, clientAuthentication: () => undefined }],
  ])('when the client %s, then its certificate does not matter', async (_, options) => {
    const server = await started()
    const { obtain } = sourceOf(server.origin, { transport: { httpsAgent: withCertificate }, ...options })
    await obtain()
    expect(server.asked().slice(1)).toEqual(['POST /token'])
  })

  it('when an alias is no https URL, then no token request is sent', async () => {
    const bad = { mtls_endpoint_aliases: { token_endpoint: 'http://elsewhere.example/token' } }
    const server = await startServer((origin) => ({ [OAUTH]: { ...metadata(origin), ...bad } }))
    const options = {
      clientSecret: undefined,
      clientAuthentication: 'none',
      transport: { httpsAgent: withCertificate },
    } as const
    const { message } = await failureOf(sourceOf(server.origin, options).obtain())
    expect(message).toContain('token_endpoint in the metadata of issuer must be an https URL')
  })
})

describe.each(ADAPTERS)('given an issuer and no tokenEndpoint, and the %s adapter', (adapter) => {
  const transport = { adapter }

  it('when tokens are obtained, then the metadata are requested once a day, by the clock', async () => {
    const server = await startServer((origin) => ({ [OAUTH]: metadata(origin) }))
    const { obtain, clock } = sourceOf(server.origin, { transport })
    await obtain()
    await clock.advance(DAY - 1)
    await obtain()
    expect(server.asked()).toEqual([`GET ${OAUTH}`, 'POST /token', 'POST /token'])
    await clock.advance(1)
    await obtain()
    expect(server.asked().slice(3)).toEqual([`GET ${OAUTH}`, 'POST /token'])
    expect(server.seen[0]!.body).toBe('')
    expect(server.seen[0]!.headers).not.toHaveProperty('authorization')
  })

  it.each([
    ['', OAUTH, OPENID],
    ['/realms/one', `${OAUTH}/realms/one`, `/realms/one${OPENID}`],
    ['/realms/one/', `${OAUTH}/realms/one`, `/realms/one${OPENID}`],
  ])(
    'when the path of the issuer is %j, then RFC 8414 and OpenID Connect define the addresses',
    async (path, first, then) => {
      const server = await startServer((origin) => ({ [then]: metadata(origin, path) }))
      await sourceOf(`${server.origin}${path}`, { transport }).obtain()
      expect(server.asked()).toEqual([`GET ${first}`, `GET ${then}`, 'POST /token'])
    },
  )

  it.each<[string, (origin: string) => Document | number | string, TokenErrorCode, string]>([
    [
      'name another issuer',
      () => ({ ...metadata('https://hidden.example') }),
      'ERR_TOKEN_REQUEST',
      'issuer must equal',
    ],
    ['name the issuer with a slash', (origin) => metadata(origin, '/'), 'ERR_TOKEN_REQUEST', 'issuer must equal'],
    ['name no issuer', () => ({}), 'ERR_TOKEN_REQUEST', 'issuer must equal'],
    ['have no token_endpoint', (origin) => ({ issuer: origin }), 'ERR_TOKEN_REQUEST', 'have no token_endpoint'],
    [
      'name a plain http endpoint',
      (origin) => metadata(origin, '', { token_endpoint: 'http://hidden.example/' }),
      'ERR_TOKEN_REQUEST',
      'token_endpoint in the metadata of issuer must be an https URL',
    ],
    [
      'name an endpoint with a password',
      (origin) => metadata(origin, '', { token_endpoint: 'https://a:hidden@b.example/' }),
      'ERR_TOKEN_REQUEST',
      'must be an https URL',
    ],
    ['do not exist', () => 404, 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'responded with 404 and no metadata; check issuer'],
    [
      'are a web page',
      () => '<html>',
      'ERR_TOKEN_SERVICE_UNAVAILABLE',
      'responded with 200 and no metadata; check issuer',
    ],
    ['are on a server that fails', () => 503, 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'responded with 503 and no metadata'],
    ['are moved', () => 302, 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'responded with 302 and no metadata'],
    [
      'are larger than 64 KiB',
      () => `{"a":"${'x'.repeat(70_000)}"}`,
      'ERR_TOKEN_SERVICE_UNAVAILABLE',
      'larger than 65536 bytes',
    ],
  ])('when they %s, then nothing was sent, and the error states why', async (_, answer, code, why) => {
    const server = await startServer((origin) => ({ [OAUTH]: answer(origin), [OPENID]: answer(origin) }))
    const { source, clock } = sourceOf(server.origin, { transport })
    const error = await failureOf(source.refresh!('r', { signal: new AbortController().signal, clock }))
    expect(error).toMatchObject({ code, outcome: 'not-sent' })
    expect(error.message).toContain(why)
    expect(error.message).not.toContain('hidden')
    expect(error.refreshToken).toBeUndefined()
    expect(server.asked()).not.toContain('POST /token')
  })
})

/** A server whose RFC 8414 address has a response of its own, and whose OpenID Connect address has the metadata. */
async function startHalf(answer: (reply: ServerResponse) => void) {
  let arrive = () => undefined as unknown
  const arrived = new Promise<void>((resolve) => (arrive = resolve))
  const server = await serve((request, reply) => {
    if (request.url === '/token') reply.end(JSON.stringify(GRANT))
    else if (request.url === OPENID) reply.end(JSON.stringify(metadata(server.origin)))
    else {
      arrive()
      answer(reply)
    }
  })
  return { origin: server.origin, asked: () => server.seen.map(({ url }) => url), arrived }
}

describe('given an issuer whose first address is unusable (F290)', () => {
  it.each<[string, (reply: ServerResponse) => void]>([
    ['is truncated', (reply) => reply.writeHead(200, { 'Content-Length': 100 }).write('{', () => reply.destroy())],
    ['closes the connection', (reply) => reply.destroy()],
    ['is larger than 64 KiB', (reply) => reply.end('x'.repeat(70_000))],
    ['names another issuer', (reply) => reply.end(JSON.stringify(metadata('https://hidden.example')))],
    ['names no token endpoint', (reply) => reply.end('{}')],
  ])('when it %s, then the second address is requested', async (_, answer) => {
    const { origin, asked } = await startHalf(answer)
    expect((await sourceOf(origin).obtain()).accessToken).toBe('issued-token')
    expect(asked()).toEqual([OAUTH, OPENID, '/token'])
  })

  it.each([900, 10_000])(
    'when it hangs, then the second address is requested after a third of exchangeTimeoutMs (%i ms), and not before',
    async (exchangeTimeoutMs) => {
      const { origin, asked, arrived } = await startHalf(() => undefined)
      const clock = manualClock()
      const source = oauth2({ issuer: origin, ...client })
      const tokens = createTokenManager({ source, clock, exchangeTimeoutMs })
      const asking = tokens.getAccessToken()
      await arrived
      await clock.advance(Math.floor(exchangeTimeoutMs / 3) - 1)
      expect(asked()).toEqual([OAUTH])
      await clock.advance(1)
      expect(await asking).toBe('issued-token')
      expect(asked()).toEqual([OAUTH, OPENID, '/token'])
      await tokens.close()
    },
  )

  it('when the second address does not exist, then the error states what is wrong with the first', async () => {
    const server = await startServer(() => ({ [OAUTH]: metadata('https://hidden.example') }))
    const error = await failureOf(sourceOf(server.origin).obtain())
    expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', outcome: 'not-sent' })
    expect(error.message).toContain('issuer must equal the issuer')
  })
})

describe('given an issuer that never responds', () => {
  it('when each address has had a third of the time, then nothing was sent, and the refresh token is untouched (F290)', async () => {
    const arrived: string[] = []
    const waiting: (() => void)[] = []
    const server = await serve(({ url = '' }) => {
      arrived.push(url)
      waiting.shift()?.()
    })
    const next = () => new Promise<void>((resolve) => void waiting.push(resolve))
    const clock = manualClock()
    const source = oauth2({ issuer: server.origin, ...client, grant: 'login' })
    const tokens = createTokenManager({ source, clock, exchangeTimeoutMs: 900, retry: { maxAttempts: 1 } })
    await tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r' })
    const [first, second] = [next(), next()]
    const failure = failureOf(tokens.renew())
    await first
    await clock.advance(300)
    await second
    await clock.advance(300)
    const error = await failure
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'not-sent' })
    expect(error.message).toBe(
      `The metadata of issuer could not be fetched: ${server.origin}${OPENID} did not respond within 300 ms`,
    )
    expect(arrived).toEqual([OAUTH, OPENID])
    await tokens.close()
  })
})

describe('given an issuer whose metadata are known', () => {
  it('when it fails after a day, then the old metadata are used, and requested again after five minutes', async () => {
    const server = await startServer((origin) => ({ [OAUTH]: metadata(origin) }))
    const { obtain, clock } = sourceOf(server.origin)
    await obtain()
    server.state.paths = {}
    await clock.advance(DAY)
    await obtain()
    await obtain()
    expect(server.asked().filter((call) => call.startsWith('GET'))).toHaveLength(3)
    await clock.advance(300_000)
    await obtain()
    expect(server.asked().filter((call) => call.startsWith('GET'))).toHaveLength(5)
  })

  it('when the manager is reset, then they are requested again', async () => {
    const server = await startServer((origin) => ({ [OAUTH]: metadata(origin) }))
    const { obtain, source } = sourceOf(server.origin)
    await obtain()
    source.reset!()
    await obtain()
    expect(server.asked()).toEqual([`GET ${OAUTH}`, 'POST /token', `GET ${OAUTH}`, 'POST /token'])
  })
})

describe('given an issuer whose certificate this machine does not trust', () => {
  it('when tokens are requested, then no later attempt is promised, and no refresh token is in doubt', async () => {
    const adapter = () => Promise.reject(new AxiosError('no trust', 'SELF_SIGNED_CERT_IN_CHAIN'))
    const error = await failureOf(sourceOf('https://login.example', { transport: { adapter } }).obtain())
    expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', outcome: 'not-sent', retryable: false })
    expect(error.message).toContain('does not trust the certificate')
  })
})

describe('given an issuer as a URL', () => {
  it('when the metadata name it without the slash that URL adds, then that is the same issuer', async () => {
    const server = await startServer((origin) => ({ [OAUTH]: metadata(origin) }))
    let audience = ''
    const clientAuthentication: OAuth2Options['clientAuthentication'] = ({ issuer }) => void (audience = issuer)
    const options = { clientSecret: undefined, clientAuthentication }
    await sourceOf(new URL(server.origin), options).obtain()
    expect(audience).toBe(server.origin)
  })
})

describe('given an issuer and a tokenEndpoint', () => {
  it('when tokens are obtained, then no metadata are requested', async () => {
    const server = await startServer(() => ({}))
    await sourceOf('any name', { tokenEndpoint: `${server.origin}/token` }).obtain()
    expect(server.asked()).toEqual(['POST /token'])
  })
})
