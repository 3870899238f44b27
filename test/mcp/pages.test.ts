import { afterEach, describe, expect, it } from '@jest/globals'
import type { TokenEvents } from '../../src/index.ts'
import { mcpLogin } from '../../src/mcp/index.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { type ManualClock, manualClock } from '../../tools/testing/manual-clock.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { KeepingProvider } from './provider.ts'

const SERVER = 'https://mcp.example/mcp'
const METADATA = 'https://id.example/.well-known/oauth-authorization-server'
const TOKEN = 'https://id.example/token'
const MINUTE_MS = 60_000

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** What the SDK calls on a provider. */
interface SdkProvider {
  tokens(): Promise<{ access_token: string } | undefined>
  saveCodeVerifier(verifier: string): Promise<void>
  codeVerifier(): string
  redirectToAuthorization(page: URL): Promise<void>
  saveTokens(tokens: object): Promise<void>
  invalidateCredentials(scope: string): Promise<void>
}

interface Given {
  readonly clock: ManualClock
  readonly register?: TokenRegister
  readonly maxWaitMs?: number
  readonly provider?: KeepingProvider
  /** The response to a request without a token. */
  readonly answer?: (address: string, init: RequestInit | undefined) => Response | Promise<Response>
}

let verifiers = 0

/** A program, with the relevant part of an SDK: a 401 opens a page. */
function program({ clock, register, maxWaitMs = 0, provider = new KeepingProvider(), answer }: Given) {
  provider.saveClientInformation({ client_id: 'agent' })
  provider.saveDiscoveryState({
    authorizationServerUrl: 'https://id.example',
    authorizationServerMetadata: { issuer: 'https://id.example', token_endpoint: TOKEN },
  })
  const login = mcpLogin({
    serverUrl: SERVER,
    provider,
    ...(register && { store: sharedStore(register) }),
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers)
      if (headers.has('authorization')) return new Response(null)
      return answer?.(new Request(input).url, init) ?? new Response(null, { status: 401 })
    },
    manager: { clock, renewal: { maxWaitMs } },
  })
  ends.push(() => login.close())
  const failed: TokenEvents['renewalFailed'][] = []
  login.tokens.on('renewalFailed', (event) => failed.push(event))
  const { fetch } = login.transport
  const sdk = login.transport.authProvider as SdkProvider
  const auth = async () => {
    verifiers += 1
    await sdk.saveCodeVerifier(`verifier-${verifiers}`)
    const page = new URL('https://id.example/authorize?client_id=agent')
    page.searchParams.set('code_challenge', `challenge of verifier-${verifiers}`)
    await sdk.redirectToAuthorization(page)
  }
  return {
    ...{ provider, tokens: login.tokens, sdk, fetch, failed, auth },
    /** @returns The result of one request. */
    async asks(): Promise<string> {
      try {
        const { status } = await fetch(SERVER)
        if (status !== 401) return String(status)
        await auth()
        return 'page'
      } catch (error) {
        return (error as { code: string }).code
      }
    },
    logsIn: (name = 'a') => sdk.saveTokens({ access_token: name, expires_in: 3600, refresh_token: `r-${name}` }),
  }
}

/** Several programs with one store. */
function programs(count: number, more: Partial<Given> = {}) {
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  return { clock, all: Array.from({ length: count }, () => program({ clock, register, ...more })), register }
}

