import { afterEach, describe, expect, it } from '@jest/globals'
import { createTokenManager, type TokenManager, type TokenManagerOptions } from '../../src/index.ts'
import { dpopKey } from '../../src/dpop/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import type { DPoPKey } from '../../src/core/proofs.ts'
import { sharedStore } from '../../src/store/index.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { listen, outcome } from '../support/managed.ts'
import { watchedClock, type WatchedClock } from '../support/watched-clock.ts'
import { externalKey, newKey } from './support/keys.ts'
import { startStrictServer, type StrictServer } from './support/strict-server.ts'

const HOUR = 3_600_000
const ended: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

interface World {
  server: StrictServer
  clock: WatchedClock
  key: DPoPKey
  /** How far the clock of the server is ahead of that of this machine, ms. */
  ahead: { ms: number }
  manage: (options?: Partial<OAuth2Options>, manager?: Partial<TokenManagerOptions>) => TokenManager
}

async function startWorld(): Promise<World> {
  const clock = watchedClock()
  const ahead = { ms: 0 }
  const server = await startStrictServer(() => clock.wallNow() + ahead.ms)
  ended.push(() => server.end())
  const key = await newKey()
  const { tokenEndpoint } = server
  const client = { clientId: 'client-of-nobody', clientSecret: 'secret-of-nobody', dpop: key }
  const manage: World['manage'] = (options, manager) => {
    const source = oauth2({ tokenEndpoint, ...client, ...options })
    const tokens = createTokenManager({ source, clock, random: () => 0, ...manager })
    ended.push(() => tokens.close())
    return tokens
  }
  return { server, clock, key, ahead, manage }
}

/** Skips pauses, while token requests take real time. */
async function passing<Result>({ clock }: World, tokens: TokenManager, run: () => Promise<Result>): Promise<Result> {
  let isOver = false
  const pauses: number[] = []
  const stop = tokens.on('retry', ({ delayMs }) => pauses.push(delayMs))
  const over = () => void (isOver = true)
  const result = run()
  result.then(over, over)
  const isUnderWay = () => !isOver
  while (isUnderWay()) {
    const pause = pauses.shift()
    if (pause === undefined) await new Promise((resolve) => setImmediate(resolve))
    else await clock.advance(pause)
  }
  stop()
  return result
}

const MINUTE = 60_000
const GRANT = { accessToken: 'of-the-login', accessLifetimeMs: MINUTE }

/** A user logs in elsewhere. A minute later the access token of that login has expired. */
async function logIn({ server, clock }: World, tokens: TokenManager, key: DPoPKey): Promise<void> {
  await tokens.adopt({ ...GRANT, refreshToken: server.logIn(await key.thumbprint) })
  await clock.advance(MINUTE)
}

describe('given a token endpoint that binds tokens to a key', () => {
  it('when tokens are obtained and refreshed, then each request has a proof of its own', async () => {
    const { server, manage } = await startWorld()
    const tokens = manage({ refreshTokens: 'single-use' })
    expect(await tokens.getAccessToken()).toBe('access-1')
    for (let n = 0; n < 3; n += 1) await tokens.renew()
    expect(server.tokenCalls).toEqual(['client_credentials 200', ...Array<string>(3).fill('refresh_token 200')])
  })

  it('when the clock of this machine is wrong, then the first response sets the time, and no request fails (F259)', async () => {
    for (const ms of [HOUR, -HOUR]) {
      const { server, ahead, manage } = await startWorld()
      ahead.ms = ms
      const tokens = manage()
      await tokens.getAccessToken()
      await tokens.renew()
      expect(server.tokenCalls).toEqual([
        'client_credentials 400 invalid_dpop_proof',
        'client_credentials 200',
        'client_credentials 200',
      ])
      expect(tokens.status().counts).toMatchObject({ obtains: 2, failures: 0 })
    }
  })

  it('when the proof is rejected, and nothing better is known, then the error states what to check', async () => {
    const { server, manage } = await startWorld()
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-384' }, false, ['sign', 'verify'])
    const error = await outcome(manage({ dpop: dpopKey(pair) }).getAccessToken())
    expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', serviceCode: 'invalid_dpop_proof' })
    expect(error).toHaveProperty('message', expect.stringContaining('check its algorithms, and the clock'))
    expect(server.tokenCalls).toEqual(['client_credentials 400 invalid_dpop_proof'])
  })
})

