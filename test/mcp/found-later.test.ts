import { afterEach, describe, expect, it } from '@jest/globals'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { memoryStore } from '../../src/index.ts'
import { mcpLogin } from '../../src/mcp/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { Provider } from './provider.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

type Handler = (response: ServerResponse) => void

/** An MCP server that is its own authorization server, whose metadata a test can break. */
async function startServer() {
  const calls: [path: string, body: URLSearchParams][] = []
  const control: { metadata: Handler | undefined; revokes: boolean; sent: number } = {
    ...{ metadata: undefined, revokes: true, sent: 0 },
  }
  const json = (response: ServerResponse, body: object) => response.writeHead(200).end(JSON.stringify(body))
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const path = request.url ?? ''
    const isMetadata = path.startsWith('/.well-known/')
    if (!isMetadata) calls.push([path, new URLSearchParams(text)])
    if (isMetadata && control.metadata) {
      control.metadata(response)
      return
    }
    if (path.includes('protected-resource'))
      return json(response, { resource: `${origin}/mcp`, authorization_servers: [`${origin}/as`] })
    if (isMetadata)
      return json(response, {
        issuer: `${origin}/as`,
        token_endpoint: `${origin}/as/token`,
        ...(control.revokes && { revocation_endpoint: `${origin}/as/revoke` }),
      })
    if (path === '/as/token')
      return json(response, { access_token: 'next', token_type: 'Bearer', expires_in: 3600, refresh_token: 'r2' })
    return path === '/as/revoke' ? json(response, {}) : response.writeHead(404).end()
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { origin, calls, control }
}
type Server = Awaited<ReturnType<typeof startServer>>

const ANSWER = { access_token: 'first', token_type: 'Bearer', expires_in: 60, refresh_token: 'r1' }

function programAt({ origin }: Server, store = memoryStore(), clock = manualClock()) {
  const provider = new Provider()
  provider.saveClientInformation({ client_id: 'agent' })
  const manager = { clock, random: () => 0, retry: { maxAttempts: 1 } }
  const login = mcpLogin({ serverUrl: `${origin}/mcp`, provider, store, manager })
  ends.push(() => login.close())
  const { saveTokens } = login.transport.authProvider as { saveTokens: (answer: object) => Promise<void> }
  return { ...login, clock, saveTokens }
}

const BROKEN: [string, (server: Server) => Handler][] = [
  ['is silent', () => () => undefined],
  ['drips', () => (response) => void response.writeHead(200).write('{')],
  [
    'is endless',
    ({ control }) =>
      (response) => {
        const more = () => {
          control.sent += 1
          return !response.destroyed && response.write(' '.repeat(65_536))
        }
        response.writeHead(200)
        response.on('drain', () => {
          while (more());
        })
        while (more());
      },
  ],
  ['responds with 503', () => (response) => void response.writeHead(503).end()],
  ['responds with 429', () => (response) => void response.writeHead(429).end()],
  ['breaks its connection', () => (response) => void response.destroy()],
  ['responds with the page of a gateway', () => (response) => void response.writeHead(200).end('<html></html>')],
]

/** Advances time while network requests continue. */
async function within<Value>(clock: ReturnType<typeof manualClock>, pending: Promise<Value>): Promise<Value> {
  let isSettled = false
  const settled = () => (isSettled = true)
  pending.then(settled, settled)
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it changes during the await
  while (!isSettled) {
    await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(1)
  }
  return pending
}

describe.each(BROKEN)(
  'given a login whose server cannot be found, because its metadata address %s (F390)',
  (_, broken) => {
    async function started() {
      const server = await startServer()
      const store = memoryStore()
      const one = programAt(server, store)
      server.control.metadata = broken(server)
      const startedAt = one.clock.monotonicNow()
      await within(one.clock, one.saveTokens(ANSWER))
      return { server, store, one, tookMs: one.clock.monotonicNow() - startedAt }
    }

    it('then its tokens can be used, within the time of a token request, and nothing is guessed', async () => {
      const { server, one, tookMs } = await started()
      expect(tookMs).toBeLessThanOrEqual(10_000)
      expect(await one.tokens.getAccessToken()).toBe('first')
      await one.clock.advance(60_000)
      await expect(within(one.clock, one.tokens.getAccessToken())).rejects.toMatchObject({
        code: 'ERR_TOKEN_SERVICE_UNAVAILABLE',
        retryAt: expect.any(Number),
      })
      expect([server.calls, one.tokens.status().login]).toEqual([[], 'present'])
      expect(server.control.sent).toBeLessThan(1_000)
    })

    it('when it can be found again, then the first refresh finds it, in any process', async () => {
      const { server, store, one } = await started()
      server.control.metadata = undefined
      await one.clock.advance(60_000)
      const other = programAt(server, store, one.clock)
      await one.close()
      expect(await within(other.clock, other.tokens.getAccessToken())).toBe('next')
      const [[path, body]] = server.calls as [(typeof server.calls)[0]]
      expect([path, Object.fromEntries(body)]).toEqual([
        '/as/token',
        { grant_type: 'refresh_token', refresh_token: 'r1', client_id: 'agent', resource: `${server.origin}/mcp` },
      ])
    })

    it('when the user logs out before that, then the tokens cannot be revoked yet, and the next logout revokes them', async () => {
      const { server, one } = await started()
      expect(await within(one.clock, one.tokens.logout())).toEqual({ revoked: false, reason: 'unavailable' })
      server.control.metadata = undefined
      expect(await within(one.clock, one.tokens.logout())).toEqual({ revoked: true })
      expect(server.calls.map(([path, body]) => [path, body.get('token')])).toEqual([['/as/revoke', 'r1']])
    })
  },
)

