import { describe, expect, it } from '@jest/globals'
import * as of2 from '@modelcontextprotocol/client'
import * as of1 from '@modelcontextprotocol/sdk/client/auth-extensions.js'
import { memoryStore } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { type AgentOf, AGENTS } from './agents.ts'
import { agentAt, caught, connected, loggedIn, loginAt, startWorld, type World } from './login-world.ts'
import { KeepingProvider } from './provider.ts'

/** Both MCP SDKs, in their newest versions. */
const SDKS = AGENTS.slice(0, 2)

/** Ten at once, with an expired access token. */
async function expectTenServed(world: World, login: ReturnType<typeof loginAt>, agentOf: AgentOf) {
  const agents = Array.from({ length: 10 }, () => agentAt(world, login, agentOf))
  for (const agent of agents) await connected(world, agent)
  return async () => expect(await Promise.all(agents.map((one) => one.call('whoami')))).toEqual(Array(10).fill('you'))
}

/** @returns How often the program has logged in, for ten clients whose access token expires once. */
async function loginsOf(world: World, provider: unknown, agentOf: AgentOf) {
  const clock = manualClock()
  const login = loginAt(world, { provider: provider as KeepingProvider, manager: { clock } })
  const ten = await expectTenServed(world, login, agentOf)
  await ten()
  world.expireAccess()
  await clock.advance(3_600_000)
  await ten()
  return world.counts.codes
}

describe.each(SDKS)('given %s and a provider that needs no user', (name, agentOf) => {
  const module = name.startsWith('SDK 1') ? of1 : of2

  it('when it is ClientCredentialsProvider, then ten clients at once make one token request for each lifetime', async () => {
    const world = await startWorld()
    world.control.authMethods = ['client_secret_basic']
    world.register({ client_id: 'robot', client_secret: 'secret' })
    const provider = new module.ClientCredentialsProvider({
      ...{ clientId: 'robot', clientSecret: 'secret', expectedIssuer: world.issuer },
    })
    expect(await loginsOf(world, provider, agentOf)).toBe(2)
  })

  it('when the response to the token request is 503, then the next call logs in at once (F395)', async () => {
    const world = await startWorld()
    world.control.authMethods = ['client_secret_basic']
    world.control.failures.push(503)
    world.register({ client_id: 'robot', client_secret: 'secret' })
    const provider = new module.ClientCredentialsProvider({
      ...{ clientId: 'robot', clientSecret: 'secret', expectedIssuer: world.issuer },
    })
    const login = loginAt(world, { provider: provider as never, manager: { clock: manualClock() } })
    expect(await caught(agentAt(world, login, agentOf).connect())).toBeDefined()
    const agent = agentAt(world, login, agentOf)
    await connected(world, agent)
    expect(await agent.call('whoami')).toBe('you')
  })
})

describe('given CrossAppAccessProvider of client 2 (ID-JAG)', () => {
  it('when its token expires, then ten clients at once make one token request for each lifetime', async () => {
    const world = await startWorld()
    world.control.authMethods = ['client_secret_basic']
    world.register({ client_id: 'robot', client_secret: 'secret' })
    let assertions = 0
    const provider = new of2.CrossAppAccessProvider({
      ...{ clientId: 'robot', clientSecret: 'secret', expectedIssuer: world.issuer },
      async assertion() {
        assertions += 1
        world.assert(`id-jag-${assertions}`)
        return `id-jag-${assertions}`
      },
    })
    expect([await loginsOf(world, provider, SDKS[1]![1]), assertions]).toEqual([2, 2])
  })
})

describe.each(SDKS)('given %s and a client id that is the URL of a document (CIMD)', (_, agentOf) => {
  it('when a user logs in, then nothing is registered, and another process refreshes with that client', async () => {
    const world = await startWorld()
    world.control.hasDocuments = true
    const store = memoryStore()
    const clientMetadataUrl = 'https://agent.example/client.json'
    const provider = () => Object.assign(new KeepingProvider(), { clientMetadataUrl })
    const login = loginAt(world, { store, provider: provider() })
    const agent = await loggedIn(world, login, agentOf)
    await agent.close()
    await login.login.close()
    const other = loginAt(world, { store, provider: provider() })
    const next = agentAt(world, other, agentOf)
    await connected(world, next)
    world.expireAccess()
    expect(await next.call('whoami')).toBe('you')
    expect(world.counts).toMatchObject({ registrations: 0, refreshes: 1, codes: 1 })
    expect(world.calls.find(({ what }) => what === 'refresh_token')!.body.get('client_id')).toBe(clientMetadataUrl)
  })
})
