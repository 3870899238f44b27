import { AsyncResource } from 'node:async_hooks'
import { afterEach, describe, expect, it } from '@jest/globals'
import axios, { type AxiosInstance } from 'axios'
import { attachBearer, clientCredentials, type TokenSource } from '../../src/index.ts'
import { type SimulatedService, startTokenService } from '../../tools/testing/index.ts'
import { startApi } from '../axios/support/api-server.ts'
import { managerOf } from '../axios/support/tokens.ts'
import { failing, manage, outcome } from '../support/managed.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'

const services: SimulatedService[] = []
async function started(): Promise<SimulatedService> {
  const service = await startTokenService()
  services.push(service)
  return service
}
afterEach(() => Promise.all(services.splice(0).map((service) => service.close())))

describe.each(['http', 'fetch'] as const)(
  'given one axios instance for API and token service (%s adapter)',
  (adapter) => {
    /** Fifty cold requests, then one request whose token was revoked: two token requests in all. */
    async function traffic(api: AxiosInstance, service: SimulatedService): Promise<void> {
      await Promise.all(Array.from({ length: 50 }, (_, n) => api.get(`/orders/${n}`)))
      expect([service.count('obtain'), service.count('resource')]).toEqual([1, 50])
      service.revokeAccessTokens()
      expect((await api.get('/wallet')).status).toBe(200)
      expect([service.count('obtain'), service.count('resource')]).toEqual([2, 52])
    }

    it('when the source is one of this package, then the interceptors of the instance see no token request (F99)', async () => {
      const service = await started()
      const api = axios.create({ adapter, baseURL: service.baseUrl })
      const seen = new Set<string | undefined>()
      api.interceptors.request.use((config) => {
        seen.add(config.url)
        return config
      })
      attachBearer(api, managerOf(clientCredentials({ baseUrl: service.baseUrl, ...service.client })))
      await traffic(api, service)
      expect(seen.size).toBe(51)
      expect([...seen].filter((url) => url?.includes('token'))).toEqual([])
    })

    it('when a custom source calls through it with evergreen: false, then no request waits for itself (F99)', async () => {
      const service = await started()
      const { clientId: client_id, clientSecret: client_secret } = service.client
      const api = axios.create({ adapter, baseURL: service.baseUrl })
      const source: TokenSource = {
        id: 'through the instance itself',
        async obtain() {
          const document = { data: { type: 'auth-token', attributes: { client_id, client_secret } } }
          const headers = { 'Content-Type': 'application/vnd.api+json' }
          const answer = await api.post<{ data: { attributes: { access: string } } }>('/token/', document, {
            headers,
            evergreen: false,
          })
          return { accessToken: answer.data.data.attributes.access, accessLifetimeMs: 60_000 }
        },
      }
      attachBearer(api, managerOf(source))
      await traffic(api, service)
    })
  },
)

describe('given a credential provider that requests the credentials from the API, through the attached instance', () => {
  it('F309: when a request waits for it, then the request fails with ERR_TOKEN_SOURCE at once', async () => {
    const server = await startApi()
    const api = axios.create({ baseURL: server.baseUrl })
    const credentials = () => api.get<never>('/vault').then(({ data }) => data)
    const tokens = managerOf(clientCredentials({ baseUrl: server.baseUrl, credentials, account: 'a' }), {
      clock: watchedClock(),
    })
    attachBearer(api, tokens)
    const waitsForItself = { code: 'ERR_TOKEN_SOURCE', message: expect.stringContaining('waits for itself') }
    expect(await outcome(api.get('/orders'))).toMatchObject(waitsForItself)
    expect(server.received).toEqual([])
  })

  it('F309: when a custom source calls through the instance, then that works while the token is valid, and fails at once otherwise', async () => {
    const clock = watchedClock()
    const server = await startApi()
    const api = axios.create({ baseURL: server.baseUrl })
    const source = {
      id: 'own',
      obtain: () => api.get('/own').then(() => ({ accessToken: 'next', accessLifetimeMs: 60_000 })),
    }
    const tokens = managerOf(source, { clock })
    attachBearer(api, tokens, { origins: [server.baseUrl] })
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_TOKEN_SOURCE' })
    await tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000 })
    await clock.advance(50_000)
    await tokens.renew()
    expect([tokens.peekAccessToken(), server.received.length]).toEqual(['next', 1])
  })

  it('F309: when the runtime cannot identify the caller, then the first timeout says so, and a request ends when its waiting budget is spent (F100)', async () => {
    const clock = watchedClock()
    const server = await startApi()
    const api = axios.create({ baseURL: server.baseUrl })
    const asked: Promise<unknown>[] = []
    const outside = new AsyncResource('outside')
    const credentials = () => {
      const answer = outside.runInAsyncScope(() => api.get<never>('/vault'))
      asked.push(outcome(answer))
      return answer.then(({ data }) => data)
    }
    const tokens = managerOf(clientCredentials({ baseUrl: server.baseUrl, credentials, account: 'a' }), { clock })
    attachBearer(api, tokens)
    let ended: unknown
    void outcome(api.get('/orders')).then((how) => (ended = how))
    const retries: string[] = []
    tokens.on('retry', ({ error }) => retries.push(error.message))
    await clock.advance(29_999)
    expect(ended).toBeUndefined()
    expect(retries[0]).toMatch(/waits for itself: use a plain instance$/)
    await clock.advance(1)
    await settle()
    expect(ended).toMatchObject({ name: 'TokenError', code: 'ERR_WAIT_TIMEOUT' })
    // The calls of the provider end in the same way: no call hangs.
    await clock.advance(60_000)
    for (const answer of asked) expect(await answer).toMatchObject({ name: 'TokenError' })
    expect([server.received.length, clock.holding]).toEqual([0, 0])
  })
})

describe('given a background renewal that failed while no caller waited (F120)', () => {
  /** A token of 60 s that has 10 s left. All its renewals have failed. */
  async function failedBehind() {
    const world = manage()
    await world.tokens.getAccessToken()
    world.source.script.push(...Array.from({ length: 20 }, () => failing(503)))
    await world.clock.advance(50_000)
    expect(world.observed.renewalFailed.length).toBeGreaterThan(0)
    return world
  }

  it('when a caller needs a token while it is valid, then the caller gets it', async () => {
    const { tokens } = await failedBehind()
    expect(await tokens.getAccessToken()).toBe('access-1')
  })

  it('when callers need one later, then they get the error until an attempt is due, and the next caller makes it', async () => {
    const { clock, source, tokens } = await failedBehind()
    await clock.advance(10_000)
    const retryAt = tokens.status().nextAttemptAt!
    const calls = source.calls.length
    const told = { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', status: 503, retryAt }
    expect(await outcome(tokens.getAccessToken())).toMatchObject(told)
    await clock.advance(retryAt - clock.wallNow() - 1)
    expect(await outcome(tokens.getAccessToken())).toMatchObject(told)
    expect(source.calls).toHaveLength(calls)
    source.script.length = 0
    await clock.advance(1)
    expect(await tokens.getAccessToken()).toBe('access-2')
    expect(source.calls).toHaveLength(calls + 1)
  })
})