describe('given a token endpoint that requires nonces', () => {
  it('when the first request has none, then the same exchange continues with it, and later ones have the latest (F256)', async () => {
    const { server, manage } = await startWorld()
    server.demands.token = 'latest'
    const tokens = manage({ refreshTokens: 'single-use' })
    const told = listen(tokens)
    await tokens.getAccessToken()
    await tokens.renew()
    expect(server.tokenCalls).toEqual([
      'client_credentials 400 use_dpop_nonce',
      'client_credentials 200',
      'refresh_token 200',
    ])
    expect(tokens.status().counts).toMatchObject({ obtains: 1, refreshes: 1, failures: 0 })
    expect(told.retry).toEqual([])
  })

  it('when it changes nonces before a refresh of a login, then the presentation is not counted, and nothing is in doubt (F256)', async () => {
    const world = await startWorld()
    const { server, key, manage } = world
    server.demands.token = 'latest'
    const tokens = manage({ grant: 'login', account: 'somebody' })
    const told = listen(tokens)
    await logIn(world, tokens, key)
    for (let n = 0; n < 5; n += 1) {
      server.changeNonces(true)
      await (n === 0 ? tokens.getAccessToken() : tokens.renew())
    }
    expect(server.tokenCalls).toEqual(Array(5).fill(['refresh_token 400 use_dpop_nonce', 'refresh_token 200']).flat())
    expect([told.retry, told.renewalFailed, told.suspicious]).toEqual([[], [], []])
    expect(server.strangers).toEqual([])
  })

  it('when it rejects nonces again and again, then the service counts as unavailable, and the login stays (F256)', async () => {
    const world = await startWorld()
    const { server, clock, key, manage } = world
    const tokens = manage({ grant: 'login', account: 'somebody' })
    const told = listen(tokens)
    await logIn(world, tokens, key)
    server.demands.token = 'another'
    const error = await outcome(passing(world, tokens, () => tokens.getAccessToken()))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', serviceCode: 'use_dpop_nonce' })
    expect(new Set(server.tokenCalls)).toEqual(new Set(['refresh_token 400 use_dpop_nonce']))
    expect(server.tokenCalls.length % 2).toBe(0)
    server.demands.token = 'latest'
    await clock.advance(60_000)
    expect(await passing(world, tokens, () => tokens.getAccessToken())).toMatch(/^access-/)
    expect(told.suspicious).toEqual([])
  })
})

describe('given a key that does not sign', () => {
  it('when a login must be refreshed, then nothing is sent, nothing is in doubt, and it is refreshed once the key signs', async () => {
    const world = await startWorld()
    const { server, clock, manage } = world
    const given = await externalKey()
    let isBroken = true
    const sign = (data: Uint8Array) => (isBroken ? Promise.reject(new Error('secret-of-nobody')) : given.sign(data))
    const key = dpopKey({ publicJwk: given.publicJwk, sign })
    const tokens = manage({ grant: 'login', account: 'somebody', dpop: key })
    const told = listen(tokens)
    await logIn(world, tokens, key)
    const error = await outcome(passing(world, tokens, () => tokens.getAccessToken()))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SOURCE' })
    expect(server.tokenCalls).toEqual([])
    isBroken = false
    await clock.advance(60_000)
    expect(await passing(world, tokens, () => tokens.getAccessToken())).toMatch(/^access-/)
    expect([server.tokenCalls, told.suspicious]).toEqual([['refresh_token 200'], []])
  })

  it('when it hangs until the deadline, then nothing was sent, and the error names it', async () => {
    const { server, clock, manage } = await startWorld()
    const { publicJwk } = await externalKey()
    const tokens = manage(
      { dpop: dpopKey({ publicJwk, sign: () => new Promise(() => undefined) }) },
      { retry: { maxAttempts: 1 } },
    )
    const waiting = outcome(tokens.getAccessToken())
    await clock.advance(0)
    await clock.advance(10_000)
    const error = await waiting
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'not-sent' })
    expect(error).toHaveProperty('message', expect.stringContaining('The key of dpop'))
    expect(server.tokenCalls).toEqual([])
  })
})

