import http, { Agent, type ClientRequest } from 'node:http'
import https from 'node:https'
import { once } from 'node:events'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it } from '@jest/globals'
import axios, { type AxiosError, type AxiosRequestConfig } from 'axios'
import { attachBearer } from '../../src/index.ts'
import { expectNoCanary } from '../support/canary.ts'
import { startApi } from './support/api-server.ts'
import { startTokens } from './support/tokens.ts'
import { failureOf, gate, until } from './support/turns.ts'

const MARKED = 'canary-of-a-token'
const agents: Agent[] = []
afterEach(() => {
  for (const agent of agents.splice(0)) agent.destroy()
})
const agentOf = (options: http.AgentOptions) => {
  const agent = new Agent(options)
  agents.push(agent)
  return agent
}

/** An attached request that waits for its response while others use its agent. */
async function inFlight(config: AxiosRequestConfig = {}) {
  const [answered, last] = [gate(), gate()]
  const server = await startApi(async ({ url }) => {
    if (url === '/held') await answered.opened
    if (url === '/last') await last.opened
    return { status: url === '/bad' ? 500 : 200 }
  })
  const plain = axios.create({ baseURL: server.baseUrl, adapter: 'http', proxy: false, ...config })
  const first = await plain.get('/')
  const api = axios.create({ baseURL: server.baseUrl, adapter: 'http', proxy: false, ...config })
  attachBearer(api, startTokens({ token: (n) => `${MARKED}-${n}` }).tokens)
  const held = api.get('/held')
  await until(() => server.received.length === 2)
  expect(server.bearers.at(-1)).toBe(`Bearer ${MARKED}-1`)
  return { server, api, held, answered, last, plain, first }
}

const wholly = (holder: unknown) => inspect(holder, { depth: Infinity, showHidden: true })

/** What loggers write that print circular objects, too. */
function jsonOf(holder: unknown): string {
  const seen = new WeakSet<object>()
  return JSON.stringify(holder, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    if (seen.has(value)) return '[Circular]'
    seen.add(value)
    return value
  })
}

describe.each<[string, () => AxiosRequestConfig]>([
  ['the agent of Node', () => ({})],
  ['an agent of its own', () => ({ httpAgent: agentOf({ keepAlive: true }) })],
])('given an attached request in flight on %s', (_, configOf) => {
  it('when a request without a token uses the same agent and is printed, then no token is visible (F415)', async () => {
    const { plain, held, answered } = await inFlight(configOf())
    const response = await plain.get('/')
    const error = await failureOf<AxiosError>(plain.get('/bad'))
    for (const holder of [response, response.request, error, error.request]) {
      expectNoCanary(wholly(holder))
      expectNoCanary(jsonOf(holder))
    }
    answered.open()
    expect((await held).status).toBe(200)
  })

  it('when a request has ended, and an attached one uses its socket, then no token is visible (F415)', async () => {
    const { api, plain, first, held, answered, last, server } = await inFlight(configOf())
    expectNoCanary(wholly(first) + jsonOf(first))
    answered.open()
    await held
    const second = await plain.get('/')
    const next = api.get('/last')
    await until(() => server.received.length === 4)
    const { socket } = second.request as ClientRequest
    expect((Reflect.get(socket!, '_httpMessage') as ClientRequest).path).toBe('/last')
    expectNoCanary(wholly(second) + jsonOf(second))
    last.open()
    await next
  })

  it('when a request of the same instance opts out and is printed, then no token is visible (F415)', async () => {
    const { api, held, answered } = await inFlight(configOf())
    expectNoCanary(wholly(await api.get('/', { evergreen: false })))
    answered.open()
    await held
  })

  it('when a request of node:http uses the same agent and is printed, then no token is visible (F415)', async () => {
    const config = configOf()
    const { server, held, answered } = await inFlight(config)
    const request: ClientRequest = http.get(server.baseUrl, { agent: config.httpAgent as Agent | undefined })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    expectNoCanary(wholly(request) + wholly(response))
    response.resume()
    answered.open()
    await held
  })
})

describe('given an agent that sends one request at a time', () => {
  it('when an attached request waits in its queue, then a request that is printed shows no token (F415)', async () => {
    const { api, server, held, answered } = await inFlight({ httpAgent: agentOf({ maxSockets: 1 }) })
    const agent = agents[0]!
    const next = api.get('/')
    await until(() => Object.values(agent.requests).flat().length === 1)
    const request = http.get(server.baseUrl, { agent })
    expectNoCanary(wholly(request))
    answered.open()
    await Promise.all([held, next])
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    response.resume()
    await once(response, 'end')
  })
})

it('when the agent of Node is replaced after the attachment, then the new one is hidden, too, and that for https (F415)', async () => {
  const before = http.globalAgent
  try {
    const { plain, held, answered, api, server } = await inFlight()
    http.globalAgent = agentOf({})
    const response = await plain.get('/')
    const other = api.get('/held')
    await until(() => server.received.length === 3)
    expectNoCanary(wholly((await plain.get('/')).request) + wholly(response))
    expect(inspect([http.globalAgent, https.globalAgent])).toBe('[ Agent, Agent ]')
    answered.open()
    await Promise.all([held, other])
  } finally {
    http.globalAgent = before
  }
})
