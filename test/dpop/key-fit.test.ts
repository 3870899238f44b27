import { afterEach, describe, expect, it } from '@jest/globals'
import { createTokenManager, type TokenManager, type TokenSource } from '../../src/index.ts'
import { type DPoPKey, dpopKey } from '../../src/dpop/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { DOORS } from '../client/support/doors.ts'
import { outcome } from '../support/managed.ts'
import { watchedClock } from '../support/watched-clock.ts'
import { externalKey, keyPair, newKey } from './support/keys.ts'
import { startStrictServer } from './support/strict-server.ts'

const ended: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

const origins = ['https://api.example']
const tokenEndpoint = 'https://id.example/token'

function managed(source: TokenSource): TokenManager {
  const tokens = createTokenManager({ source })
  ended.push(() => tokens.close())
  return tokens
}
const bound = (dpop: DPoPKey | Promise<DPoPKey>) =>
  managed(oauth2({ tokenEndpoint, clientId: 'c', clientSecret: 's', dpop }))
const own = (boundTo: Promise<string>) =>
  managed({ id: 'own', boundTo, obtain: () => Promise.reject(new Error('never')) })

const NO_KEY = /^dpop must be given to the attachment: the tokens of this source are bound to its key/
const ANOTHER = /^dpop must be the same key as in the source/

describe.each(DOORS)('given $name, and a source whose tokens are bound to a key (F293)', ({ open }) => {
  it('when the attachment has no key, then attaching fails', async () => {
    const key = await newKey()
    for (const tokens of [bound(key), bound(Promise.resolve(key)), own(key.thumbprint)])
      expect(() => open(tokens, { origins })).toThrow(
        expect.objectContaining({ name: 'TypeError', message: expect.stringMatching(NO_KEY) }),
      )
  })

  it('when the attachment has another key, then attaching fails, whether their thumbprints are known or not', async () => {
    const [key, dpop] = [await newKey(), await newKey()]
    for (const tokens of [bound(key), own(key.thumbprint)]) {
      expect(() => open(tokens, { origins, dpop })).toThrow(ANOTHER)
      await Promise.all([key.thumbprint, dpop.thumbprint])
      expect(() => open(tokens, { origins, dpop })).toThrow(ANOTHER)
    }
  })

  it('when both have the same key, in one object or in two, then attaching succeeds', async () => {
    const pair = await keyPair()
    const external = await externalKey()
    for (const [key, dpop] of [
      [dpopKey(pair), dpopKey(pair)],
      [dpopKey(external), dpopKey({ ...external })],
    ] as const) {
      open(bound(key), { origins, dpop: key })
      open(bound(key), { origins, dpop })
      open(own(key.thumbprint), { origins, dpop })
    }
  })

  it('when the key was imported twice, and both thumbprints are known, then attaching succeeds', async () => {
    const [one, other] = await importedTwice()
    await Promise.all([one!.thumbprint, other!.thumbprint])
    open(bound(one!), { origins, dpop: other! })
  })

  it('when the tokens are bound to something else, such as a certificate, then no key is needed', () => {
    open(own(Promise.resolve('of a certificate')), { origins })
  })
})

/** Two objects of the same key. */
async function importedTwice(): Promise<DPoPKey[]> {
  const { publicKey, privateKey } = await keyPair(undefined, true)
  const how = { name: 'ECDSA', namedCurve: 'P-256' }
  const [spki, pkcs8] = [
    await crypto.subtle.exportKey('spki', publicKey),
    await crypto.subtle.exportKey('pkcs8', privateKey),
  ]
  const imported = async () =>
    dpopKey({
      publicKey: await crypto.subtle.importKey('spki', spki, how, true, ['verify']),
      privateKey: await crypto.subtle.importKey('pkcs8', pkcs8, how, false, ['sign']),
    })
  return [await imported(), await imported()]
}