describe('given programs that share a store, and an unanswered page (F394)', () => {
  it('when they keep sending requests, then one page counts at a time: for 2, 4, 8, 10, 10 minutes; a login starts over', async () => {
    const { clock, all } = programs(3)
    const pages: number[] = []
    for (let halfMinutes = 0; halfMinutes <= 70; halfMinutes += 1) {
      const said = []
      for (const one of all) said.push(await one.asks())
      if (said.includes('page')) pages.push(halfMinutes / 2)
      expect(said.filter((one) => one !== 'page' && one !== 'ERR_LOGIN_REQUIRED')).toEqual([])
      await clock.advance(MINUTE_MS / 2)
    }
    expect(pages).toEqual([0, 2, 6, 14, 24, 34])
    await all[1]!.logsIn()
    await all[1]!.tokens.logout()
    expect(await all[2]!.asks()).toBe('page')
    await clock.advance(2 * MINUTE_MS - 1)
    expect(await all[0]!.asks()).toBe('ERR_LOGIN_REQUIRED')
    await clock.advance(1_000)
    expect(await all[0]!.asks()).toBe('page')
  })

  it('when a program has no store, then its own page counts the same', async () => {
    const clock = manualClock()
    const one = program({ clock })
    const pages: number[] = []
    for (let minute = 0; minute <= 15; minute += 1) {
      if ((await one.asks()) === 'page') pages.push(minute)
      await clock.advance(MINUTE_MS)
    }
    expect(pages).toEqual([0, 2, 6, 14])
  })

  it("when a caller's wait limit is reached, then it gets ERR_LOGIN_REQUIRED, and opens nothing", async () => {
    const { clock, all } = programs(2, { maxWaitMs: 30_000 })
    expect(await all[0]!.asks()).toBe('page')
    for (const one of all) {
      let said: string | undefined
      void one.asks().then((what) => (said = what))
      await clock.advance(29_999)
      expect(said).toBeUndefined()
      await clock.advance(1)
      expect(said).toBe('ERR_LOGIN_REQUIRED')
    }
    expect(all.map(({ provider }) => provider.pages.length)).toEqual([1, 0])
  })

  it('when the first page is completed after a second one has opened, then its code is valid, because both have one verifier', async () => {
    const { clock, all } = programs(1)
    const [one] = all
    expect(await one!.asks()).toBe('page')
    await clock.advance(2 * MINUTE_MS)
    expect(await one!.asks()).toBe('page')
    const challenges = one!.provider.pages.map((page) => page.searchParams.get('code_challenge'))
    expect(challenges).toEqual(Array(2).fill(`challenge of ${one!.sdk.codeVerifier()}`))
    expect(one!.provider.codeVerifier()).toBe(one!.sdk.codeVerifier())
    await one!.logsIn()
    await one!.tokens.logout()
    expect(await one!.asks()).toBe('page')
    expect(one!.provider.pages[2]!.searchParams.get('code_challenge')).not.toBe(challenges[0])
  })

  it('when two programs keep the verifier in one place, then each has its own', async () => {
    const { clock, all } = programs(2, { provider: new KeepingProvider() })
    const [one, other] = all
    expect(await one!.asks()).toBe('page')
    const verifier = one!.sdk.codeVerifier()
    await clock.advance(2 * MINUTE_MS)
    expect(await other!.asks()).toBe('page')
    expect([one!.sdk.codeVerifier(), other!.sdk.codeVerifier() === verifier]).toEqual([verifier, false])
  })

  it('when a user opens a page on purpose, then it opens, and counts', async () => {
    const { clock, all } = programs(2)
    const [one, other] = all
    await one!.auth()
    expect(await other!.asks()).toBe('ERR_LOGIN_REQUIRED')
    await other!.auth()
    await one!.auth()
    expect(all.map(({ provider }) => provider.pages.length)).toEqual([2, 1])
    await clock.advance(4 * MINUTE_MS)
    expect(await other!.asks()).toBe('page')
  })
})

