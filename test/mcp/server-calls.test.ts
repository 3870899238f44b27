import { afterEach, describe, expect, it } from '@jest/globals'
import { createTokenManager, TokenError, type TokenManagerOptions, type TokenSource } from '../../src/index.ts'
import { type LoginManager, person } from '../../src/login/index.ts'
import { OnePage } from '../../src/login/one-page.ts'
import { ServerCalls } from '../../src/mcp/server-calls.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { failureOf } from '../axios/support/turns.ts'
import { MemoryRegister } from '../support/memory-register.ts'

const SERVER = 'https://mcp.example/mcp'
const LOGIN = { accessToken: 'access', accessLifetimeMs: 60_000, refreshToken: 'refresh' }

const REFUSED = { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } }

let tokens: LoginManager
afterEach(() => tokens.close())

function managerOf({ clock, refresh }: Pick<TokenManagerOptions, 'clock'> & { refresh?: TokenSource['refresh'] } = {}) {
  const obtain = () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'log in'))
  return createTokenManager({ source: { id: 'person', login: person, obtain, ...(refresh && { refresh }) }, clock })
}

/** Requests to one server, whose responses a test defines. */
function callsTo(
  answer: (url: URL, sent: Headers, n: number) => Response,
  { store, ...options }: Pick<TokenManagerOptions, 'clock' | 'store'> & { refresh?: TokenSource['refresh'] } = {},
) {
  tokens = managerOf(options)
  const sent: [string, string | null][] = []
  const fetch = ((input: string | URL | Request, { headers }: RequestInit = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const carried = new Headers(headers)
    sent.push([url.pathname, carried.get('authorization')])
    return Promise.resolve(answer(url, carried, sent.length))
  }) as typeof globalThis.fetch
  const calls = new ServerCalls(fetch, tokens, new URL(SERVER), new OnePage(tokens, store, 'person'))
  return { calls, sent }
}

describe('given a login at an MCP server', () => {
  it.each([
    [301, true],
    [308, true],
    [201, false],
    [404, false],
    [503, false],
  ])(
    'when a response of status %d names an address, then that address receives the token: %s',
    async (status, gets) => {
      const { calls, sent } = callsTo((_, __, n) =>
        n === 1 ? new Response(null, { status, headers: { location: '/next' } }) : new Response(),
      )
      await tokens.adopt(LOGIN)
      await calls.fetch(SERVER)
      await calls.fetch(new URL('/next', SERVER))
      expect(sent).toEqual([
        ['/mcp', 'Bearer access'],
        ['/next', gets ? 'Bearer access' : null],
      ])
    },
  )

  it('when a redirect leads to another origin, then that origin receives no token', async () => {
    const { calls, sent } = callsTo(() => Response.redirect('https://other.example/next', 307))
    await tokens.adopt(LOGIN)
    await calls.fetch(SERVER)
    await calls.fetch('https://other.example/next')
    expect(sent).toEqual([
      ['/mcp', 'Bearer access'],
      ['/next', null],
    ])
  })

  it('when the server redirects to many addresses, then it keeps the eight newest besides its own; repeats and other origins take no slot (F393)', async () => {
    const { calls, sent } = callsTo(({ searchParams }) =>
      searchParams.has('to')
        ? new Response(null, { status: 307, headers: { location: searchParams.get('to')! } })
        : new Response(),
    )
    await tokens.adopt(LOGIN)
    const foreign = 'https://other.example/mcp'
    const led = Array.from({ length: 10 }, (_, n) => `/led-${n}`)
    for (const address of [...led, '/led-2', SERVER, foreign, foreign])
      await calls.fetch(`${SERVER}?to=${encodeURIComponent(address)}`)
    sent.length = 0
    for (const address of ['/mcp', ...led]) await calls.fetch(new URL(address, SERVER))
    await calls.fetch(foreign)
    const carried = sent.filter(([, token]) => token !== null).map(([path]) => path)
    expect(carried).toEqual(['/mcp', ...led.slice(2)])
  })

  it('when a Request is sent, then it gets the token, and a request with its own header is left alone', async () => {
    const { calls, sent } = callsTo(() => new Response())
    await tokens.adopt(LOGIN)
    await calls.fetch(new Request(SERVER))
    await calls.fetch(new Request(SERVER, { headers: { authorization: 'own' } }))
    await calls.fetch(SERVER, { headers: { Authorization: 'own' } })
    expect(sent).toEqual([
      ['/mcp', 'Bearer access'],
      ['/mcp', null],
      ['/mcp', 'own'],
    ])
  })
})

