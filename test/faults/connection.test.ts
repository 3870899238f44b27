import { createServer as createHttpServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import type { AxiosAdapter, AxiosRequestConfig } from 'axios'
import { until } from '../axios/support/turns.ts'
import { selfSigned } from '../service/certificate.ts'
import { ADAPTERS, listening, named, wire } from '../service/world.ts'
import { outcome } from '../support/managed.ts'
import { commit, proper, read, send, type Step } from '../support/scripted-server.ts'
import {
  expectNextCallAfter,
  hurryPauses,
  type Network,
  startNetwork,
  startWithToken,
  toldOf,
} from './support/network.ts'

const UNAVAILABLE = 'ERR_TOKEN_SERVICE_UNAVAILABLE'
/** The timeout of an exchange, and how long a caller waits. */
const DEADLINE_MS = 10_000
const WAIT_MS = 30_000

/** Origins at which no request arrives. */
const PLACES: [string, () => Promise<string>][] = [
  [
    'refuses the connection',
    async () => {
      const server = createServer()
      const host = await listening(server)
      await new Promise((resolve) => server.close(resolve))
      return `http://${host}`
    },
  ],
  // The resolver rejects such a long label without a query, so the test needs no network.
  ['has a name that does not exist', async () => `http://${'a'.repeat(64)}.invalid`],
  // The system rejects connections to the broadcast address.
  ['is at an unreachable address', async () => 'http://255.255.255.255:9999'],
]

/** While `place` is set, the real adapter sends requests there. */
function detour(adapter: 'http' | 'fetch') {
  const way: { place?: string | undefined } = {}
  const detouring: AxiosAdapter = (config) => {
    const { pathname } = new URL(config.url!)
    const url = way.place === undefined ? config.url! : way.place + pathname
    return named(adapter, config)({ ...config, url })
  }
  return { way, transport: { adapter: detouring } }
}

describe.each(ADAPTERS)('given a token service at a wrong address, and the %s adapter', (adapter) => {
  const renewedAt = async (place: () => Promise<string>) => {
    const { way, transport } = detour(adapter)
    const setting = { transport, manager: { renewal: { keepWarm: 'never' } } } as const
    const network = await startWithToken(adapter, [proper], setting)
    way.place = await place()
    const error = await outcome(network.tokens.renew())
    expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', retryable: false })
    way.place = undefined
    await network.clock.advance(60_000)
    await network.tokens.getAccessToken()
    return network
  }

  it('when its certificate is self-signed, then one call is made, and the refresh token stays valid (F195)', async () => {
    const place = async () => `https://${await listening(createTlsServer(selfSigned()))}`
    const { told, service } = await renewedAt(place)
    expect(told.retry).toEqual([])
    expect([service.heard, service.story]).toEqual([['obtain', 'refresh'], 'spent 1, live 0'])
  })

  // Bytes that are not TLS may be the response to a request that was sent.
  it('when it does not use TLS, then neither exchange is repeated, and the refresh token is retired (F195)', async () => {
    const { told, service } = await renewedAt(async () => `https://${await listening(createHttpServer())}`)
    expect(told.retry).toMatchObject([{ delayMs: 0 }])
    expect([service.heard, service.story]).toEqual([['obtain', 'obtain'], expect.any(String)])
  })
})

describe.each(ADAPTERS)('given a token service that cannot be reached (F22), and the %s adapter', (adapter) => {
  describe.each(PLACES)('because it %s', (_, place) => {
    const started = async () => {
      const { way, transport } = detour(adapter)
      const network = await startWithToken(adapter, [proper], {
        transport,
        manager: { renewal: { keepWarm: 'never' } },
      })
      way.place = await place()
      return { ...network, way }
    }

    it('when it can be reached again, then the same refresh token is presented, and works', async () => {
      const { way, ...network } = await started()
      const { tokens, told, service } = network
      const renewed = tokens.renew()
      await toldOf(network, 'retry')
      way.place = undefined
      await expectNextCallAfter(network, 250)
      await renewed
      expect([service.heard, service.story]).toEqual([['obtain', 'refresh'], 'spent 1, live 0'])
      expect(told.retry).toMatchObject([{ error: { code: UNAVAILABLE, outcome: 'not-sent' } }])
      expect(told.suspicious).toEqual([])
    })

    it('when that lasts, then the renewal fails, and a later one still presents the same refresh token', async () => {
      const { way, ...network } = await started()
      const { tokens, told, service, clock } = network
      hurryPauses(network)
      expect(await outcome(tokens.renew())).toMatchObject({ code: UNAVAILABLE, retryAt: clock.wallNow() + 5_000 })
      expect(tokens.status().counts).toMatchObject({ obtains: 1, refreshes: 4 })
      await clock.advance(60_000) // the access token has expired
      way.place = undefined
      await tokens.getAccessToken()
      expect([service.heard, service.story]).toEqual([['obtain', 'refresh'], 'spent 1, live 0'])
      expect(told.suspicious).toEqual([])
    })
  })
})

type Lookup = NonNullable<AxiosRequestConfig['lookup']>

/** While `lookup` is set, requests use it to resolve the service's address. */
function nameService() {
  const way: { lookup?: Lookup } = {}
  const adapter: AxiosAdapter = (config) => {
    const url = way.lookup ? config.url!.replace('127.0.0.1', 'tokens.localhost') : config.url!
    return named('http', config)({ ...config, ...way, url })
  }
  return { way, transport: { adapter } }
}

describe('given a token service with several addresses, of which none can be reached', () => {
  const addresses = ['255.255.255.255', '224.0.0.1'].map((address) => ({ address, family: 4 }))
  const lookup = ((_host: string, _options: object, found: (error: null, all: object[]) => void) =>
    setImmediate(() => found(null, addresses))) as Lookup

  it('when it can be reached again, then the same refresh token is presented, and works (F22)', async () => {
    const { way, transport } = nameService()
    const network = await startWithToken('http', [proper], { transport })
    way.lookup = lookup
    const renewed = outcome(network.tokens.renew())
    await toldOf(network, 'retry')
    delete way.lookup
    expect(network.told.retry).toMatchObject([{ error: { code: UNAVAILABLE, outcome: 'not-sent' } }])
    await network.clock.advance(250)
    expect(await renewed).toBeUndefined()
    expect(network.service.story).toBe('spent 1, live 0')
  })
})

/** Expects that only the timeout ends a refresh, and that the manager then obtains with the credentials. */
async function expectEndedByDeadline(network: Network, renewed: Promise<void>, meanwhile = () => {}): Promise<void> {
  const { clock, tokens, told, service } = network
  for (let second = 1; second < DEADLINE_MS / 1_000; second += 1) {
    meanwhile()
    await clock.advance(1_000)
  }
  await clock.advance(999)
  expect(told.retry).toEqual([])
  await clock.advance(1)
  await renewed
  expect(told.retry).toMatchObject([{ delayMs: 0, error: { code: UNAVAILABLE, outcome: 'unknown' } }])
  expect(told.suspicious).toEqual([])
  expect(tokens.peekAccessToken()).toBe(service.issued.at(-1))
  expect(tokens.status().counts).toMatchObject({ obtains: 2, refreshes: 1 })
}

describe.each(ADAPTERS)('given a token service that never finishes a response, and the %s adapter', (adapter) => {
  const begun = async (steps: Step[], setting = {}) => {
    const network = await startWithToken(adapter, [steps, proper], setting)
    const renewed = network.tokens.renew()
    await until(() => network.server.requests.length === 2)
    return { ...network, renewed }
  }

  it.each([
    ['before it acts', [], 'live 1, live 0'],
    ['after it has acted', [commit], 'spent 1, live 0, live 0'],
  ] as [string, Step[], string][])(
    'when it falls silent %s, then the timeout ends the call, and retires its refresh token (F28)',
    async (_, steps, story) => {
      const { renewed, ...network } = await begun([...read, ...steps])
      await expectEndedByDeadline(network, renewed)
      expect(network.service.story).toBe(story)
      await until(() => network.server.connections[1]!.isClosed)
    },
  )

  it.each([200, 401, 503])(
    'when the body of a %i drips, then the timeout ends the call anyway (F27)',
    async (status) => {
      const { renewed, ...network } = await begun([
        ...read,
        commit,
        send(wire(status, '{"', { 'Content-Length': 1_000 })),
      ])
      const connection = network.server.connections[1]!
      await expectEndedByDeadline(network, renewed, () => connection.socket.write(' '))
      await until(() => connection.isClosed)
      expect(network.service.story).toBe('spent 1, live 0, live 0')
    },
  )

  it('when no request has a response, then callers that wait for a first token get an error after 30 s (F28)', async () => {
    const network = await startNetwork(adapter, [[...read]])
    hurryPauses(network)
    const { tokens, clock, server } = network
    let ended: unknown
    void outcome(tokens.getAccessToken()).then((error) => (ended = error))
    await until(() => server.requests.length === 1)
    await clock.advance(WAIT_MS - 1)
    expect(ended).toBeUndefined()
    await clock.advance(1)
    expect(ended).toMatchObject({ code: 'ERR_WAIT_TIMEOUT', retryable: true })
  })
})

describe('given a token service to which no connection can be opened', () => {
  const started = async (start: typeof startNetwork) => {
    const { way, transport } = nameService()
    const network = await start('http', [proper], { transport })
    let asked = 0
    way.lookup = () => void (asked += 1)
    return { network, way, connecting: () => until(() => asked === 1) }
  }

  // Connecting has no timeout of its own, and at the timeout it is unknown what was sent, so the manager retires the refresh token.
  it('when the timeout of the exchange ends it, then the credentials are used (F29)', async () => {
    const { network, way, connecting } = await started(startWithToken)
    const renewed = network.tokens.renew()
    await connecting()
    delete way.lookup
    await expectEndedByDeadline(network, renewed)
    expect(network.service.story).toBe('live 0, live 0')
  })

  it('when the next call connects, then callers that wait for a first token get one (F29)', async () => {
    const { network, way, connecting } = await started(startNetwork)
    const waiting = network.tokens.getAccessToken()
    await connecting()
    delete way.lookup
    await network.clock.advance(DEADLINE_MS - 1)
    expect(network.told.retry).toEqual([])
    await network.clock.advance(1)
    await expectNextCallAfter(network, 250)
    expect(await waiting).toBe(network.service.issued[0])
  })
})
