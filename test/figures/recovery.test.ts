import { afterEach, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { attachBearer, clientCredentials, createTokenManager, loginPassword, type TokenError } from '../../src/index.ts'
import { type SimulatedFault, type SimulatedService, startTokenService } from '../../tools/testing/index.ts'
import { startApi } from '../axios/support/api-server.ts'
import { failureOf, until } from '../axios/support/turns.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'

const FAULTS: [string, SimulatedFault][] = [
  ['rejected credentials', { status: 400 }],
  ['an unknown address', { status: 404 }],
  ['a throttle', { status: 429 }],
  ['a throttle with a Retry-After', { status: 429, headers: { 'Retry-After': '90' } }],
  ['an error of the service', { status: 500 }],
  ['a gateway', { status: 503, headers: { 'Retry-After': '3' } }],
  ['a redirect', { status: 302, headers: { Location: '/elsewhere/' } }],
  ['an empty 200', { status: 200 }],
  ['a 200 with the page of a portal', { status: 200, body: '<html>Please log in</html>' }],
  ['a connection that breaks before the service has acted', { drop: 'before' }],
  ['a connection that breaks after it has acted', { drop: 'after' }],
  ['half a response', { corrupt: 'truncate' }],
  ['a response of another type', { corrupt: 'type' }],
  ['a response that is not JSON', { corrupt: 'json' }],
  ['a response that never arrives', { hang: true }],
]
/** For Variant B only, because Variant A does not sign its responses. */
const FORGED: (typeof FAULTS)[number] = ['a wrong signature', { corrupt: 'signature' }]

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0)) await end()
})

/** A cold manager whose renewals make one request each, and an API that records every request. */
async function world(adapter: 'http' | 'fetch', variant: 'A' | 'B') {
  const service: SimulatedService = await startTokenService()
  ending.push(() => service.close())
  const { baseUrl, client, login } = service
  const transport = { adapter }
  const source =
    variant === 'A'
      ? clientCredentials({ baseUrl, transport, ...client })
      : loginPassword({ baseUrl, transport, ...login })
  const clock = manualClock({ wallNow: Date.now() })
  const tokens = createTokenManager({ source, clock, random: () => 0, retry: { maxAttempts: 1 } })
  const server = await startApi()
  const api = axios.create({ adapter, baseURL: server.baseUrl })
  attachBearer(api, tokens)
  return { service, clock, tokens, server, api }
}

const CASES = (['http', 'fetch'] as const).flatMap((adapter) =>
  (['A', 'B'] as const).flatMap((variant) =>
    [...FAULTS, ...(variant === 'B' ? [FORGED] : [])].map(([name, fault]) => [adapter, variant, name, fault] as const),
  ),
)

describe.each(CASES)(
  'given a cold manager (%s adapter, Variant %s) whose token request meets %s',
  (adapter, variant, _, fault) => {
    it('when callers arrive, then none is sent without a token, and the first one after the pause gets it (P2, P13)', async () => {
      const { service, clock, tokens, server, api } = await world(adapter, variant)
      service.failNext('obtain', fault)
      const first = failureOf<TokenError>(api.get('/wallet'))
      if ('hang' in fault) {
        await until(() => service.count('obtain') === 1)
        await clock.advance(10_000)
      }
      const error = await first
      const pauseMs = error.retryAt! - clock.wallNow()
      expect(pauseMs).toBeGreaterThan(0)
      // During the pause all callers get the same error, without a token request. Then nothing is left of the failure.
      await clock.advance(pauseMs - 1)
      expect(await failureOf(api.get('/wallet'))).toMatchObject({
        name: 'TokenError',
        code: error.code,
        retryAt: error.retryAt,
      })
      expect([service.count('obtain'), server.received.length]).toEqual([1, 0])
      await clock.advance(1)
      expect((await api.get('/wallet')).status).toBe(200)
      expect([service.count('obtain'), tokens.status().phase]).toEqual([2, 'fresh'])
      expect(server.bearers).toEqual([`Bearer ${await tokens.getAccessToken()}`])
    })
  },
)

describe.each(['http', 'fetch'] as const)(
  'given requests that need a token which never arrives (%s adapter)',
  (adapter) => {
    it('when the manager is closed, or they end before it arrives, then none is sent (P13)', async () => {
      const { service, clock, tokens, server, api } = await world(adapter, 'A')
      service.failNext('obtain', { hang: true })
      const controller = new AbortController()
      const ends = [
        failureOf(api.get('/aborted', { signal: controller.signal })),
        failureOf(api.get('/late', { timeout: 100 })),
        failureOf(api.get('/closed')),
      ]
      await until(() => service.count('obtain') === 1)
      controller.abort()
      await clock.advance(100)
      const closing = tokens.close()
      expect(await Promise.all(ends)).toMatchObject([
        { code: 'ERR_CANCELED' },
        { code: 'ECONNABORTED' },
        { name: 'TokenError', code: 'ERR_CLOSED' },
      ])
      expect(await failureOf(api.get('/later'))).toMatchObject({ name: 'TokenError', code: 'ERR_CLOSED' })
      await clock.advance(10_000)
      await closing
      expect(server.received).toEqual([])
    })
  },
)
