import { describe, expect, it } from '@jest/globals'
import type { TokenError } from '../../src/index.ts'
import { ADAPTERS, wire } from '../service/world.ts'
import { outcome } from '../support/managed.ts'
import { part } from '../support/part.ts'
import { answer, commit, FIN, proper, read, send, type Step } from '../support/scripted-server.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { watchedClock } from '../support/watched-clock.ts'
import {
  calls,
  expectNextCallAfter,
  hurryPauses,
  type Network,
  startNetwork,
  startWithToken,
  toldOf,
} from './support/network.ts'

const HOUR = 3_600_000
const CALLERS = part(10_000, 1_000)

/** A response of a throttle or a gateway, before the service could act. */
const answering = (status: number, headers: Record<string, string> = {}, body = ''): Step[] => [
  ...read,
  send(wire(status, body, { Connection: 'close', ...headers })),
  FIN,
]
const throttled = (retryAfter: string) => answering(429, { 'Retry-After': retryAfter })
const utc = (at: number) => new Date(at).toUTCString()

describe.each(ADAPTERS)('given Retry-After of two minutes, and the %s adapter (P7)', (adapter) => {
  it('when a first token is throttled, then all errors have retryAt, and no call is made before (F44)', async () => {
    const network = await startNetwork(adapter, [throttled('120'), proper])
    const { tokens, told, service, clock } = network
    const retryAt = clock.wallNow() + 120_000
    const error = { code: 'ERR_THROTTLED', status: 429, retryable: true, retryAt }
    expect(await outcome(tokens.getAccessToken())).toMatchObject(error)
    expect(tokens.status()).toMatchObject({ phase: 'cooling-down', nextAttemptAt: retryAt, lastError: 'ERR_THROTTLED' })
    expect(told.renewalFailed).toMatchObject([{ error, nextAttemptAt: retryAt }])
    await clock.advance(119_999)
    expect(await outcome(tokens.getAccessToken())).toMatchObject(error)
    expect(await outcome(tokens.renew())).toMatchObject(error)
    expect(calls(network)).toBe(1)
    await clock.advance(1)
    expect(await tokens.getAccessToken()).toBe(service.issued[0])
    expect(service.heard).toEqual(['obtain', 'obtain'])
  })

  it('when a refresh is throttled, then its refresh token is valid for the next call (F44, F55)', async () => {
    const network = await startWithToken(adapter, [throttled('120'), proper])
    const { tokens, told, service, clock } = network
    await clock.advance(45_000) // the token is due, and in use
    await toldOf(network, 'renewalFailed')
    expect(tokens.peekAccessToken()).toBe(service.issued[0])
    await clock.advance(119_999)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({
      code: 'ERR_THROTTLED',
      retryAt: clock.wallNow() + 1,
    })
    expect(calls(network)).toBe(2)
    await clock.advance(1)
    expect(await tokens.getAccessToken()).toBe(service.issued[1])
    expect([service.heard, service.story]).toEqual([['obtain', 'refresh', 'refresh'], 'spent 2, live 0'])
    expect(told.suspicious).toEqual([])
  })
})

const LONG: [string, string][] = [
  ['thirty years, in seconds', '1000000000'],
  ['more digits than a number can hold', '9'.repeat(400)],
  ['a date in 9999', 'Fri, 31 Dec 9999 23:59:59 GMT'],
]

describe.each(ADAPTERS)('given a very long Retry-After, and the %s adapter (P7)', (adapter) => {
  it.each(LONG)('when it is %s, then it counts as five minutes, and that is reported (F45)', async (_, text) => {
    const clock = watchedClock()
    const network = await startNetwork(adapter, [throttled(text), proper], { clock })
    const { tokens, told, service } = network
    const retryAt = clock.wallNow() + 300_000
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_THROTTLED', retryAt })
    expect(told.anomaly.map(({ kind }) => kind)).toEqual(['retry-after-clamped'])
    await clock.advance(299_999)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ retryAt })
    await clock.advance(1)
    expect(await tokens.getAccessToken()).toBe(service.issued[0])
    expect(calls(network)).toBe(2)
    // A timer of more than 2^31-1 ms would fire at once.
    expect(Math.max(...clock.delays)).toBeLessThanOrEqual(300_000)
  })
})

/** The shortest backoff before the second call: half of the base. A 429 doubles the base. */
const OWN_PAUSES = [
  [429, 500],
  [503, 250],
] as const
const PAST = ['0', '000', utc(Date.UTC(2025, 11, 31)), utc(0)]
const NEITHER = ['-5', '+5', '1.5', '1e3', '0x10', ' ', 'garbage', '5, 5', '5 s', '2026-01-01T00:10:00Z']

describe.each(ADAPTERS)('given Retry-After without a delay, and the %s adapter', (adapter) => {
  describe.each(OWN_PAUSES)('and status %i', (status, pauseMs) => {
    it.each([...PAST, ...NEITHER])('when it is %j, then the backoff applies (F46, F47)', async (text) => {
      await expectPause(await startNetwork(adapter, [answering(status, { 'Retry-After': text }), proper]), pauseMs)
    })

    it('when it is sent twice, then the backoff applies (F47)', async () => {
      const two = answering(status, { 'Retry-After': '20\r\nRetry-After: 25' })
      await expectPause(await startNetwork(adapter, [two, proper]), pauseMs)
    })
  })

  it('when it is always 0, then the pauses grow, and there is no storm (F46)', async () => {
    const network = await startNetwork(adapter, [throttled('0')])
    hurryPauses(network)
    const { tokens, told, server } = network
    await outcome(tokens.getAccessToken())
    expect(told.retry.map(({ delayMs }) => delayMs)).toEqual([500, 1_000, 2_000])
    expect(server.requests).toHaveLength(4)
  })
})

