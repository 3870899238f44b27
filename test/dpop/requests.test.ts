import { afterEach, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { Readable } from 'node:stream'
import { attachBearer, createTokenManager, type TokenManager } from '../../src/index.ts'
import { dpopKey } from '../../src/dpop/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import type { DPoPKey } from '../../src/core/proofs.ts'
import { DOORS, type Door, type Send } from '../client/support/doors.ts'
import { listen, outcome } from '../support/managed.ts'
import { watchedClock, type WatchedClock } from '../support/watched-clock.ts'
import { externalKey, newKey } from './support/keys.ts'
import { startStrictServer, type StrictServer } from './support/strict-server.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const ended: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

interface World {
  server: StrictServer
  clock: WatchedClock
  ahead: { ms: number }
  tokens: TokenManager
  send: Send
}

async function startWorld(door: Door, given?: DPoPKey): Promise<World> {
  const clock = watchedClock()
  const ahead = { ms: 0 }
  const server = await startStrictServer(() => clock.wallNow() + ahead.ms)
  const dpop = given ?? (await newKey())
  const { origin, tokenEndpoint } = server
  const source = oauth2({ tokenEndpoint, clientId: 'client-of-nobody', clientSecret: 'secret-of-nobody', dpop })
  const tokens = createTokenManager({ source, clock, random: () => 0 })
  ended.push(
    () => server.end(),
    () => tokens.close(),
  )
  const send = door.open(tokens, { origins: [origin], dpop })
  return { server, clock, ahead, tokens, send: (path, asked) => send(origin + path, asked) }
}

describe.each(DOORS)('given $name, and an API that requires proofs', (door) => {
  it('when requests are sent at once and one after another, then each has a proof of its own', async () => {
    const { server, send } = await startWorld(door)
    const paths = Array.from({ length: 20 }, (_, n) => `/orders/${n}?page=${n}`)
    const answers = await Promise.all(paths.map((path) => send(path, { method: 'POST', body: path })))
    for (const path of ['/a', '/a', '/a%20b?c=d#e']) answers.push(await send(path))
    expect(answers.map(({ status }) => status)).toEqual(Array(23).fill(200))
    expect(server.bodies.slice(0, 20).sort()).toEqual(paths.sort())
    expect(server.tokenCalls).toEqual(['client_credentials 200'])
  })

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])(
    'when the method is %s, then the proof has it',
    async (method) => {
      const { server, send } = await startWorld(door)
      expect(
        await send('/orders', { method: method.toLowerCase() === 'patch' ? method : method.toLowerCase() }),
      ).toMatchObject({ status: 200 })
      expect(server.requests).toEqual([`${method} /orders 200`])
    },
  )

  it('when the API requires a nonce, then the same token is sent with a new proof, once, and nothing is renewed (F257)', async () => {
    const { server, send } = await startWorld(door)
    server.demands.api = 'latest'
    expect(await send('/orders', { method: 'POST', body: 'twelve' })).toMatchObject({ status: 200 })
    expect(await send('/wallet')).toMatchObject({ status: 200 })
    expect(server.requests).toEqual(['POST /orders 401 nonce', 'POST /orders 200', 'GET /wallet 200'])
    expect(server.bodies).toEqual(['twelve', ''])
    expect(server.tokenCalls).toEqual(['client_credentials 200'])
  })

  it('when the API rejects nonces again and again, then the caller gets its response, and nothing is renewed (F257)', async () => {
    const { server, send } = await startWorld(door)
    server.demands.api = 'another'
    expect(await send('/orders')).toMatchObject({ status: 401 })
    expect(server.requests).toEqual(['GET /orders 401 nonce', 'GET /orders 401 nonce'])
    expect(server.tokenCalls).toEqual(['client_credentials 200'])
  })

  it('when successful responses have new nonces, then later requests have the latest of their origin (F258)', async () => {
    const { server, send } = await startWorld(door)
    server.demands.api = server.demands.token = 'latest'
    await send('/first')
    for (let n = 0; n < 5; n += 1) {
      await send(`/orders/${n}`)
      server.changeNonces()
      // A request that receives the nonce: rejected, and sent again with a new proof.
      expect(await send('/refused')).toMatchObject({ status: 200 })
    }
    expect(server.requests.filter((line) => line.includes('/orders/'))).toEqual(
      Array.from({ length: 5 }, (_, n) => `GET /orders/${n} 200`),
    )
    expect(server.requests.filter((line) => line.includes('401'))).toHaveLength(6)
  })

  it('when the API rejects the token, then the replay has another token and another proof', async () => {
    const { server, tokens, send } = await startWorld(door)
    const told = listen(tokens)
    await send('/orders')
    server.revokeAccessTokens()
    expect(await send('/orders', { method: 'POST', body: 'twelve' })).toMatchObject({ status: 200 })
    expect(server.requests).toEqual(['GET /orders 200', 'POST /orders 401 token', 'POST /orders 200'])
    expect([server.bodies, told.anomaly]).toEqual([['', 'twelve'], []])
  })

  it('when it requires a nonce and rejects the token, then both are handled, each once', async () => {
    const { server, send } = await startWorld(door)
    await send('/orders')
    server.demands.api = 'latest'
    server.revokeAccessTokens()
    expect(await send('/orders', { method: 'POST', body: 'twelve' })).toMatchObject({ status: 200 })
    expect(server.requests.slice(1)).toEqual(['POST /orders 401 nonce', 'POST /orders 401 token', 'POST /orders 200'])
  })

  it('when it requires a nonce for the second token too, then that token has a second proof (F257)', async () => {
    const { server, send } = await startWorld(door)
    server.demands.api = server.demands.token = 'latest'
    await send('/orders')
    server.changeNonces()
    server.revokeAccessTokens()
    // Token endpoint and API are of one origin, but have different nonces: the renewal returns one that the API does not accept.
    expect(await send('/orders', { method: 'POST', body: 'twelve' })).toMatchObject({ status: 200 })
    expect(server.requests.slice(2)).toEqual([
      'POST /orders 401 nonce',
      'POST /orders 401 token',
      'POST /orders 401 nonce',
      'POST /orders 200',
    ])
    expect(server.bodies).toEqual(['', 'twelve'])
  })

  it.each([
    ['behind', -5 * MINUTE],
    ['ahead', 5 * MINUTE],
  ])('when the clock of this machine is five minutes %s, then no request fails (F259)', async (_, offMs) => {
    const { server, clock, ahead, send } = await startWorld(door)
    ahead.ms = -offMs
    expect(await send('/orders')).toMatchObject({ status: 200 })
    expect(server.requests).toEqual(['GET /orders 200'])
    // The clock is corrected, but not enough. The known time of the server is void, and a rejection sets it again.
    const stepMs = -Math.sign(offMs) * 2 * MINUTE
    clock.stepWall(stepMs)
    ahead.ms -= stepMs
    expect(await send('/orders')).toMatchObject({ status: 200 })
    expect(server.requests.slice(1)).toEqual(['GET /orders 401 iat', 'GET /orders 200'])
    expect(server.tokenCalls.filter((call) => call.endsWith('200'))).toHaveLength(1)
  })

  it.each([301, 302, 303, 307, 308])(
    'when the API redirects with %d, then the proof is not forwarded',
    async (status) => {
      const { server, send } = await startWorld(door)
      server.apiFaults.push((reply) => reply.writeHead(status, { Location: '/elsewhere' }).end())
      const answer = await send('/orders').then(
        (answered) => answered.status,
        (error: unknown) => (error as { code?: unknown }).code,
      )
      expect([status, 0, 'ERR_FR_TOO_MANY_REDIRECTS']).toContain(answer)
      expect(server.requests).toEqual(['GET /orders fault'])
    },
  )

  it('when the key does not sign, then nothing is sent, and the error reports it', async () => {
    const given = await externalKey()
    let isBroken = false
    const sign = (data: Uint8Array) => (isBroken ? Promise.reject(new Error('secret-of-nobody')) : given.sign(data))
    const { server, send } = await startWorld(door, dpopKey({ publicJwk: given.publicJwk, sign }))
    await send('/orders')
    isBroken = true
    const error = await outcome(send('/orders'))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SOURCE', message: expect.stringContaining('no request was sent') })
    expect(server.requests).toEqual(['GET /orders 200'])
  })

  it('when the key hangs, then an abort ends the wait of its caller, and nothing is sent', async () => {
    const given = await externalKey()
    let isHanging = false
    const sign = (data: Uint8Array) => (isHanging ? new Promise<never>(() => undefined) : given.sign(data))
    const { server, clock, send } = await startWorld(door, dpopKey({ publicJwk: given.publicJwk, sign }))
    await send('/orders')
    isHanging = true
    const giving = new AbortController()
    const [one, other] = [outcome(send('/orders', { signal: giving.signal })), outcome(send('/orders'))]
    await clock.advance(1_000)
    giving.abort()
    expect(await one).toMatchObject({ name: expect.stringMatching(/^(CanceledError|AbortError)$/) })
    await clock.advance(30_000)
    expect(await other).toMatchObject({ code: 'ERR_WAIT_TIMEOUT' })
    expect(server.requests).toEqual(['GET /orders 200'])
  })

  it('when the token expires while the key signs, then the request waits for the next one (F127)', async () => {
    const given = await externalKey()
    let onSign = (): void => undefined
    const sign = (data: Uint8Array) => {
      onSign()
      return given.sign(data)
    }
    const { server, clock, send } = await startWorld(door, dpopKey({ publicJwk: given.publicJwk, sign }))
    await send('/orders')
    await clock.advance(1_000) // the least time between two renewals
    onSign = () => {
      onSign = () => undefined
      clock.stepWall(HOUR)
    }
    expect(await send('/orders', { method: 'POST', body: 'twelve' })).toMatchObject({ status: 200 })
    expect(server.requests).toEqual(['GET /orders 200', 'POST /orders 200'])
    expect(server.tokenCalls).toHaveLength(2)
    expect(server.bodies).toEqual(['', 'twelve'])
  })

  it('when it has scheme too, then attaching fails, and names the remedy', async () => {
    const tokens = createTokenManager({ source: { id: 'own', obtain: () => Promise.reject(new Error('never')) } })
    const options = { origins: ['https://api.example'], dpop: await newKey() }
    for (const scheme of ['Token', 'DPoP'])
      expect(() => door.open(tokens, { ...options, scheme })).toThrow(/^scheme must not be given with dpop/)
    const dpop = { thumbprint: Promise.resolve('thumbprint') }
    expect(() => door.open(tokens, { origins: ['https://api.example'], dpop })).toThrow(
      /^dpop must be a key of axios-evergreen/,
    )
  })
})