describe.each(DOORS)('given $name, and promises of keys', ({ open }) => {
  async function startWorld(ofSource: DPoPKey | Promise<DPoPKey>, dpop: DPoPKey | Promise<DPoPKey>) {
    const clock = watchedClock()
    const server = await startStrictServer(() => clock.wallNow())
    const source = oauth2({ tokenEndpoint: server.tokenEndpoint, clientId: 'c', clientSecret: 's', dpop: ofSource })
    const tokens = createTokenManager({ source, clock, random: () => 0 })
    ended.push(
      () => server.end(),
      () => tokens.close(),
    )
    const send = open(tokens, { origins: [server.origin], dpop })
    return { server, send: (path: string) => outcome(send(server.origin + path)) }
  }

  it('when both get the same one, or promises of the same key, then requests are proved', async () => {
    const key = newKey()
    for (const [one, other] of [
      [key, key],
      [key, key.then((known) => known)],
      [key, await key],
      [await key, key],
    ] as const) {
      const { send } = await startWorld(one, other)
      expect(await send('/orders')).toMatchObject({ status: 200 })
    }
  })

  it('when the keys turn out to differ later, then nothing is sent to the API, and the error reports it', async () => {
    for (const [one, other] of [
      [newKey(), newKey()],
      [await newKey(), newKey()],
      [newKey(), await newKey()],
    ] as const) {
      const { send, server } = await startWorld(one, other)
      expect(await send('/orders')).toMatchObject({ name: 'TypeError', message: expect.stringMatching(ANOTHER) })
      expect(server.requests).toEqual([])
    }
  })

  it('when the promise of the attachment has no key, then nothing is sent, and the error reports it', async () => {
    const { send, server } = await startWorld(newKey(), Promise.resolve('key') as never)
    const message = expect.stringContaining('dpop must be a key of axios-evergreen/dpop')
    expect(await send('/orders')).toMatchObject({ name: 'TypeError', message })
    expect(server.requests).toEqual([])
  })

  it.each([
    [
      'returns no key',
      () => Promise.resolve('secret-of-nobody') as never,
      'dpop must be a key of axios-evergreen/dpop',
    ],
    ['rejects', () => Promise.reject(new Error('secret-of-nobody')), 'The promise passed as dpop was rejected'],
  ])(
    'when the promise of the source %s, then no token request is made, and the error reports it',
    async (_, given, why) => {
      const { send, server } = await startWorld(given(), newKey())
      const error = await send('/orders')
      expect(error).toMatchObject({ code: 'ERR_TOKEN_SOURCE', outcome: 'not-sent', refreshToken: 'kept' })
      expect(error).toHaveProperty('message', expect.stringContaining(why))
      expect(JSON.stringify(error)).not.toContain('of-nobody')
      expect([server.tokenCalls, server.requests]).toEqual([[], []])
    },
  )
})

describe.each(DOORS)('given $name, and an API whose time is years off (F294)', ({ open }) => {
  it('when it rejects the next proof, and sends no Date, then the request succeeds with the time of this machine', async () => {
    const clock = watchedClock()
    const server = await startStrictServer(() => clock.wallNow())
    const dpop = await newKey()
    const source = oauth2({ tokenEndpoint: server.tokenEndpoint, clientId: 'c', clientSecret: 's', dpop })
    const tokens = createTokenManager({ source, clock, random: () => 0 })
    ended.push(
      () => server.end(),
      () => tokens.close(),
    )
    const send = open(tokens, { origins: [server.origin], dpop })
    server.apiFaults.push((reply) => reply.writeHead(200, { Date: 'Sun, 22 Nov 2048 12:00:00 GMT' }).end('{}'))
    await send(`${server.origin}/first`, { method: 'POST' })
    server.showsDate = false
    expect(await send(`${server.origin}/second`, { method: 'POST' })).toMatchObject({ status: 200 })
    expect(server.requests).toEqual(['POST /first fault', 'POST /second 401 iat', 'POST /second 200'])
  })
})