describe.each(ADAPTERS)('given Retry-After as a date, and the %s adapter', (adapter) => {
  it.each([-HOUR, 0, HOUR])(
    'when the local clock is off by %i ms, then the clock of the response counts (F48)',
    async (off) => {
      const clock = manualClock()
      const serviceNow = clock.wallNow() - off
      const headers = { Date: utc(serviceNow), 'Retry-After': utc(serviceNow + 20_000) }
      await expectPause(await startNetwork(adapter, [answering(429, headers), proper], { clock }), 20_000)
    },
  )
})

/** Expects a first token after exactly this pause. */
async function expectPause(network: Network, ms: number): Promise<void> {
  const { tokens, told, service } = network
  const waiting = tokens.getAccessToken()
  await toldOf(network, 'retry')
  expect(told.retry).toMatchObject([{ delayMs: ms }])
  await expectNextCallAfter(network, ms)
  expect(await waiting).toBe(service.issued[0])
  expect(told.anomaly).toEqual([])
}

/** Longer than any backoff. */
const ASKED_MS = 200_000
/** When the next call is made after a response that asks for that pause: ms after a refresh, ms after an obtain. */
const NEXT_CALLS: [number, number, number][] = [
  ...[429, 500, 502, 503, 504].map((status): [number, number, number] => [status, ASKED_MS, ASKED_MS]),
  // Rejected. After a refresh, the manager obtains at once. After an obtain, it cools down for a minute.
  ...[400, 401, 403].map((status): [number, number, number] => [status, 0, 60_000]),
  // A wrong address.
  ...[307, 404, 410].map((status): [number, number, number] => [status, 5_000, 5_000]),
  // Unknown outcome. After a refresh, the manager obtains at once. After an obtain, the backoff applies first.
  ...[200, 408, 425].map((status): [number, number, number] => [status, 0, 250]),
]

describe.each(ADAPTERS)('given Retry-After on a response of any status, and the %s adapter', (adapter) => {
  const headers = { 'Retry-After': String(ASKED_MS / 1_000) }
  const nextCallAfter = async (network: Network) => {
    const { told, clock } = network
    await Promise.race([toldOf(network, 'retry'), toldOf(network, 'renewalFailed')])
    return told.retry[0]?.delayMs ?? told.renewalFailed[0]!.nextAttemptAt - clock.wallNow()
  }

  it.each(NEXT_CALLS)(
    'when the status is %i, then the next call is made %i ms after a refresh, %i ms after an obtain (F49)',
    async (status, refreshMs, obtainMs) => {
      const script = answering(status, headers, '{"detail":"Later"}')
      const refreshing = await startWithToken(adapter, [script, proper])
      void outcome(refreshing.tokens.renew())
      expect(await nextCallAfter(refreshing)).toBe(refreshMs)
      const obtaining = await startNetwork(adapter, [script, proper])
      void outcome(obtaining.tokens.getAccessToken())
      expect(await nextCallAfter(obtaining)).toBe(obtainMs)
      for (const { told } of [refreshing, obtaining]) expect(told.anomaly).toEqual([])
    },
  )

  it('when the response is successful, then it has no effect (F49)', async () => {
    const good = [...read, commit, answer({ Connection: 'close', ...headers }), FIN]
    const { tokens, told, service } = await startNetwork(adapter, [good])
    await tokens.getAccessToken()
    await tokens.renew()
    expect([service.heard, service.story]).toEqual([['obtain', 'refresh'], 'spent 1, live 0'])
    expect([told.retry, told.anomaly]).toEqual([[], []])
    expect(tokens.status()).not.toHaveProperty('nextAttemptAt')
  })
})

describe.each(ADAPTERS)(`given ${CALLERS} callers and a throttled token service, and the %s adapter`, (adapter) => {
  const ask = ({ tokens }: Network) => Array.from({ length: CALLERS }, () => outcome(tokens.getAccessToken()))

  it('when they can wait that long, then all wait by one timer, for one call at its end (F50)', async () => {
    const network = await startNetwork(adapter, [throttled('10'), proper])
    const { told, service, clock } = network
    const early = ask(network)
    await toldOf(network, 'retry')
    const late = ask(network)
    // One timer of the callers, and one of the pause.
    expect(clock.pendingTimers).toBe(2)
    await expectNextCallAfter(network, 10_000)
    expect(new Set(await Promise.all([...early, ...late]))).toEqual(new Set([service.issued[0]]))
    expect([service.heard, told.retry.length]).toEqual([['obtain', 'obtain'], 1])
  })

  it('when they cannot, then all get an error with retryAt at once, and later make one call (F50)', async () => {
    const network = await startNetwork(adapter, [throttled('60'), proper])
    const { service, clock } = network
    const early = ask(network)
    await toldOf(network, 'renewalFailed')
    const refused = await Promise.all([...early, ...ask(network)])
    const retryAts = refused.map((error) => [(error as TokenError).code, (error as TokenError).retryAt].join())
    expect(new Set(retryAts)).toEqual(new Set([`ERR_THROTTLED,${clock.wallNow() + 60_000}`]))
    expect([clock.pendingTimers, calls(network)]).toEqual([0, 1])
    await clock.advance(60_000)
    expect(new Set(await Promise.all(ask(network)))).toEqual(new Set([service.issued[0]]))
    expect(service.heard).toEqual(['obtain', 'obtain'])
  })
})