describe('given axios', () => {
  const tokens = () => createTokenManager({ source: { id: 'own', obtain: () => Promise.reject(new Error('never')) } })

  it.each([
    ['as a function', Object.assign(() => Promise.reject(new Error('never')), { adapterName: 'xhr' })],
    ['by a name that this environment does not have', 'xhr'],
  ])('when the instance has the xhr adapter %s, then attaching fails, and names the remedy', async (_, adapter) => {
    const api = axios.create({ baseURL: 'https://api.example', adapter })
    const dpop = await newKey()
    expect(() => attachBearer(api, tokens(), { dpop })).toThrow(
      /dpop cannot be used with the xhr adapter.*adapter: 'fetch'/,
    )
    expect(() => attachBearer(api, tokens())).not.toThrow()
  })

  it('when a stream meets a nonce challenge, then the caller gets its response, and the next request has the nonce (F257)', async () => {
    const [door] = DOORS as readonly [Door]
    const { server, send } = await startWorld(door)
    server.demands.api = 'latest'
    expect(await send('/upload', { method: 'POST', body: Readable.from(['twelve']) as never })).toMatchObject({
      status: 401,
    })
    expect(await send('/upload', { method: 'POST', body: Readable.from(['twelve']) as never })).toMatchObject({
      status: 200,
    })
    expect(server.bodies).toEqual(['twelve'])
    expect(server.tokenCalls).toEqual(['client_credentials 200'])
  })

  it('when a request has failed, then neither its config nor its error shows the proof or the token', async () => {
    const [door] = DOORS as readonly [Door]
    const dpop = await newKey()
    const { server, tokens: given } = await startWorld(door, dpop)
    server.demands.api = 'another'
    const api = axios.create({ baseURL: server.origin })
    attachBearer(api, given, { dpop })
    const error = await outcome(api.get('/orders'))
    const { config, message } = error as unknown as { config: object; message: string }
    expect(message).toContain('401')
    expect(JSON.stringify(config)).not.toMatch(/DPoP|access-/i)
  })
})
