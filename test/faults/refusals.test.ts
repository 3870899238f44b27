import { describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { attachBearer, clientCredentials, loginPassword, type TokenError } from '../../src/index.ts'
import { inProcess } from '../axios/support/in-process.ts'
import { managerOf } from '../axios/support/tokens.ts'
import { ADAPTERS, wire } from '../service/world.ts'
import { outcome } from '../support/managed.ts'
import { FIN, proper, read, send, serveScripts, type Step } from '../support/scripted-server.ts'
import { TokenServiceModel } from '../support/token-service-model.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'
import { calls, type Network, startNetwork, startWithToken } from './support/network.ts'

const API = 'https://api.example.com'
/** A response of a service that did not act. */
const answering = (status: number, body = ''): Step[] => [
  ...read,
  send(wire(status, body, { Connection: 'close' })),
  FIN,
]
/** Waits until all calls except `accepted` have failed, however slow this machine is. */
const failedBut = async (accepted: number, network: Network): Promise<void> => {
  while (network.tokens.status().counts.failures + accepted < calls(network)) await settle()
}
const rejected = { code: 'ERR_CREDENTIALS_REJECTED', retryable: false }

describe('given a wrong password', () => {
  it.each([
    ['A', 'http'],
    ['B', 'fetch'],
  ] as const)(
    'when a thousand requests in three minutes need a token, with Variant %s and %s, then one call a minute is made (F51)',
    async (variant, adapter) => {
      const clock = manualClock()
      const service = new TokenServiceModel(clock)
      const server = await serveScripts([proper], service)
      const options = { baseUrl: server.origin, transport: { adapter } }
      const source =
        variant === 'A'
          ? clientCredentials({ ...options, ...service.client, clientSecret: 'wrong' })
          : loginPassword({ ...options, ...service.login, password: 'wrong' })
      const tokens = managerOf(source, { clock })
      const calledAt: number[] = []
      const startedAt = clock.monotonicNow()
      for (let request = 0; request < 1_000; request += 1) {
        const error = await outcome(tokens.getAccessToken())
        expect(error).toMatchObject({ ...rejected, status: 400, serviceCode: '2006' })
        if (server.requests.length > calledAt.length) calledAt.push(clock.monotonicNow() - startedAt)
        await clock.advance(180)
      }
      // Requests start every 180 ms. These are the first ones a minute after the last call.
      expect(calledAt).toEqual([0, 60_120, 120_240])
      expect(service.heard).toEqual(['obtain', 'obtain', 'obtain'])
    },
  )
})

describe.each(ADAPTERS)('given credentials that are rejected with 401, and the %s adapter', (adapter) => {
  /** An instance of an API that responds with `status`. */
  function attached({ tokens }: Network, status: number) {
    const { adapter: inside, calls: sent } = inProcess(() => status)
    const api = axios.create({ adapter: inside, baseURL: API })
    attachBearer(api, tokens, { origins: [API] })
    return { api, sent }
  }

  it('when requests need a token, then none is sent, one token request is made, and the error is not a 401 of the API (F59)', async () => {
    const network = await startNetwork(adapter, [answering(401)])
    const { api, sent } = attached(network, 200)
    for (let request = 0; request < 20; request += 1) {
      expect(await outcome(api.get('/wallet'))).toMatchObject({ ...rejected, status: 401 })
      await network.clock.advance(2_999)
    }
    expect([sent.length, network.server.requests.length]).toEqual([0, 1])
    await network.clock.advance(20)
    await outcome(api.get('/wallet'))
    expect(network.server.requests).toHaveLength(2)
  })

  it('when the API rejects the token too, then its 401 surfaces, with one token request and no replay (F59)', async () => {
    const network = await startWithToken(adapter, [answering(401)], { variant: 'A' })
    const { api, sent } = attached(network, 401)
    for (let request = 1; request <= 20; request += 1) {
      expect(await outcome(api.get('/wallet'))).toMatchObject({ isAxiosError: true, status: 401 })
      expect(sent).toHaveLength(request)
      await network.clock.advance(2_000)
    }
    expect(network.service.heard).toEqual(['obtain', 'obtain'])
  })
})

const UNCODED: [string, string, string | undefined][] = [
  ['nothing', '', undefined],
  ['JSON without an error code', '{"detail":"No active account found."}', undefined],
  ['an unknown error code', '{"errors":[{"code":"9999"}]}', '9999'],
]

describe.each(ADAPTERS)('given a valid refresh token that is rejected with 401, and the %s adapter', (adapter) => {
  it.each(UNCODED)(
    'when the response contains %s, then it is suspicious anyway, and never presented again (F56, F57)',
    async (_, body, serviceCode) => {
      const { tokens, told, service } = await startWithToken(adapter, [answering(401, body), proper])
      await tokens.renew()
      expect(told.suspicious).toMatchObject([{ evidence: 'unexplained', severity: 'high', status: 401 }])
      expect(told.suspicious[0]!.serviceCode).toBe(serviceCode)
      expect(told.suspicionSettled).toMatchObject([{ verdict: 'token-only' }])
      await tokens.renew()
      expect(service.heard).toEqual(['obtain', 'refresh', 'obtain', 'refresh'])
      expect(service.story).toBe('live 1, spent 1, live 0')
      expect(told.suspicious).toHaveLength(1)
    },
  )
})

const RETIRED = /Variant B \(login and password\) may have been retired: its support ended on 1 December 2025$/
const WRONG = /check baseUrl, and that the service uses Variant B/

describe.each(ADAPTERS)('given a 4xx response to a refresh, and the %s adapter', (adapter) => {
  it.each([400, 403])(
    'when it is %i, then the credentials are used for the next token set, without suspicion (F58)',
    async (status) => {
      const { tokens, told, service } = await startWithToken(adapter, [answering(status), proper])
      await tokens.renew()
      expect(service.heard).toEqual(['obtain', 'refresh', 'obtain'])
      expect(tokens.peekAccessToken()).toBe(service.issued[1])
      expect(told.suspicious).toEqual([])
    },
  )

  it.each([
    [404, RETIRED],
    [410, RETIRED],
    [405, WRONG],
    [415, WRONG],
  ])(
    'when it is %i for two minutes, then that is reported, and retried at growing intervals (F58, F229)',
    async (status, why) => {
      const network = await startWithToken(adapter, [answering(status)])
      const { clock, tokens, told, service, server } = network
      const calledAt: number[] = []
      let last: unknown
      for (let second = 0; second < 120; second += 1) {
        while (calls(network) - 1 > calledAt.length) calledAt.push(second)
        await failedBut(1, network)
        last = await outcome(tokens.getAccessToken())
        while (calls(network) - 1 > calledAt.length) calledAt.push(second)
        await clock.advance(1_000)
      }
      const error = last as TokenError
      expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', status, retryable: false })
      expect(error.message).toMatch(why)
      // Once the access token has expired, each attempt tries the credentials, too (F229).
      expect(calledAt).toEqual([45, 50, 56, 57, 57, 77, 77, 97, 97, 117, 117])
      expect(told.suspicious).toEqual([])
      // The refresh token is unharmed: when the address is right again, the manager presents it.
      server.follow(proper)
      await clock.advance(20_000)
      expect(await tokens.getAccessToken()).toBe(service.issued[1])
      expect(service.heard.at(-1)).toBe('refresh')
    },
  )
})

describe.each(ADAPTERS)('given a service whose tokens have all expired on arrival, and the %s adapter', (adapter) => {
  const past = '2025-12-31T23:59:59.000000Z'
  /** The signature covers neither of the two expiry times. */
  const expired: Step[] = [
    ...proper.slice(0, 3),
    send(({ body }) => wire(200, body.replace(/(access_expired_at":")[^"]+/, `$1${past}`), { Connection: 'close' })),
    FIN,
  ]

  it('when requests start all the time, then five calls are made in ten seconds, and no request uses such a token (F7)', async () => {
    const network = await startNetwork(adapter, [expired])
    const { clock, tokens, service } = network
    const waiting: Promise<unknown>[] = []
    for (let tenth = 0; tenth < 100; tenth += 1) {
      waiting.push(outcome(tokens.getAccessToken()))
      await failedBut(0, network)
      await clock.advance(100)
      await failedBut(0, network)
    }
    const ends = await Promise.all(waiting)
    expect(new Set(ends.map((end) => (end as TokenError).code))).toEqual(new Set(['ERR_TOKEN_RESPONSE']))
    expect(service.heard).toEqual(Array(5).fill('obtain'))
  })
})
