import { describe, expect, it } from '@jest/globals'
import {
  type AdoptedGrant,
  createTokenManager,
  type ExchangeContext,
  memoryStore,
  TokenError,
  type TokenGrant,
  type TokenManagerOptions,
  type TokenSource,
} from '../../src/index.ts'
import { type LoginManager, type LoginLayer, person } from '../../src/login/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { logged } from '../support/canary.ts'
import { listen, outcome } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'

const LOGIN: AdoptedGrant = {
  accessToken: 'adopted',
  accessLifetimeMs: 60_000,
  refreshToken: 'refresh-0',
  context: 'https://acme.example.com',
}

/** Records the context of each exchange. Its responses return `brings`. */
class Tenants implements TokenSource {
  readonly id = 'tenants'
  readonly login: LoginLayer | undefined
  readonly calls: string[] = []
  readonly revoked: unknown[] = []
  brings: Partial<TokenGrant> = {}
  isRejected = false
  #issued = 0

  constructor({ needsLogin = true } = {}) {
    this.login = needsLogin ? person : undefined
  }

  async obtain({ context }: ExchangeContext): Promise<TokenGrant> {
    this.calls.push(`obtain ${context}`)
    if (this.login) throw new TokenError('ERR_LOGIN_REQUIRED', 'Log in')
    return this.#grant()
  }

  async refresh(refreshToken: string, { context }: ExchangeContext): Promise<TokenGrant> {
    this.calls.push(`${refreshToken} ${context}`)
    if (this.isRejected) throw new TokenError('ERR_REFRESH_REJECTED', 'refused', { refreshToken: 'refused' })
    return this.#grant()
  }

  async revoke(tokens: object, { context }: ExchangeContext): Promise<void> {
    this.revoked.push({ ...tokens, heard: context })
  }

  #grant(): TokenGrant {
    const n = (this.#issued += 1)
    return { accessToken: `access-${n}`, accessLifetimeMs: 60_000, refreshToken: `refresh-${n}`, ...this.brings }
  }
}

function manage(source = new Tenants(), options: Partial<TokenManagerOptions> = {}, clock = manualClock()) {
  const tokens = createTokenManager({ source, clock, random: () => 0, ...options }) as LoginManager
  return { source, tokens, clock, told: listen(tokens) }
}

