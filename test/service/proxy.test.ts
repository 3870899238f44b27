import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createServer } from 'node:http'
import { oauth2 } from '../../src/oauth2/index.ts'
import type { TokenServiceOptions, TokenSource } from '../../src/index.ts'
import { client, failureOf, listening, obtain, sourceAt } from './world.ts'

const VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'].flatMap((name) => [name, name.toUpperCase()])
let before: NodeJS.ProcessEnv
beforeEach(() => {
  before = { ...process.env }
  for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
})
afterEach(() => {
  for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, before)
})

/** A proxy that responds to all requests and CONNECT requests itself. @returns its host and port */
async function startProxy(status: number, body: string, type = 'text/html'): Promise<string> {
  const server = createServer((_, reply) => reply.writeHead(status, { 'Content-Type': type }).end(body))
  const length = Buffer.byteLength(body)
  const answer = `HTTP/1.1 ${status} Of Proxy\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n${body}`
  server.on('connect', (_, socket) => socket.end(answer))
  return listening(server)
}

const sources: Record<string, (origin: string, transport?: TokenServiceOptions['transport']) => TokenSource> = {
  clientCredentials: (origin, transport) => sourceAt(`${origin}/api`, transport),
  oauth2: (origin, transport) => oauth2({ ...client, tokenEndpoint: `${origin}/token`, transport }),
}

describe.each(Object.keys(sources))('given %s, and a proxy in the environment', (name) => {
  const failure = (origin: string, transport?: TokenServiceOptions['transport']) =>
    failureOf(obtain(sources[name]!(origin, transport)))

  it.each([
    ['HTTP_PROXY', 'http://tokens.example'],
    ['HTTPS_PROXY', 'https://tokens.example'],
    ['https_proxy', 'https://tokens.example'],
    ['ALL_PROXY', 'https://tokens.example'],
  ])(
    'when there is no listener at the proxy of %s, then the error names the proxy and the variable, and no password (F225)',
    async (variable, origin) => {
      process.env[variable] = 'http://user:secret-of-nobody@127.0.0.1:1'
      const given = origin.replace('http://tokens.example', 'http://localhost:3')
      const error = await failure(given)
      expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'not-sent' })
      expect(error.message).toContain(
        `could not be reached (ECONNREFUSED) through the proxy 127.0.0.1:1 of ${variable}: check the proxy, or name the host in NO_PROXY`,
      )
      expect(error.message).not.toMatch(/secret|user/)
    },
  )

  it('when the host of the proxy is unknown, then the error names it (F225)', async () => {
    process.env.HTTPS_PROXY = 'no-such-proxy.invalid'
    const { message } = await failure('https://tokens.example')
    expect(message).toMatch(/\((ENOTFOUND|EAI_AGAIN)\) through the proxy no-such-proxy\.invalid:80 of HTTPS_PROXY: /)
  })

  it.each(['http://localhost:3', 'https://tokens.example'])(
    'when the proxy returns 403 with a page instead of %s, then no credentials are rejected (F225)',
    async (origin) => {
      const proxy = await startProxy(403, '<p>Blocked by policy</p>')
      process.env.HTTP_PROXY = process.env.HTTPS_PROXY = `http://${proxy}`
      const error = await failure(origin)
      expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', status: 403, refreshToken: 'kept' })
      expect(error.message).toMatch(
        new RegExp(
          `responded with 403 and a web page through the proxy ${proxy} of HTTPS?_PROXY: ask whoever runs the proxy`,
        ),
      )
    },
  )

  it('when the proxy requires credentials, then the error names it (F225)', async () => {
    const proxy = await startProxy(407, '<p>Who are you?</p>')
    process.env.HTTPS_PROXY = `http://${proxy}`
    const error = await failure('https://tokens.example')
    expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', status: 407 })
    expect(error.message).toContain(
      `responded with 407: a proxy requires credentials; check transport.proxy, or HTTPS_PROXY; the request went through the proxy ${proxy} of HTTPS_PROXY`,
    )
  })

  it('when the service itself rejects through the proxy, then the credentials are rejected (F225)', async () => {
    const proxy = await startProxy(401, '{"error":"invalid_client"}', 'application/json')
    process.env.HTTP_PROXY = `http://${proxy}`
    const error = await failure('http://localhost:3')
    expect(error).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', status: 401 })
    expect(error.message).toContain(`; the request went through the proxy ${proxy} of HTTP_PROXY`)
  })

  it('when NO_PROXY has the host, or the proxy is disabled, then no proxy is named', async () => {
    process.env.HTTP_PROXY = 'http://127.0.0.1:1'
    expect((await failure('http://localhost:3', { proxy: false })).message).not.toContain('proxy')
    process.env.NO_PROXY = 'localhost'
    expect((await failure('http://localhost:3')).message).not.toContain('proxy')
  })

  it('when the proxy comes from the options, then the error names the option', async () => {
    const { message } = await failure('https://tokens.example', { proxy: { host: '127.0.0.1', port: 1 } })
    expect(message).toContain('through the proxy 127.0.0.1:1 of transport.proxy: ')
  })
})