describe('given a response that names the metadata of the server (RFC 9728)', () => {
  it.each([
    ['401', 401, 'Bearer resource_metadata="https://mcp.example/meta", error="x"', 'https://mcp.example/meta'],
    ['401 without quotes', 401, 'Bearer resource_metadata=https://mcp.example/meta', 'https://mcp.example/meta'],
    ['401 without the address', 401, 'Bearer', undefined],
    ['200', 200, 'Bearer resource_metadata="https://mcp.example/meta"', undefined],
    ['403', 403, 'Bearer resource_metadata="https://mcp.example/meta"', undefined],
  ])('when the status is %s, then only the address of a 401 is used', async (_, status, challenge, metadataUrl) => {
    const { calls } = callsTo(() => new Response(null, { status, headers: { 'www-authenticate': challenge } }))
    await calls.fetch(SERVER)
    expect(calls.metadataUrl).toBe(metadataUrl)
  })
})

describe('given a login that ends while its request is in flight', () => {
  it('when the response is a 401, then the request is not sent with the token of the next login', async () => {
    const { calls, sent } = callsTo((_, __, n) => {
      if (n > 1) return new Response()
      void tokens.logout()
      void tokens.adopt({ ...LOGIN, accessToken: 'of-bob' })
      return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
    })
    await tokens.adopt(LOGIN)
    expect(await failureOf(calls.fetch(SERVER))).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
    expect(sent).toEqual([['/mcp', 'Bearer access']])
  })
})

