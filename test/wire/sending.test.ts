import { describe, expect, it, jest } from '@jest/globals'
import http from 'node:http'
import https from 'node:https'
import { unheldTransport } from '../../src/wire/unheld-transport.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome } from '../support/managed.ts'
import { answering, failureOf } from '../service/world.ts'
import { exchanged, GRANT, sourceBehind } from '../oauth2/world.ts'

/** What a request does when it has its socket. */
function sent(options: { protocol?: string; agent?: object }) {
  const heard: string[] = []
  const sender = options.protocol === 'https:' ? https : http
  const socket = { unref: () => void heard.push('unref') }
  jest.spyOn(sender, 'request').mockReturnValue({
    on: (event: string, listener: (one: object) => void) => {
      heard.push(event)
      listener(socket)
    },
  } as never)
  unheldTransport()!.request(options, () => undefined)
  return heard
}

describe('given a renewal that must not keep the process alive', () => {
  it.each([
    ['over http, without an agent', { protocol: 'http:' }],
    ['over https, without an agent', { protocol: 'https:' }],
    ['with an agent that has no limit', { agent: { maxSockets: Infinity, maxTotalSockets: Infinity } }],
  ])('when it is sent %s, then its socket does not keep the process alive', (_, options) => {
    expect(sent(options)).toEqual(['socket', 'unref'])
  })

  it.each([['maxSockets'], ['maxTotalSockets']])(
    'when it may have to wait for a socket, because its agent has %s, then its socket keeps the process alive',
    (limit) => {
      expect(sent({ agent: { [limit]: 2 } })).toEqual([])
    },
  )

  it('when the global agent has a limit, then that one counts', () => {
    jest.replaceProperty(http.globalAgent, 'maxSockets', 5)
    expect(sent({ protocol: 'http:' })).toEqual([])
    expect(sent({ agent: { maxSockets: Infinity } })).toEqual(['socket', 'unref'])
  })
})

describe('given an adapter that returns the status as a string', () => {
  it.each([
    ['200', undefined],
    ['429', 'ERR_THROTTLED'],
    ['401', 'ERR_CREDENTIALS_REJECTED'],
    ['503', 'ERR_TOKEN_SERVICE_UNAVAILABLE'],
  ])('when it is %p, then the response means the same as with a number', async (status, code) => {
    const grant = exchanged(sourceBehind(answering(JSON.stringify(GRANT), status as never)))
    if (code === undefined) await expect(grant).resolves.toMatchObject({ grant: { accessToken: GRANT.access_token } })
    else expect(await failureOf(grant)).toMatchObject({ code, status: Number(status) })
  })
})

describe('given a token request that has no response', () => {
  it('when its time is over, then the error names the exchange and the address', async () => {
    const clock = manualClock()
    const source = sourceBehind(() => new Promise(() => undefined))
    const { tokens } = manage(source as never, { exchangeTimeoutMs: 5_000 }, clock)
    const waiting = outcome(tokens.getAccessToken())
    await clock.advance(60_000)
    expect((await waiting) as unknown).toMatchObject({
      message: expect.stringContaining('obtain request to https://login.example/oauth/token') as unknown,
    })
    await tokens.close()
  })
})

describe('given a socketPath on Object.prototype', () => {
  it('when fetch would send the credentials there, then nothing is sent', async () => {
    Object.defineProperty(Object.prototype, 'socketPath', { value: '/nowhere.sock', configurable: true })
    try {
      const error = await failureOf(exchanged(sourceBehind('fetch' as never)))
      expect(error).toMatchObject({ code: 'ERR_TOKEN_SOURCE', outcome: 'not-sent', refreshToken: 'kept' })
    } finally {
      Reflect.deleteProperty(Object.prototype, 'socketPath')
    }
  })
})
