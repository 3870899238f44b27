import { afterEach, expect } from '@jest/globals'
import { mcpLogin, type McpLoginOptions } from '../../src/mcp/index.ts'
import { type Agent, AGENTS } from './agents.ts'
import { KeepingProvider, type Provider } from './provider.ts'
import { startMcpWorld } from './world.mjs'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

export type World = Awaited<ReturnType<typeof startMcpWorld>>

export async function startWorld(options: Parameters<typeof startMcpWorld>[0] = {}): Promise<World> {
  const world = await startMcpWorld(options)
  ends.push(() => world.close())
  return world
}

export function loginAt(world: World, options: Partial<McpLoginOptions> & { provider?: Provider } = {}) {
  const { provider = new KeepingProvider() } = options
  const login = mcpLogin({ serverUrl: world.serverUrl, ...options, provider })
  ends.push(() => login.close())
  return { login, provider, tokens: login.tokens }
}
export type Login = ReturnType<typeof loginAt>

export const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as Error,
  )

const [, firstAgent] = AGENTS[0]!

export function agentAt(world: World, { login }: Login, agentOf = firstAgent): Agent {
  const agent = agentOf(world.serverUrl, login)
  ends.push(() => agent.close())
  return agent
}

/** The user confirms the last page, and the program passes the code to the SDK. */
export async function finish(world: World, { provider }: Pick<Login, 'provider'>, agent: Agent): Promise<void> {
  await agent.finishAuth(await world.agree(provider.pages.at(-1)!), world.issuer)
  await connected(world, agent)
}

/** Connects, and waits until the SDK has requested its event stream, which it does without its caller. */
export async function connected(world: World, agent: Agent): Promise<void> {
  const streams = () => world.requests.filter(({ method, status }) => method === 'GET' && status !== 401).length
  const before = streams()
  await agent.connect()
  while (streams() === before) await new Promise((resolve) => setImmediate(resolve))
}

/** The user logs in through the SDK. */
export async function loggedIn(world: World, login: Login, agentOf = firstAgent): Promise<Agent> {
  const agent = agentAt(world, login, agentOf)
  expect(String(await caught(agent.connect()))).toMatch(/Unauthorized/)
  await finish(world, login, agent)
  return agent
}
