import { describe, expect, it, jest } from '@jest/globals'
import axios, { type AxiosAdapter } from 'axios'
import { oauth2 } from '../../src/oauth2/index.ts'
import { failureOf, serve } from '../service/world.ts'
import { client, exchanged, GRANT } from './world.ts'

const byFetch = axios.getAdapter('fetch')

/** fetch as in WebKit: its streams have a reader, and no asynchronous iteration. */
const ofWebKit: AxiosAdapter = async (config) => {
  const response = await byFetch(config)
  const stream = response.data as ReadableStream
  return { ...response, data: { getReader: () => stream.getReader() } }
}

describe('given a browser whose streams cannot be read in a loop (F241)', () => {
  it('when a token request has a response, then its tokens are used', async () => {
    const server = await serve((_, reply) => reply.end(JSON.stringify({ ...GRANT, refresh_token: 'next' })))
    const tokenEndpoint = `${server.origin}/token`
    const source = oauth2({ tokenEndpoint, clientId: 'app', grant: 'login', transport: { adapter: ofWebKit } })
    const { grant } = await exchanged(source, 'refresh-1')
    expect(grant).toEqual({ accessToken: 'issued-token', accessLifetimeMs: 3_600_000, refreshToken: 'next' })
  })

  it('when the response is larger than 64 KiB, then its download is cancelled', async () => {
    let sent = 0
    let end = () => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    const server = await serve((_, reply) => {
      // Sends as long as there is a reader, so the response has no end of its own.
      const more = () => {
        sent += 1
        // Node 26 calls back at once when there is no reader left: without a turn of the loop the end would never be noticed.
        if (!reply.destroyed) reply.write('x'.repeat(65_536), () => setImmediate(more))
      }
      reply.on('close', end)
      more()
    })
    const source = oauth2({ tokenEndpoint: `${server.origin}/token`, ...client, transport: { adapter: ofWebKit } })
    const error = await failureOf(exchanged(source))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown' })
    expect(error.message).toContain('larger than 65536 bytes')
    await ended
    expect(sent).toBeGreaterThan(1)
  })
})

describe('given a token endpoint that returns 401 with a Basic challenge (F242)', () => {
  it('when fetch sends the request, then it has no cookies, so no browser asks for a password, and the client is rejected', async () => {
    const server = await serve((_, reply) =>
      reply.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end('{"error":"invalid_client"}'),
    )
    const fetched = jest.spyOn(globalThis, 'fetch')
    const tokenEndpoint = `${server.origin}/token`
    const source = oauth2({ tokenEndpoint, clientId: 'app', grant: 'login', transport: { adapter: 'fetch' } })
    const error = await failureOf(exchanged(source, 'refresh-1'))
    expect(error).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', refreshToken: 'kept' })
    expect(fetched.mock.calls.map(([request]) => (request as Request).credentials)).toEqual(['omit'])
  })
})

describe('given a framework that caches what fetch posts, by address and body (F375)', () => {
  const issued = { status: 200, headers: { 'Content-Type': 'application/json' } }
  /** A fetch that keeps each response whose request allows it, and records what the requests asked for. */
  function cachingFetch() {
    const kept = new Map<string, string>()
    let calls = 0
    const asked: unknown[] = []
    const fetched = jest.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      const request = new Request(input)
      const { cache } = { cache: request.cache, ...(init as { cache?: string }) }
      asked.push([new URL(request.url).pathname, cache])
      const key = `${request.url} ${await request.text()}`
      const token = () => JSON.stringify({ ...GRANT, access_token: `token-${(calls += 1)}` })
      const { origin } = new URL(request.url)
      const metadata = JSON.stringify({ issuer: origin, token_endpoint: `${origin}/token` })
      const cached = cache === 'no-store' ? undefined : kept.get(key)
      const text = request.method === 'GET' ? metadata : (cached ?? token())
      kept.set(key, text)
      return new Response(text, issued)
    })
    return { asked, end: () => fetched.mockRestore() }
  }

  it('when tokens are obtained twice, then both are new, and no request allowed a cache, nor did the one for the metadata', async () => {
    const { asked, end } = cachingFetch()
    const source = oauth2({ issuer: 'https://id.example', ...client, transport: { adapter: 'fetch' } })
    expect((await exchanged(source)).grant.accessToken).toBe('token-1')
    expect((await exchanged(source)).grant.accessToken).toBe('token-2')
    expect(asked).toEqual([
      ['/.well-known/oauth-authorization-server', 'no-store'],
      ['/token', 'no-store'],
      ['/token', 'no-store'],
    ])
    end()
  })

  it('when the runtime throws for the member cache, then the request is made without it', async () => {
    const { asked, end } = cachingFetch()
    const Whole = globalThis.Request
    class Bare extends Whole {
      constructor(input: string | URL | Request, init: RequestInit = {}) {
        if ('cache' in init) throw new Error("The 'cache' field on 'RequestInitializerDict' is not implemented.")
        super(input, init)
      }
    }
    globalThis.Request = Bare
    const source = oauth2({ tokenEndpoint: 'https://id.example/token', ...client, transport: { adapter: 'fetch' } })
    expect((await exchanged(source)).grant.accessToken).toBe('token-1')
    expect(asked).toEqual([['/token', 'default']])
    globalThis.Request = Whole
    end()
  })
})
