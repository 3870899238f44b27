import { createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import {
  attachBearer,
  type AttachOptions,
  clientCredentials,
  createTokenManager,
  loginPassword,
  type TokenSource,
} from '../../src/index.ts'
import { startTokenService } from '../../tools/testing/index.ts'
import { listening } from '../service/world.ts'
import { outcome } from '../support/managed.ts'
import { share } from '../support/part.ts'

const STATUSES = [300, 301, 302, 303, 304, 305, 306, 307, 308]
/** `npm test` takes each adapter and each variant once. */
const WAYS = share(
  [
    ['http', 'A'],
    ['http', 'B'],
    ['fetch', 'A'],
    ['fetch', 'B'],
  ] as const,
  [
    ['http', 'A'],
    ['fetch', 'B'],
  ] as const,
)
const CASES = WAYS.flatMap(([adapter, variant]) => STATUSES.map((status) => [adapter, variant, status] as const))

/** Another origin. It records every byte, and gives every request the same response. */
async function eavesdropper() {
  let bytes = ''
  const server: Server = createServer((socket: Socket) => {
    socket.on('data', (chunk) => {
      bytes += chunk.toString('latin1')
      socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}')
    })
  })
  return { origin: `http://${await listening(server)}`, heard: () => bytes }
}

/** A source that adds all its tokens to `secrets`. */
function confiding(source: TokenSource, secrets: string[]): TokenSource {
  const note = async (exchange: ReturnType<TokenSource['obtain']>) => {
    const grant = await exchange
    secrets.push(grant.accessToken, ...(grant.refreshToken === undefined ? [] : [grant.refreshToken]))
    return grant
  }
  return {
    id: source.id,
    obtain: (context) => note(source.obtain(context)),
    ...(source.refresh && { refresh: (token: string, context) => note(source.refresh!(token, context)) }),
  }
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A service with its API, and their secrets so far, oldest first. */
async function world(adapter: 'http' | 'fetch', variant: 'A' | 'B', attach: AttachOptions = {}) {
  const service = await startTokenService()
  closing.push(() => service.close())
  const { baseUrl, client, login } = service
  const transport = { adapter }
  const source =
    variant === 'A'
      ? clientCredentials({ baseUrl, transport, ...client })
      : loginPassword({ baseUrl, transport, ...login })
  const secrets: string[] = variant === 'A' ? [client.clientId, client.clientSecret] : [login.login, login.password]
  const tokens = createTokenManager({ source: confiding(source, secrets), retry: { maxAttempts: 2, baseDelayMs: 0 } })
  const api = axios.create({ adapter, baseURL: baseUrl })
  attachBearer(api, tokens, attach)
  return { service, secrets, tokens, api }
}

describe.each(CASES)(
  'given a second origin, and redirects to it (%s adapter, Variant %s, status %i)',
  (adapter, variant, status) => {
    it.each<[string, AttachOptions]>([
      ['Authorization', {}],
      ['a header of another name', { header: 'X-Api-Token', scheme: '' }],
    ])(
      'when token requests and requests under %s meet them, then the second origin receives no secret (P14)',
      async (_, attach) => {
        const other = await eavesdropper()
        const { service, secrets, tokens, api } = await world(adapter, variant, attach)
        const away = { status, headers: { Location: `${other.origin}/stolen` } }
        service.failNext('obtain', away)
        await outcome(tokens.getAccessToken())
        await tokens.reset()
        await tokens.getAccessToken()
        service.failNext('refresh', away)
        if (variant === 'B') await outcome(tokens.renew())
        expect(other.heard()).toBe('') // the client follows no redirect of a token request
        await tokens.reset()
        for (const method of ['get', 'post', 'put', 'delete']) {
          service.failNext('resource', away)
          await outcome(api.request({ method, url: '/orders', ...(method !== 'get' && { data: { amount: 1 } }) }))
        }
        service.revokeAccessTokens()
        service.failNext('resource', { status: 401 })
        service.failNext('resource', away) // for the replay
        await outcome(api.get('/wallet'))
        // axios' http adapter follows every response with a Location.
        const follows = adapter === 'http' || [301, 302, 303, 307, 308].includes(status)
        expect(other.heard().match(/ \/stolen /g)?.length ?? 0).toBe(follows && attach.header === undefined ? 5 : 0)
        expect(secrets.length).toBeGreaterThan(variant === 'B' ? 6 : 4)
        expect(secrets.filter((secret) => other.heard().includes(secret))).toEqual([])
        await tokens.close()
      },
    )
  },
)

describe.each(['http', 'fetch'] as const)(
  'given a second origin that requests name themselves (%s adapter)',
  (adapter) => {
    it('when they are sent there in any spelling, then they arrive, and without a secret (P14)', async () => {
      const other = await eavesdropper()
      const { secrets, tokens, api } = await world(adapter, 'B')
      await tokens.getAccessToken()
      const { host } = new URL(other.origin)
      const urls = [`http://${host}/1`, `HTTP://${host}/2`, `http://api@${host}/3`, `http://${host}/4#@api.example`]
      for (const url of urls) await api.get(url)
      await api.get('/5', { baseURL: other.origin })
      expect(other.heard().match(/GET \/\d/g)).toEqual(['GET /1', 'GET /2', 'GET /3', 'GET /4', 'GET /5'])
      expect(secrets.filter((secret) => other.heard().includes(secret))).toEqual([])
      await tokens.close()
    })
  },
)