describe('given a response whose token has another type', () => {
  it.each([
    [
      'Bearer, although there is a key',
      'Bearer',
      true,
      /token_type must be DPoP, got Bearer: the server has not bound/,
    ],
    ['something else, although there is a key', 'secret-of-nobody', true, /must be DPoP, got something else/],
    ['DPoP, although there is no key', 'DPoP', false, /token_type must be Bearer, got DPoP: pass the key as dpop/],
  ])('when it is %s, then the error names it', async (_, type, hasKey, message) => {
    const world = await startWorld()
    const { server, manage } = world
    server.tokenType = type
    const proven = manage({}, { retry: { maxAttempts: 1 } })
    // Without a key the server issues no token, so this request makes its own proof.
    const tokens = hasKey ? proven : manage({ dpop: undefined, clientAuthentication: await ownProof(world) })
    const error = await outcome(passing(world, tokens, () => tokens.getAccessToken()))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', message: expect.stringMatching(message) })
    expect(String(error)).not.toContain('secret-of-nobody')
  })
})
async function ownProof({ server, clock, key }: World) {
  const { proofsOf } = await import('../../src/core/proof-port.ts')
  return async (_as: unknown, _client: unknown, _body: URLSearchParams, headers: Headers) => {
    const { text } = await proofsOf('dpop', key).prove({ method: 'POST', url: new URL(server.tokenEndpoint) }, clock)
    headers.set('DPoP', text)
  }
}

describe('given a store shared by owners with different keys', () => {
  const store = (register: MemoryRegister) =>
    sharedStore(register, { encryptionKeys: [{ id: 'key', key: Uint8Array.from({ length: 32 }, (_, n) => n) }] })

  it.each([
    ['their own keys', undefined],
    ['one storeKey', 'of-somebody'],
  ])(
    'when they have %s, then each obtains for itself, and none uses or presents a token set of another (F260)',
    async (_, storeKey) => {
      const { server, clock, key, manage } = await startWorld()
      const register = new MemoryRegister(clock)
      const keys = [key, await newKey(), key]
      const owners = keys.map((dpop) =>
        manage({ dpop, refreshTokens: 'single-use' }, { store: store(register), ...(storeKey && { storeKey }) }),
      )
      const served: string[] = []
      for (const owner of owners) served.push(await owner.getAccessToken())
      expect(served).toEqual(['access-1', 'access-2', 'access-1'])
      for (const owner of owners) await owner.renew()
      expect([server.strangers, server.tokenCalls.filter((call) => !call.endsWith('200'))]).toEqual([[], []])
    },
  )

  it('when one of them has a login, then those with another key require a login (F260)', async () => {
    const world = await startWorld()
    const { server, clock, key, manage } = world
    const register = new MemoryRegister(clock)
    const login = { grant: 'login', account: 'somebody' } as const
    const [one, sibling, other] = [key, key, await newKey()].map((dpop) =>
      manage({ ...login, dpop }, { store: store(register) }),
    )
    await logIn(world, one!, key)
    expect(await one!.getAccessToken()).toBe(await sibling!.getAccessToken())
    expect(await outcome(other!.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    await other!.reset()
    await one!.renew()
    expect([server.strangers, server.tokenCalls]).toEqual([[], ['refresh_token 200', 'refresh_token 200']])
  })

  it('when the store has the login of a bearer client, then a client with a key does not present it (F260)', async () => {
    const { server, clock, manage } = await startWorld()
    const register = new MemoryRegister(clock)
    const login = { grant: 'login', account: 'somebody' } as const
    await manage({ ...login, dpop: undefined }, { store: store(register) }).adopt({
      ...GRANT,
      refreshToken: 'bearer-of-nobody',
    })
    const error = await outcome(manage(login, { store: store(register) }).getAccessToken())
    expect(error).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect(server.tokenCalls).toEqual([])
  })
})