describe('given a failing login attempt (F395)', () => {
  const refused = () => new Response(null, { status: 401 })
  /** A program whose SDK requests the metadata, and then a token, before it opens its page. */
  const failing = (answer: NonNullable<Given['answer']>) => {
    const { clock, all, register } = programs(1)
    const one = program({
      ...{ clock, register },
      answer: (address, init) => (address === SERVER ? refused() : answer(address, init)),
    })
    return { clock, one, other: all[0]! }
  }

  it.each<[string, RequestInit | undefined, NonNullable<Given['answer']>]>([
    ['the response for the metadata is 503', undefined, () => new Response(null, { status: 503 })],
    ['the registration is rejected', { method: 'POST' }, () => new Response(null, { status: 400 })],
    ['the connection breaks', undefined, () => Promise.reject(new TypeError('fetch failed'))],
  ])('when %s, then the next request opens its page', async (_, init, answer) => {
    const { one, other } = failing(answer)
    expect((await one.fetch(SERVER)).status).toBe(401)
    expect(await other.asks()).toBe('ERR_LOGIN_REQUIRED')
    await one.fetch(METADATA, init).catch(() => undefined)
    expect(await one.asks()).toBe('page')
  })

  it('when metadata are not found, then the attempt continues; without a page it counts for five seconds', async () => {
    const { clock, one, other } = failing(() => new Response(null, { status: 404 }))
    expect((await one.fetch(SERVER)).status).toBe(401)
    await one.fetch(METADATA)
    await clock.advance(4_999)
    expect([await one.asks(), await other.asks()]).toEqual(Array(2).fill('ERR_LOGIN_REQUIRED'))
    await clock.advance(1_000)
    expect(await other.asks()).toBe('page')
  })

  it('when a page is open, and requests of other programs fail, then the page still counts', async () => {
    const { one, other } = failing(() => new Response(null, { status: 503 }))
    expect(await one.asks()).toBe('page')
    await one.fetch(METADATA)
    await one.fetch(TOKEN, { method: 'POST' })
    expect([await one.asks(), await other.asks()]).toEqual(Array(2).fill('ERR_LOGIN_REQUIRED'))
  })

  it.each<[string, (one: ReturnType<typeof program>) => Promise<unknown>]>([
    ['the code is rejected', ({ fetch }) => fetch(TOKEN, { method: 'POST' })],
    ['the SDK invalidates its tokens', ({ sdk }) => sdk.invalidateCredentials('tokens')],
    ['the provider throws', ({ sdk }) => sdk.redirectToAuthorization(new URL('https://id.example/broken'))],
  ])('when a page is open, and %s, then the next request opens a page', async (_, happens) => {
    const { clock, one, other } = failing(() => new Response(null, { status: 400 }))
    one.provider.redirectToAuthorization = (page: URL) => {
      if (page.pathname === '/broken') throw new Error('no browser')
    }
    expect(await one.asks()).toBe('page')
    expect(await other.asks()).toBe('ERR_LOGIN_REQUIRED')
    await happens(one).catch(() => undefined)
    await clock.advance(1_000)
    expect(await other.asks()).toBe('page')
  })
})

describe('given a host that uses only the provider (F396)', () => {
  it('when no user has logged in, then it gets no token; after the login it gets only the access token, renewed ahead', async () => {
    const { clock, all, register } = programs(2)
    const [one, other] = all
    expect(await one!.sdk.tokens()).toBeUndefined()
    await one!.auth()
    await one!.logsIn()
    expect(await one!.sdk.tokens()).toEqual({ access_token: 'a', token_type: 'Bearer' })
    await clock.advance(1_000)
    expect(await other!.sdk.tokens()).toEqual({ access_token: 'a', token_type: 'Bearer' })
    // Some SDKs save tokens again that lack their issuer.
    await other!.sdk.saveTokens({ access_token: 'a', token_type: 'Bearer', issuer: 'https://id.example' })
    const third = program({ clock, register })
    expect(await third.sdk.tokens()).toEqual({ access_token: 'a', token_type: 'Bearer' })
    expect(third.tokens.status()).toMatchObject({ login: 'present' })
    expect([one!.failed, other!.failed]).toEqual([[], []])
  })

  it('when it sends requests through fetch, too, then the header from the provider is not treated as its own, and the provider returns no more tokens', async () => {
    const seen: (string | null)[] = []
    const clock = manualClock()
    const one = program({ clock, answer: () => new Response(null) })
    await one.logsIn()
    const { access_token: token } = (await one.sdk.tokens())!
    await one.tokens.adopt({ accessToken: 'next', accessLifetimeMs: MINUTE_MS })
    const original = one.fetch
    const sent = async (authorization: string) => {
      seen.push(String((await original(SERVER, { headers: { authorization } })).status))
    }
    await sent(`Bearer ${token}`)
    await sent('Bearer of the caller')
    expect(seen).toEqual(['200', '200'])
    expect(await one.sdk.tokens()).toBeUndefined()
  })
})

describe('given no login (F398)', () => {
  it('when programs start, send requests, and log out, then no renewal has failed', async () => {
    const { clock, all } = programs(2)
    const alone = program({ clock })
    for (const one of [...all, alone]) {
      await one.asks()
      await one.tokens.logout()
      await one.asks()
      await one.sdk.tokens()
      await clock.advance(MINUTE_MS)
      await one.asks()
    }
    expect([...all, alone].map(({ failed }) => failed)).toEqual([[], [], []])
  })
})
