import { describe, expect, it } from '@jest/globals'
import type { Reply } from '../../tools/testing/token-document.ts'
import { ADAPTERS, wire } from '../service/world.ts'
import { answer, commit, FIN, proper, read, readHeaders, RST, send, type Step } from '../support/scripted-server.ts'
import { outcome } from '../support/managed.ts'
import { until } from '../axios/support/turns.ts'
import { settle } from '../support/watched-clock.ts'
import { expectNextCallAfter, hurryPauses, startNetwork, startWithToken, toldOf } from './support/network.ts'

const LOST = { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown', retryable: true }
/** A response whose Content-Length is larger than its body. */
const announced = (status: number, body: string) => wire(status, body, { 'Content-Length': 4_000 })
const half = ({ body }: Reply) => body.slice(0, body.length / 2)
const chunked = (text: string) =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n`

/** How the response to a call is lost. `acted`: the service has rotated. */
const LOSSES: { loss: string; steps: Step[]; acted: boolean }[] = [
  { loss: 'is reset before the service acts', steps: [...read, RST], acted: false },
  { loss: 'is reset after the service has acted', steps: [...read, commit, RST], acted: true },
  { loss: 'is closed before the service acts', steps: [...read, FIN], acted: false },
  { loss: 'is closed after the service has acted', steps: [...read, commit, FIN], acted: true },
  {
    loss: 'ends within a body with a length',
    steps: [...read, commit, send((given) => announced(200, half(given))), FIN],
    acted: true,
  },
  {
    loss: 'ends within a body in chunks',
    steps: [...read, commit, send((given) => chunked(half(given))), FIN],
    acted: true,
  },
  {
    loss: 'ends after a whole document that should be longer',
    steps: [...read, commit, send(({ body }) => announced(200, body)), FIN],
    acted: true,
  },
  ...[400, 401, 403, 429, 503].map((status) => ({
    loss: `ends within a body of status ${status}`,
    steps: [...read, send(announced(status, '{"errors":[{"code":"2007"')), FIN],
    acted: false,
  })),
]

/** When a used connection breaks, and the state of the refresh tokens after that. */
const BREAKS: [string, Step[], string][] = [
  ['as the refresh starts', [readHeaders, RST], 'live 0, live 0'],
  ['before the service acts', [...read, RST], 'live 1, live 0'],
  ['after the service has acted', [...read, commit, RST], 'spent 1, live 0, live 0'],
]

describe.each(ADAPTERS)('given a refresh token, and the %s adapter', (adapter) => {
  it.each(LOSSES)(
    'when the connection of a refresh $loss, then that token is never presented again (F23, F24, F25, F26)',
    async ({ steps, acted }) => {
      const { tokens, told, service } = await startWithToken(adapter, [steps, proper])
      await tokens.renew()
      // The manager obtains the new token set with the credentials. A lost token set never appears.
      expect(service.heard).toEqual(['obtain', 'refresh', 'obtain'])
      expect(service.story).toBe(acted ? 'spent 1, live 0, live 0' : 'live 1, live 0')
      expect(tokens.peekAccessToken()).toBe(service.issued.at(-1))
      expect(told.retry).toMatchObject([{ attempt: 1, delayMs: 0, error: LOST }])
      expect(told.renewed.map(({ by, attempts }) => [by, attempts])).toEqual([
        ['obtain', 1],
        ['obtain', 2],
      ])
      await tokens.renew()
      expect(service.heard.slice(3)).toEqual(['refresh'])
      expect(service.story).toBe(acted ? 'spent 1, live 0, spent 1, live 0' : 'live 1, spent 1, live 0')
      expect([told.suspicious, told.renewalFailed]).toEqual([[], []])
      expect(tokens.status().counts).toMatchObject({ obtains: 2, refreshes: 2, failures: 1, suspicions: 0 })
    },
  )

  it('when no response arrives any more, then there are four calls, a cool-down, and no storm (F24)', async () => {
    const network = await startWithToken(adapter, [[...read, commit, RST]])
    const { tokens, told, service, server, clock } = network
    hurryPauses(network)
    const old = tokens.peekAccessToken()
    await tokens.renew().catch(() => undefined)
    expect(service.heard.slice(1)).toEqual(['refresh', 'obtain', 'obtain', 'obtain'])
    expect(service.story).toBe('spent 1, live 0, live 0, live 0, live 0')
    expect(told.renewalFailed).toMatchObject([{ error: LOST, nextAttemptAt: clock.wallNow() + 5_000 }])
    // The old token is still valid, so it is used.
    expect(tokens.peekAccessToken()).toBe(old)
    server.follow(proper)
    await clock.advance(5_000)
    await tokens.renew()
    expect(service.heard.slice(5)).toEqual(['obtain'])
    expect(told.suspicious).toEqual([])
  })

  it('when a gateway responds with 503 after the service has acted, then the manager attributes the later rejection to itself (F24)', async () => {
    const gateway = send(wire(503, '<h1>Service unavailable</h1>', { Connection: 'close' }))
    const network = await startWithToken(adapter, [[...read, commit, gateway, FIN], proper])
    const { tokens, told, service } = network
    hurryPauses(network)
    await tokens.renew()
    // The service may not have acted before a 503, so the manager presents the token again. The rejection retires the token.
    expect(service.heard).toEqual(['obtain', 'refresh', 'refresh', 'obtain'])
    expect(service.story).toBe('spent 2, live 0, live 0')
    await toldOf(network, 'suspicionSettled')
    expect(told.suspicious).toMatchObject([{ evidence: 'own-unknown-outcome', severity: 'low', action: 'obtain' }])
    expect(told.suspicionSettled).toMatchObject([{ verdict: 'token-only' }])
  })
})

describe.each(ADAPTERS)('given no token yet, and the %s adapter', (adapter) => {
  describe.each(['A', 'B'] as const)('and Variant %s', (variant) => {
    it.each(LOSSES)(
      'when the connection of an obtain $loss, then waiting callers get the token of the next obtain (F23, F24, F25, F26)',
      async ({ steps, acted }) => {
        const network = await startNetwork(adapter, [steps, proper], { variant })
        const { tokens, told, service } = network
        const waiting = tokens.getAccessToken()
        await toldOf(network, 'retry')
        expect(told.retry).toMatchObject([{ attempt: 1, delayMs: 250, error: LOST }])
        await expectNextCallAfter(network, 250)
        expect(await waiting).toBe(service.issued.at(-1))
        expect([service.heard, service.issued.length]).toEqual([['obtain', 'obtain'], acted ? 2 : 1])
      },
    )
  })

  it('when no response arrives, then waiting callers get an error with the time of the next call (F23)', async () => {
    const network = await startNetwork(adapter, [[...read, RST]])
    hurryPauses(network)
    const { tokens, service, clock } = network
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ ...LOST, retryAt: clock.wallNow() + 5_000 })
    expect(service.heard).toHaveLength(4)
  })
})

describe.each(ADAPTERS)('given a keep-alive connection, and the %s adapter', (adapter) => {
  const used: Step[] = [...read, commit, answer()]
  const started = async (script: Step[]) => {
    const network = await startNetwork(adapter, [script, proper])
    await network.tokens.getAccessToken()
    await settle() // the connection goes back to its pool
    return network
  }

  it.each(BREAKS)('when it is reset %s, then the refresh is not silently sent again (F30)', async (_, steps, story) => {
    const { tokens, told, service, server } = await started([...used, ...steps])
    await tokens.renew()
    expect(server.connections).toHaveLength(2)
    expect(service.story).toBe(story)
    expect(told.retry).toMatchObject([{ error: LOST }])
    expect([tokens.status().counts.refreshes, told.suspicious]).toEqual([1, []])
  })

  it('when it was closed while idle, then the refresh uses another connection, and is sent once (F30)', async () => {
    const { tokens, told, service, server } = await started([...used, FIN])
    await until(() => server.connections[0]!.isClosed)
    await tokens.renew()
    expect([service.heard, service.story]).toEqual([['obtain', 'refresh'], 'spent 1, live 0'])
    expect(told.retry).toEqual([])
  })
})
