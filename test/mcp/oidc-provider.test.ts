import { afterEach, describe, expect, it } from '@jest/globals'
import { memoryStore } from '../../src/index.ts'
import { startThread } from '../oauth2/support/oidc-server.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { type Agent, AGENTS } from './agents.ts'
import { agentAt, caught, connected, finish, loggedIn, loginAt, startWorld } from './login-world.ts'

interface Counts {
  readonly codes: number
  readonly refreshes: number
  readonly revokedGrants: number
  readonly registrations: number
  readonly refusals: number
}

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** The MCP server of the tests, with oidc-provider as its authorization server. */
async function started() {
  const { call, end } = startThread('mcp-provider.mjs')
  ends.push(end)
  const issuer = await call<string>('start')
  const scopeOf = (token: string, resource: string) => call<string | undefined>('scopeOf', { token, resource })
  /** Starts another MCP server. */
  const another = async () => {
    const server = await startWorld({ authorization: { issuer, scopeOf } })
    return { ...server, agree: (page: URL | string) => agreed(String(page)) }
  }
  return {
    another,
    world: await another(),
    counts: () => call<Counts>('counts'),
    resources: () => call<[grant: string, resource: string][]>('resources'),
    expireAccess: () => call('expireAccess'),
    revokeGrants: () => call('revokeGrants'),
  }
}

/** Follows the pages of a login, with their cookies, back to the program. @returns the code */
async function agreed(page: string): Promise<string> {
  const cookies = new Map<string, string>()
  for (let next = page; ;) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const { headers, status } = await fetch(next, { redirect: 'manual', headers: { cookie } })
    for (const set of headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!
      cookies.set(name!, value!)
    }
    const location = headers.get('location')
    if (location === null) throw new Error(`the page answers ${status}`)
    next = new URL(location, next).href
    const code = new URL(next).searchParams.get('code')
    if (code !== null) return code
  }
}

describe.each(AGENTS.slice(0, 2))('given oidc-provider, and %s', (_, agentOf) => {
  it('when a user logs in, then each refresh names the resource, rotates, and returns a valid token', async () => {
    const { world, counts, resources, expireAccess } = await started()
    const clock = manualClock()
    const login = loginAt(world, { manager: { clock } })
    const agent = await loggedIn(world, login, agentOf)
    expect(await agent.call('whoami')).toBe('you')
    for (let n = 0; n < 3; n += 1) {
      // Past the gap between two renewals, a tenth of the lifetime.
      await clock.advance(61_000)
      await expireAccess()
      expect(await agent.call('whoami')).toBe('you')
    }
    const { href } = world.serverUrl
    const refreshed = ['refresh_token', href]
    expect(await resources()).toEqual([['authorization_code', href], refreshed, refreshed, refreshed])
    expect(await counts()).toEqual({ codes: 1, refreshes: 3, revokedGrants: 0, registrations: 1, refusals: 0 })
  })

  it('when a tool requires another scope, then the step-up of the SDK runs, and refreshes keep it (F318)', async () => {
    const { world, counts, expireAccess } = await started()
    const login = loginAt(world)
    const agent = await loggedIn(world, login, agentOf)
    expect(String(await caught(agent.call('admin')))).toMatch(/Unauthorized/)
    await finish(world, login, agent)
    expect(await agent.call('admin')).toBe('admin')
    await expireAccess()
    expect(await agent.call('admin')).toBe('admin')
    expect(await counts()).toMatchObject({ codes: 2, refreshes: 1, registrations: 1, refusals: 0 })
  })

  it('when the grant is revoked, then one page opens, and the next login works (F318)', async () => {
    const { world, counts, expireAccess, revokeGrants } = await started()
    const login = loginAt(world)
    const agent = await loggedIn(world, login, agentOf)
    await revokeGrants()
    await expireAccess()
    expect(String(await caught(agent.call('whoami')))).toMatch(/Unauthorized/)
    await finish(world, login, agent)
    expect([await agent.call('whoami'), login.provider.pages.length]).toEqual(['you', 2])
    expect(await counts()).toMatchObject({ codes: 2, refreshes: 0, registrations: 1, refusals: 1 })
  })

  it('when two managers share the login, then no refresh token is presented twice, and logout revokes it (F315, F318)', async () => {
    const { world, counts, expireAccess } = await started()
    const store = memoryStore()
    const [one, other] = [loginAt(world, { store }), loginAt(world, { store })]
    const first = await loggedIn(world, one, agentOf)
    const second = agentAt(world, other, agentOf)
    await connected(world, second)
    await expireAccess()
    expect(await Promise.all([first.call('whoami'), second.call('whoami')])).toEqual(['you', 'you'])
    expect(await counts()).toMatchObject({ refreshes: 1, revokedGrants: 0, refusals: 0 })
    expect(await other.tokens.logout()).toMatchObject({ revoked: true })
    expect(await counts()).toMatchObject({ revokedGrants: 1 })
    expect(String(await caught(second.call('whoami')))).toMatch(/Unauthorized/)
  })

  it('when two servers have this authorization server, then each has a login whose tokens are for it alone, and a logout ends one', async () => {
    const { world, another, counts, resources, expireAccess } = await started()
    const worlds = [world, await another()]
    const store = memoryStore()
    const logins = worlds.map((one) => loginAt(one, { store }))
    const agents: Agent[] = []
    for (const [n, one] of worlds.entries()) agents.push(await loggedIn(one, logins[n]!, agentOf))
    await expireAccess()
    expect(await Promise.all(agents.map((agent) => agent.call('whoami')))).toEqual(['you', 'you'])
    const named = ['authorization_code', 'refresh_token'].flatMap((grant) =>
      worlds.map(({ serverUrl }) => [grant, serverUrl.href]),
    )
    expect((await resources()).sort()).toEqual(named.sort())
    const token = await logins[0]!.tokens.getAccessToken()
    const init = { method: 'POST', headers: { authorization: `Bearer ${token}` } }
    expect((await fetch(worlds[1]!.serverUrl, init)).status).toBe(401)
    await logins[0]!.tokens.logout()
    expect(await agents[1]!.call('whoami')).toBe('you')
    expect(await counts()).toMatchObject({ codes: 2, refreshes: 2, refusals: 0 })
  })
})