describe('given a login whose refresh token is rejected while a request waits for its token', () => {
  it('when the login came without an access token, then the request is sent once, and gets its 401 (F339)', async () => {
    const refresh = () => Promise.reject(new TokenError('ERR_REFRESH_REJECTED', 'no', { refreshToken: 'refused' }))
    const { calls, sent } = callsTo(() => new Response(null, REFUSED), { refresh })
    await tokens.adopt({ refreshToken: 'refresh' })
    await failureOf(tokens.getAccessToken())
    expect((await calls.fetch(SERVER)).status).toBe(401)
    expect(sent).toEqual([['/mcp', null]])
  })

  it('then the request is sent without one, so that the SDK gets its 401 and logs in (F339)', async () => {
    const clock = manualClock()
    const refresh = () => Promise.reject(new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected' }))
    const { calls, sent } = callsTo(() => new Response(null, REFUSED), { clock, refresh })
    await tokens.adopt(LOGIN)
    await clock.advance(61_000)
    expect((await calls.fetch(SERVER)).status).toBe(401)
    expect([sent, tokens.status().login]).toEqual([[['/mcp', null]], 'required'])
  })

  it('when another request waits for the page, and another user logs in, then it is not sent as that user (R10)', async () => {
    const clock = manualClock()
    const refresh = () => Promise.reject(new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected' }))
    const { calls, sent } = callsTo((_, headers) => new Response(null, headers.has('authorization') ? {} : REFUSED), {
      ...{ clock, refresh },
    })
    await tokens.adopt({ ...LOGIN, subject: 'alice' })
    await clock.advance(61_000)
    const [first, second] = ['one of alice', 'two of alice'].map((body) =>
      calls.fetch(SERVER, { method: 'POST', body }),
    )
    const failed = failureOf(second as Promise<unknown>)
    expect((await first)?.status).toBe(401)
    await tokens.adopt({ ...LOGIN, accessToken: 'of-bob', subject: 'bob' })
    expect(await failed).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
    expect((await calls.fetch(SERVER)).status).toBe(200)
    expect(sent.map(([, token]) => token)).toEqual([null, null, 'Bearer of-bob'])
  })
})

describe('given no login, and a request that waits for the page of another one', () => {
  it('when its caller aborts, then it ends at once', async () => {
    const clock = manualClock()
    const { calls, sent } = callsTo(() => new Response(null, { status: 401 }), { clock })
    // The first request opens the page.
    expect((await calls.fetch(SERVER)).status).toBe(401)
    const caller = new AbortController()
    const waiting = calls.fetch(SERVER, { signal: caller.signal })
    setImmediate(() => caller.abort(new Error('enough')))
    expect((await failureOf(waiting)).message).toBe('enough')
    expect([sent.length, clock.pendingTimers]).toEqual([2, 0])
  })

  it('when a user logs in while it checks which process opens the page, then it continues at once', async () => {
    const clock = manualClock()
    const register = new MemoryRegister(clock)
    let beforeRead = (): Promise<unknown> => Promise.resolve()
    const store = sharedStore({
      kind: 'slow',
      read: (key) => beforeRead().then(() => register.read(key)),
      replace: (...given) => register.replace(...given),
    })
    const { calls, sent } = callsTo(
      (_, headers) => new Response(null, { status: headers.has('authorization') ? 200 : 401 }),
      {
        clock,
        store,
      },
    )
    const other = managerOf({ clock })
    expect(await new OnePage(other, store, 'person').opens()).toBe(true)
    await other.close()
    beforeRead = () => tokens.adopt(LOGIN)
    expect((await calls.fetch(SERVER)).status).toBe(200)
    expect(sent.map(([, token]) => token)).toEqual([null, 'Bearer access'])
  })
})

describe('given a closed manager without a login', () => {
  it('when a request is made, then it rejects, and opens no page', async () => {
    const { calls, sent } = callsTo(() => new Response(null, { status: 401 }))
    await tokens.close()
    expect(await failureOf(calls.fetch(SERVER))).toMatchObject({ code: 'ERR_CLOSED' })
    expect(sent).toEqual([])
  })
})

describe('given a request whose body can be read only once', () => {
  it('when the server rejects its token, then the caller gets the 401, and the next request has another token', async () => {
    const refresh = () => Promise.resolve({ ...LOGIN, accessToken: 'access-2' })
    const { calls, sent } = callsTo(
      (_, headers) => new Response(null, headers.get('authorization') === 'Bearer access-2' ? {} : REFUSED),
      { refresh },
    )
    await tokens.adopt(LOGIN)
    const body = new Response('once').body
    expect((await calls.fetch(SERVER, { method: 'POST', body })).status).toBe(401)
    await tokens.settled()
    await calls.fetch(SERVER)
    expect(sent.map(([, token]) => token)).toEqual(['Bearer access', 'Bearer access-2'])
  })
})

describe('given arguments that a caller changes after the call (F392)', () => {
  /** A server that has rejected the first token, or none. */
  async function sentBodies(isRefused: boolean, call: (fetch: typeof globalThis.fetch) => Promise<unknown>[]) {
    const bodies: string[] = []
    tokens = managerOf({ refresh: () => Promise.resolve({ ...LOGIN, accessToken: 'access-2' }) })
    await tokens.adopt(LOGIN)
    const fetch = (async (input: string, init: RequestInit) => {
      const text = await new Request(input, { ...init, method: 'POST' }).text()
      if (isRefused && new Headers(init.headers).get('authorization') !== 'Bearer access-2')
        return new Response(null, REFUSED)
      bodies.push(`${text} ${new Headers(init.headers).get('to')}`)
      return new Response()
    }) as typeof globalThis.fetch
    const calls = new ServerCalls(fetch, tokens, new URL(SERVER), new OnePage(tokens, undefined, 'person'))
    await Promise.all(call(calls.fetch as typeof globalThis.fetch))
    return bodies.sort()
  }

  it.each([false, true])(
    'when three calls share one init, then each is sent with the values at its call, with a 401 between: %s',
    async (isRefused) => {
      const sent = await sentBodies(isRefused, (fetch) => {
        const init = { method: 'POST', body: '', headers: { to: '' } }
        return ['alice', 'bob', 'carol'].map((name) => {
          init.body = `pay ${name}`
          init.headers.to = name
          return fetch(SERVER, init)
        })
      })
      expect(sent).toEqual(['pay alice alice', 'pay bob bob', 'pay carol carol'])
    },
  )

  it.each([false, true])(
    'when a body changes, then the original is sent, with a 401 between: %s',
    async (isRefused) => {
      const sent = await sentBodies(isRefused, (fetch) => {
        const body = new URLSearchParams({ to: 'alice' })
        const bytes = new TextEncoder().encode('alice')
        const headers = new Headers({ to: 'alice' })
        const pending = [body, bytes].map((one) => fetch(SERVER, { method: 'POST', body: one, headers }))
        body.set('to', 'carol')
        bytes.fill(0)
        headers.set('to', 'carol')
        return pending
      })
      expect(sent).toEqual(['alice alice', 'to=alice alice'])
    },
  )
})