describe('given a context beside a token set', () => {
  it('when the token set is refreshed and no response returns another context, then each refresh receives the first one', async () => {
    const { source, tokens } = manage()
    await tokens.adopt(LOGIN)
    await tokens.renew()
    await tokens.renew()
    expect(source.calls).toEqual(['refresh-0 https://acme.example.com', 'refresh-1 https://acme.example.com'])
  })

  it('when a response returns another context, then that one counts', async () => {
    const { source, tokens } = manage()
    await tokens.adopt(LOGIN)
    source.brings = { context: 'moved' }
    await tokens.renew()
    source.brings = { context: '' }
    await tokens.renew()
    await tokens.renew()
    expect(source.calls).toEqual(['refresh-0 https://acme.example.com', 'refresh-1 moved', 'refresh-2 '])
  })

  it.each([undefined, null])('when another login is adopted with the context %s, then there is none', async (none) => {
    const { source, tokens } = manage()
    await tokens.adopt(LOGIN)
    await tokens.adopt({ ...LOGIN, refreshToken: 'refresh-9', context: none })
    await tokens.renew()
    expect(source.calls).toEqual(['refresh-9 undefined'])
  })

  it('when the refresh token is rejected and new tokens are obtained, then obtain receives no context, and the new token set has none', async () => {
    const { source, tokens } = manage(new Tenants({ needsLogin: false }))
    await tokens.adopt(LOGIN)
    source.isRejected = true
    await tokens.renew()
    source.isRejected = false
    await tokens.renew()
    expect(source.calls).toEqual(['refresh-0 https://acme.example.com', 'obtain undefined', 'refresh-1 undefined'])
  })

  it('when the user logs out, then revoke receives it with the tokens, and beside them', async () => {
    const { source, tokens } = manage()
    await tokens.adopt(LOGIN)
    await tokens.logout()
    const { accessToken, refreshToken, context } = LOGIN
    expect(source.revoked).toEqual([{ accessToken, refreshToken, context, heard: context }])
  })

  it('when an exchange from before a logout still returns a token set, then revoke receives the context of that token set', async () => {
    const { source, tokens } = manage()
    await tokens.adopt(LOGIN)
    const renewing = outcome(tokens.renew())
    while (source.calls.length === 0) await Promise.resolve()
    await tokens.logout()
    await renewing
    expect(source.revoked).toEqual([expect.objectContaining({ refreshToken: 'refresh-1', context: LOGIN.context })])
  })

  it('when there is none, then neither refresh nor revoke sees such a member', async () => {
    const seen: string[][] = []
    const source = Object.assign(new Tenants(), {
      refresh: async (_: string, context: ExchangeContext) => {
        seen.push(Object.keys(context))
        return { accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r' }
      },
      revoke: async (tokens: object) => void seen.push(Object.keys(tokens)),
    })
    const { tokens } = manage(source)
    await tokens.adopt({ refreshToken: 'r' })
    await tokens.renew()
    await tokens.logout()
    expect(seen.flat()).not.toContain('context')
  })
})

describe.each([
  ['a store in memory', () => memoryStore()],
  ['a shared store', () => sharedStore(new MemoryRegister())],
])('given %s', (_, open) => {
  it('when another owner refreshes, then it receives the context', async () => {
    const store = open()
    const { tokens, clock } = manage(new Tenants(), { store })
    await tokens.adopt(LOGIN)
    await tokens.close()
    const other = manage(new Tenants(), { store }, clock)
    await other.tokens.renew()
    expect(other.source.calls).toEqual(['refresh-0 https://acme.example.com'])
  })
})

describe('given a shared store', () => {
  it('when it has keys, then the context is sealed with the token set', async () => {
    const register = new MemoryRegister()
    const encryptionKeys = [{ id: 'k', key: Uint8Array.from({ length: 32 }, (_, n) => n) }]
    const store = sharedStore(register, { encryptionKeys })
    const { tokens } = manage(new Tenants(), { store })
    await tokens.adopt(LOGIN)
    expect(register.values.size).toBe(1)
    expect(JSON.stringify([...register.values])).not.toContain('acme')
    const other = manage(new Tenants(), { store })
    await other.tokens.renew()
    expect(other.source.calls).toEqual(['refresh-0 https://acme.example.com'])
  })

  it('when it is unavailable, then the private refreshes receive the context', async () => {
    const away = () => Promise.reject(new Error('away'))
    const store = sharedStore({ kind: 'away', read: away, replace: away })
    const { tokens, source } = manage(new Tenants(), { store })
    // The login is used here, and the caller learns that the store does not have it (F350).
    await expect(tokens.adopt(LOGIN)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    await tokens.renew()
    await tokens.renew()
    expect(source.calls).toEqual(['refresh-0 https://acme.example.com', 'refresh-1 https://acme.example.com'])
  })
})

describe('given a context that holds a secret', () => {
  it('then no event, status, error or printed form shows it', async () => {
    const { tokens, source, told } = manage()
    await tokens.adopt({ ...LOGIN, context: 'canary-1' })
    await tokens.renew()
    source.brings = { context: 'canary-2'.repeat(2_000) }
    const ended = await outcome(tokens.renew())
    expect([ended, told.anomaly.length]).toEqual([undefined, 1])
    source.brings = { context: ['canary-3'] as never }
    const error = await outcome(tokens.renew())
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SOURCE' })
    for (const shown of [tokens, source.calls.length, told, tokens.status(), error])
      expect(logged(shown)).not.toContain('canary-')
  })
})

const LONGEST = 8_192

describe('given an invalid context', () => {
  it.each([
    [42, 'context must be a string, got number'],
    ['x'.repeat(LONGEST + 1), 'context must have at most 8192 bytes in UTF-8, got 8193'],
    ['é'.repeat(LONGEST / 2) + 'x', 'context must have at most 8192 bytes in UTF-8, got 8193'],
  ])('when adopt receives it, then a TypeError names the member, and the login stays', async (context, message) => {
    const { tokens } = manage()
    await tokens.adopt(LOGIN)
    const refusal = await outcome(tokens.adopt({ ...LOGIN, accessToken: 'other', context } as AdoptedGrant))
    expect(refusal).toBeInstanceOf(TypeError)
    expect(refusal).toMatchObject({ message })
    expect(tokens.peekAccessToken()).toBe('adopted')
  })

  it('when a refresh returns it, then the source is broken', async () => {
    const { tokens, source } = manage()
    await tokens.adopt(LOGIN)
    source.brings = { context: 7 as never }
    expect(await outcome(tokens.renew())).toMatchObject({
      code: 'ERR_TOKEN_SOURCE',
      message: 'The token source is broken: context must be a string, got number',
    })
  })

  it.each(['x'.repeat(LONGEST), 'é'.repeat(LONGEST / 2), '\u0000"\ud800'.repeat(100)])(
    'when it has the maximum length, or unusual characters, then a store returns it unchanged',
    async (context) => {
      const { tokens, source } = manage(new Tenants(), { store: sharedStore(new MemoryRegister()) })
      await tokens.adopt({ ...LOGIN, context })
      await tokens.renew()
      expect(source.calls).toEqual([`refresh-0 ${context}`])
    },
  )
})
