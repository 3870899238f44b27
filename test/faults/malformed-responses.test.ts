import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import type { Reply } from '../../tools/testing/token-document.ts'
import { gate, until } from '../axios/support/turns.ts'
import { ADAPTERS, wire } from '../service/world.ts'
import { outcome } from '../support/managed.ts'
import {
  again,
  answer,
  commit,
  FIN,
  pause,
  proper,
  read,
  send,
  serveScripts,
  type Step,
} from '../support/scripted-server.ts'
import { settle } from '../support/watched-clock.ts'
import { expectNextCallAfter, startNetwork, startWithToken, toldOf } from './support/network.ts'

const PAGE = '<!doctype html><title>Sign in</title>'
const CLOSE = { Connection: 'close' }
/** The service acts, and these bytes replace its response, or follow it. */
const replied = (bytes: Parameters<typeof send>[0]): Step[] => [...read, commit, send(bytes), FIN]
/** The service does not act, because a server in between responds. */
const intercepted = (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Step[] => [
  ...read,
  send(wire(status, body, { ...CLOSE, ...headers })),
  FIN,
]
/** A connection that stays open for many calls. */
const onwards = again(...read, commit, answer())
const whole = ({ body }: Reply, headers: Record<string, string | number> = CLOSE) => wire(200, body, headers)

/** Responses that are complete, but unusable. */
const UNUSABLE: [string, Step[]][] = [
  ['65 537 bytes long', replied(({ body }) => wire(200, body.padEnd(65_537)))],
  ['50 MB in 50 KB of gzip', intercepted(200, gzipSync(Buffer.alloc(50_000_000, ' ')), { 'Content-Encoding': 'gzip' })],
  ['in an unknown encoding', replied((given) => whole(given, { ...CLOSE, 'Content-Encoding': 'evergreen' }))],
  ['the page of a captive portal', intercepted(200, PAGE)],
  ['empty', intercepted(200)],
]

/** A server in between fails. */
const GATEWAY: [string, Step[]][] = [['the page of a gateway', intercepted(502, PAGE)]]

const SURPLUS: [string, (given: Reply) => string | Buffer][] = [
  ['one byte', () => '\0'],
  ['text', ({ body }) => body],
]

const REDIRECTS = [
  ...[301, 302, 303, 307, 308].map((status) => ({
    status,
    target: 'another origin',
    advice: / a redirect to another origin; /,
  })),
  ...[307, 308].map((status) => ({ status, target: 'its own path', advice: / changes only the trailing slash; / })),
]

describe.each(ADAPTERS)('given a refresh, and the %s adapter', (adapter) => {
  const renewing = async (steps: Step[]) => {
    const network = await startWithToken(adapter, [steps, proper])
    return { ...network, renewed: outcome(network.tokens.renew()) }
  }

  it('when early hints precede the response, then the response counts (F33)', async () => {
    const hints = Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n')
    const { renewed, told, service } = await renewing(replied((given) => Buffer.concat([hints, whole(given)])))
    expect(await renewed).toBeUndefined()
    expect([service.heard, service.story]).toEqual([['obtain', 'refresh'], 'spent 1, live 0'])
    expect(told.retry).toEqual([])
  })

  it.each(SURPLUS)(
    'when %s follows the announced length, then only the announced length counts (F32)',
    async (_, surplus) => {
      const longer = send((given) => Buffer.concat([whole(given, {}), Buffer.from(surplus(given))]))
      const { renewed, tokens, told, service, server } = await renewing([...read, commit, longer, onwards])
      expect(await renewed).toBeUndefined()
      expect([service.heard, service.story]).toEqual([['obtain', 'refresh'], 'spent 1, live 0'])
      expect(tokens.peekAccessToken()).toBe(service.issued[1])
      expect(told.retry).toEqual([])
      // The client reads nothing more from that connection.
      await until(() => server.connections[1]!.isClosed)
      await tokens.renew()
      expect(tokens.peekAccessToken()).toBe(service.issued[2])
      expect(server.connections).toHaveLength(3)
    },
  )

  it.each(UNUSABLE)(
    'when its response is %s, then the refresh token is retired, and the credentials are used (F34, F35, F37)',
    async (_, steps) => {
      const { renewed, tokens, told, service } = await renewing(steps)
      expect(await renewed).toBeUndefined()
      expect(service.heard).toEqual(['obtain', 'refresh', 'obtain'])
      expect(service.refreshTokens[0]!.presentations).toBe(1)
      expect(tokens.peekAccessToken()).toBe(service.issued.at(-1))
      expect(told.retry).toMatchObject([
        { delayMs: 0, error: { code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown', status: 200 } },
      ])
      expect(told.suspicious).toEqual([])
    },
  )

  it.each([502, 503, 504, 511])(
    'when a gateway responds with %i and a page, then the same refresh token is presented again (F36, F38)',
    async (status) => {
      const network = await renewing(intercepted(status, PAGE))
      const { renewed, told, service } = network
      await toldOf(network, 'retry')
      expect(told.retry).toMatchObject([
        { delayMs: 250, error: { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown-5xx', status } },
      ])
      const why = status === 511 ? 'this network requires a login$' : 'the token service failed$'
      expect(told.retry[0]!.error.message).toMatch(new RegExp(`responded with ${status}: ${why}`))
      await expectNextCallAfter(network, 250)
      expect(await renewed).toBeUndefined()
      expect([service.heard, service.story]).toEqual([['obtain', 'refresh', 'refresh'], 'spent 2, live 0'])
    },
  )

  it.each(REDIRECTS)(
    'when a $status redirects it to $target, then the redirect is not followed, and the refresh token is kept (F39, F40, F41)',
    async ({ status, target, advice }) => {
      const other = await serveScripts([proper])
      const location = target === 'another origin' ? `${other.origin}/token/refresh/` : '/token/refresh'
      const network = await renewing(intercepted(status, '', { Location: location }))
      const { renewed, clock, tokens, told, service, server } = network
      const failure = { code: 'ERR_TOKEN_REQUEST', outcome: 'rejected', status, retryable: false }
      expect(await renewed).toMatchObject({ ...failure, message: expect.stringMatching(advice) })
      // The manager makes one call, and none during the cool-down.
      expect(told.renewalFailed).toMatchObject([{ error: failure, nextAttemptAt: clock.wallNow() + 5_000 }])
      await clock.advance(4_999)
      expect(await outcome(tokens.renew())).toMatchObject(failure)
      await clock.advance(1)
      await tokens.renew()
      expect([service.heard, service.story]).toEqual([['obtain', 'refresh', 'refresh'], 'spent 2, live 0'])
      expect(server.requests.map(({ head }) => head.split(' ', 2).join(' '))).toEqual([
        'POST /token/',
        'POST /token/refresh/',
        'POST /token/refresh/',
      ])
      expect(other.connections).toHaveLength(0)
    },
  )
})

describe('given 100 Continue before the response to a refresh', () => {
  it('when the http adapter reads it, then the response after it counts (F33)', async () => {
    const steps = replied((given) => Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'), whole(given)]))
    const { tokens, service, told } = await startWithToken('http', [steps, proper])
    await tokens.renew()
    expect([service.story, told.retry]).toEqual(['spent 1, live 0', []])
  })
})

describe.each(ADAPTERS)('given a second response on a keep-alive connection, and the %s adapter', (adapter) => {
  const smuggled = (given: Reply) =>
    whole({ ...given, body: given.body.replace(/("access":")[^"]*/, '$1smuggled') }, {})

  it('when it arrives with the first one, then it is not used for another request (F31)', async () => {
    const both = send((given) => Buffer.concat([whole(given, {}), smuggled(given)]))
    const network = await startNetwork(adapter, [
      [...read, commit, answer(), ...read, commit, both, onwards],
      [onwards],
    ])
    const { tokens, service, server, told } = network
    await tokens.getAccessToken()
    await settle() // the connection goes back to its pool
    await tokens.renew()
    expect(tokens.peekAccessToken()).toBe(service.issued[1])
    await tokens.renew()
    expect(tokens.peekAccessToken()).toBe(service.issued[2])
    expect([service.heard, service.story]).toEqual([['obtain', 'refresh', 'refresh'], 'spent 1, spent 1, live 0'])
    expect([told.retry, server.connections.length]).toEqual([[], 2])
  })

  it('when it arrives while the connection is idle, then it is not used for another request (F31)', async () => {
    const idle = gate()
    const sent = gate()
    const script = [...read, commit, answer(), pause(idle), send(smuggled), () => sent.open(), onwards]
    const { tokens, service } = await startNetwork(adapter, [script, [onwards]])
    await tokens.getAccessToken()
    idle.open()
    await sent.opened
    await settle()
    await tokens.renew()
    expect(tokens.peekAccessToken()).toBe(service.issued[1])
    expect([service.heard, service.story]).toEqual([['obtain', 'refresh'], 'spent 1, live 0'])
  })
})

describe.each(ADAPTERS)('given no token yet, and the %s adapter', (adapter) => {
  describe.each(['A', 'B'] as const)('and Variant %s', (variant) => {
    it.each([...UNUSABLE, ...GATEWAY])(
      'when the response is %s, then the next call is made after a pause (F34, F35, F36, F37)',
      async (_, steps) => {
        const network = await startNetwork(adapter, [steps, proper], { variant })
        const { tokens, told, service } = network
        const waiting = tokens.getAccessToken()
        await toldOf(network, 'retry')
        expect(told.retry).toMatchObject([{ attempt: 1, delayMs: 250, error: { retryable: true } }])
        await expectNextCallAfter(network, 250)
        expect(await waiting).toBe(service.issued.at(-1))
      },
    )
  })
})
