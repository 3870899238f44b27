import { describe, expect, it } from '@jest/globals'
import { memoryStore } from '../../src/index.ts'
import { agentAt, caught, connected, finish, loggedIn, loginAt, startWorld, type World } from './login-world.ts'

/** The scope of each refresh. */
const scopesIn = (world: World) =>
  world.calls.filter(({ body }) => body.get('grant_type') === 'refresh_token').map(({ body }) => body.get('scope'))

async function startStrict(control: Partial<World['control']> = {}) {
  const world = await startWorld()
  Object.assign(world.control, control)
  return world
}

describe('given mcpLogin, and a login whose granted scope the server has named (F407)', () => {
  it('when the server requires that scope in each refresh, then each refresh succeeds', async () => {
    const world = await startStrict({ scopes: 'required' })
    const agent = await loggedIn(world, loginAt(world))
    world.expireAccess()
    expect(await agent.call('whoami')).toBe('you')
    expect(scopesIn(world)).toEqual(['read'])
  })

  it('when a step-up in one process widens it, then the refreshes of every process repeat the wider one', async () => {
    const world = await startStrict({ scopes: 'required' })
    const store = memoryStore()
    const [one, other] = [loginAt(world, { store }), loginAt(world, { store })]
    const first = await loggedIn(world, one)
    const second = agentAt(world, other)
    await connected(world, second)
    expect(String(await caught(first.call('admin')))).toMatch(/Unauthorized/)
    await finish(world, one, first)
    world.expireAccess()
    // Its first request finds another login in the place of its own.
    await caught(second.call('whoami'))
    await other.tokens.renew()
    await one.tokens.renew()
    const scopes = scopesIn(world)
    expect(scopes.length).toBeGreaterThan(1)
    for (const scope of scopes) expect(scope?.split(' ')).toContain('admin')
    expect([await first.call('admin'), await second.call('admin')]).toEqual(['admin', 'admin'])
  })

  it('when the server rejects scope in a refresh, then this refresh and later ones omit it, and one anomaly reports it', async () => {
    const world = await startStrict({ scopes: 'rejected' })
    const login = loginAt(world)
    const agent = await loggedIn(world, login)
    const anomalies: string[] = []
    login.tokens.on('anomaly', ({ kind }) => anomalies.push(kind))
    world.expireAccess()
    expect(await agent.call('whoami')).toBe('you')
    await login.tokens.renew()
    expect(scopesIn(world)).toEqual(['read', null, null])
    expect(anomalies).toEqual(['unexpected-response'])
    expect(world.counts).toMatchObject({ reuses: 0, codes: 1 })
  })

  it.each(['the server does not name it', 'it has characters that no scope has'])(
    'when %s, then refreshes omit scope',
    async (what) => {
      const world = await startStrict({ namesScope: what !== 'the server does not name it' })
      const login = loginAt(world)
      const agent = await loggedIn(world, login)
      if (world.control.namesScope) {
        const tokens = {
          access_token: 'a',
          refresh_token: 'r',
          token_type: 'Bearer',
          expires_in: 0,
          scope: 'r\u00e9ad',
        }
        const { authProvider } = login.login.transport as { authProvider: { saveTokens(given: object): Promise<void> } }
        await authProvider.saveTokens(tokens)
        await caught(login.tokens.renew())
      } else {
        world.expireAccess()
        expect(await agent.call('whoami')).toBe('you')
      }
      expect(scopesIn(world)).toEqual([null])
    },
  )

  it.each<[number, string]>([
    [401, 'something_else'],
    [404, 'not_found'],
    [400, 'invalid_request'],
    [400, 'invalid_target'],
    [400, 'unauthorized_client'],
    [403, 'access'],
  ])(
    'when a refresh is rejected with %i %s, then the error names no option that mcpLogin lacks',
    async (status, error) => {
      const world = await startWorld()
      const login = loginAt(world)
      await loggedIn(world, login)
      world.control.failures.push([status, error])
      const { message = '' } = (await caught(login.tokens.renew())) ?? {}
      expect(message).toContain(`responded with ${status}`)
      expect(message).not.toMatch(/tokenEndpoint|clientSecret|clientAuthentication|option errors|parameters|scope/)
    },
  )
})
