import { afterEach, describe, expect, it } from '@jest/globals'
import { ADAPTERS, wire } from '../service/world.ts'
import { outcome } from '../support/managed.ts'
import { FIN, proper, read, type ScriptedServer, send, serveScripts, type Step } from '../support/scripted-server.ts'
import { type Network, startNetwork, startWithToken } from './support/network.ts'

const VARIABLES = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']

// The environment at the start of the tests names no proxy.
afterEach(() => {
  for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
})

/** Forwards a request to the address in its first line, and returns the response. */
const forward: Step = async (connection) => {
  const { path, body } = connection.request!
  const reply = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/vnd.api+json' }, body })
  await send(wire(reply.status, await reply.text(), { Connection: 'close' }))(connection)
}
const startProxy = () => serveScripts([[...read, forward, FIN]])

/** Obtains a first token, and then refreshes. */
async function obtainAndRefresh({ tokens }: Network): Promise<void> {
  await tokens.getAccessToken()
  await tokens.renew()
}

const seenBy = ({ requests }: ScriptedServer) => requests.map(({ path }) => path)

describe.each(VARIABLES)('given an environment whose %s names a proxy', (variable) => {
  it.each(ADAPTERS)(
    'when transport.proxy is false, then no token request uses it: %s adapter (F38)',
    async (adapter) => {
      const proxy = await startProxy()
      process.env[variable] = proxy.origin
      const network = await startNetwork(adapter, [proper], { transport: { proxy: false } })
      await obtainAndRefresh(network)
      expect(network.service.story).toBe('spent 1, live 0')
      expect(proxy.connections).toHaveLength(0)
    },
  )

  it('when no proxy option is set, then it is used, and sees requests over plain http (F38)', async () => {
    const proxy = await startProxy()
    process.env[variable] = proxy.origin
    const network = await startNetwork('http')
    await obtainAndRefresh(network)
    const { service, server } = network
    expect(service.story).toBe('spent 1, live 0')
    expect(seenBy(proxy)).toEqual([`${server.origin}/token/`, `${server.origin}/token/refresh/`])
    expect(proxy.requests[0]!.body).toContain(service.login.password)
    expect(proxy.requests[1]!.body).toContain(service.refreshTokens[0]!.token)
  })
})

describe('given a proxy that requires its own credentials', () => {
  const refused = async () => {
    const proxy = await serveScripts([[...read, send(wire(407, '', { Connection: 'close' })), FIN]])
    const network = await startWithToken('http')
    process.env.HTTP_PROXY = proxy.origin
    return { ...network, proxy, error: await outcome(network.tokens.renew()) }
  }

  it('when it rejects a refresh, then one error reports it, and the refresh token is kept (F38)', async () => {
    const { error, proxy, clock, tokens, service } = await refused()
    expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', outcome: 'rejected', status: 407, retryable: false })
    expect(proxy.requests).toHaveLength(1)
    Reflect.deleteProperty(process.env, 'HTTP_PROXY')
    await clock.advance(5_000)
    await tokens.renew()
    expect([service.heard, service.story]).toEqual([['obtain', 'refresh'], 'spent 1, live 0'])
  })

  it('when it rejects a refresh, then the error says that it was a proxy (F38)', async () => {
    expect((await refused()).error).toMatchObject({ message: expect.stringMatching(/ responded with 407: .*proxy/) })
  })
})