describe('given a host that uses only the provider (F396)', () => {
  it('when its access token is about to expire, then it gets the next one', async () => {
    const server = await startServer()
    const { transport, saveTokens, clock } = programAt(server)
    const { tokens } = transport.authProvider as { tokens: () => Promise<object> }
    await within(clock, saveTokens(ANSWER))
    expect(await tokens()).toEqual({ access_token: 'first', token_type: 'Bearer' })
    await clock.advance(59_000)
    expect(await within(clock, tokens())).toEqual({ access_token: 'next', token_type: 'Bearer' })
    expect(server.calls.map(([path]) => path)).toEqual(['/as/token'])
  })
})

describe('given a server that cannot revoke (F397)', () => {
  it.each<[string, (server: Server) => void]>([
    ['its metadata name no revocation endpoint', ({ control }) => (control.revokes = false)],
    ['it has no metadata', ({ control }) => (control.metadata = (response) => void response.writeHead(404).end())],
  ])('when %s, then logout() reports it once', async (_, without) => {
    const server = await startServer()
    without(server)
    const { saveTokens, tokens, clock } = programAt(server)
    await within(clock, saveTokens(ANSWER))
    expect(await within(clock, tokens.logout())).toEqual({ revoked: false, reason: 'no-endpoint' })
    expect(await within(clock, tokens.logout())).toEqual({ revoked: false, reason: 'nothing' })
    expect(server.calls).toEqual([])
  })
})

describe('given members on Object.prototype (F365)', () => {
  it.each(['revocationEndpoint', 'tokenEndpoint', 'clientSecret', 'metadataUrl', 'resource'])(
    'when one is %s, then tokens go only to their own server, as without it',
    async (name) => {
      const [server, foreign] = [await startServer(), await startServer()]
      server.control.revokes = false
      const { saveTokens, tokens, clock } = programAt(server)
      Object.defineProperty(Object.prototype, name, { value: `${foreign.origin}/as/token`, configurable: true })
      try {
        await within(clock, saveTokens(ANSWER))
        await clock.advance(60_000)
        expect(await within(clock, tokens.getAccessToken())).toBe('next')
        expect(await within(clock, tokens.logout())).toEqual({ revoked: false, reason: 'no-endpoint' })
      } finally {
        Reflect.deleteProperty(Object.prototype, name)
      }
      expect(foreign.calls).toEqual([])
      expect(server.calls.map(([path, body]) => [path, [...body.keys()]])).toEqual([
        ['/as/token', ['grant_type', 'refresh_token', 'resource', 'client_id']],
      ])
    },
  )
})

describe('given tokens that the SDK saves, while discovery of their server is pending (F391)', () => {
  const named = (name: string) => ({ ...ANSWER, access_token: name, refresh_token: `r-${name}` })

  it('when the user logs out, then no user is logged in, and the tokens are revoked', async () => {
    const server = await startServer()
    const { saveTokens, tokens, clock } = programAt(server)
    const saved = saveTokens(named('alice'))
    const out = tokens.logout()
    await within(clock, Promise.allSettled([saved, out]))
    expect(tokens.status().login).toBe('required')
    await within(clock, tokens.settled())
    await until(() => server.calls.length > 0)
    expect(server.calls.map(([path, body]) => [path, body.get('token')])).toEqual([['/as/revoke', 'r-alice']])
  })

  it('when another user logs in, then that login stays', async () => {
    const server = await startServer()
    const { saveTokens, tokens, clock } = programAt(server)
    const holdsFirst: ServerResponse[] = []
    server.control.metadata = (response) => void holdsFirst.push(response)
    const first = saveTokens(named('alice'))
    await until(() => holdsFirst.length > 0)
    server.control.metadata = undefined
    await within(clock, saveTokens(named('bob')))
    holdsFirst[0]!.writeHead(503).end()
    await within(clock, Promise.allSettled([first]))
    expect(await tokens.getAccessToken()).toBe('bob')
  })
})

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}
