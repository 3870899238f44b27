import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import { dpopKey, webKey } from '../../src/dpop/index.ts'
import type { KeyPair } from '../../src/dpop/key-pair.ts'
import { proofsOf } from '../../src/core/proof-port.ts'
import type { ProvedRequest } from '../../src/core/proofs.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { outcome } from '../support/managed.ts'
import { realProcess } from '../support/real-process.ts'
import { externalKey, GENERATED, keyPair, newKey } from './support/keys.ts'
import { sha256, verified } from './support/verifier.ts'

const request: ProvedRequest = { method: 'POST', url: new URL('https://api.example/orders'), token: 'token' }
const jwkOf = (key: KeyPair['publicKey']) => crypto.subtle.exportKey('jwk', key)

describe('given a key pair', () => {
  it.each(Object.entries(GENERATED))('when it is of %s, then its proofs verify', async (alg, how) => {
    const pair = await keyPair(how)
    const key = dpopKey(pair)
    const proof = await proofsOf('dpop', key).prove(request, manualClock())
    const { header, thumbprint } = verified(proof.text)
    expect(header.alg).toBe(alg)
    expect(header.jwk).toEqual(expect.objectContaining({ kty: (await jwkOf(pair.publicKey)).kty }))
    expect(await key.thumbprint).toBe(thumbprint)
  })

  it('when its private key is extractable, then one warning reports it, and it is used', async () => {
    const pairs = [await keyPair(GENERATED.ES256, true), await keyPair(GENERATED.ES384, true)]
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    for (const pair of pairs) verified((await proofsOf('dpop', dpopKey(pair)).prove(request, manualClock())).text)
    expect(warn.mock.calls).toEqual([
      [
        expect.stringContaining('can be extracted'),
        expect.objectContaining({ detail: expect.stringContaining('false') }),
      ],
    ])
  })

  it('when it is printed, then it shows only that there is a thumbprint', async () => {
    const pair = await keyPair()
    const key = dpopKey(pair)
    await key.thumbprint
    const { x } = await jwkOf(pair.publicKey)
    const printed = inspect(key, { depth: Infinity, showHidden: true }) + JSON.stringify(key)
    expect(printed).not.toContain(x)
    expect(printed).not.toContain('privateKey')
  })
})

describe('given a value that is not such a key', () => {
  const WRONG: [what: string, give: () => unknown, message: RegExp][] = [
    ['nothing', () => undefined, /The key of dpopKey must be an object, got undefined/],
    ['a text', () => 'key', /must be an object, got string/],
    ['an empty object', () => ({}), /takes a CryptoKeyPair, or \{ publicJwk, sign \}/],
    ['half of a key pair', async () => ({ publicKey: (await keyPair()).publicKey }), /privateKey must be an object/],
    ['the other half', async () => ({ privateKey: (await keyPair()).privateKey }), /publicKey must be an object/],
    [
      'a key pair whose public key is not extractable',
      async () => {
        const pair = await keyPair()
        const raw = await crypto.subtle.exportKey('raw', pair.publicKey)
        const publicKey = await crypto.subtle.importKey('raw', raw, GENERATED.ES256, false, ['verify'])
        return { ...pair, publicKey }
      },
      /publicKey must be extractable: every proof contains it/,
    ],
    [
      'a key pair with swapped halves',
      async () => {
        const { publicKey, privateKey } = await keyPair()
        return { publicKey: privateKey, privateKey: publicKey }
      },
      /publicKey must be a public key, got a private one/,
    ],
    [
      'halves of two key pairs',
      async () => ({ ...(await keyPair()), privateKey: (await keyPair(GENERATED.RS256)).privateKey }),
      /pass keys of one pair/,
    ],
    [
      'keys of node:crypto',
      () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
      /publicKey must be a CryptoKey of crypto.subtle/,
    ],
    [
      'an object with only an algorithm',
      async () => ({ ...(await keyPair()), publicKey: { algorithm: {}, type: 'public' } }),
      /publicKey must be a CryptoKey of crypto.subtle/,
    ],
    [
      'an ECDSA key pair with P-521',
      () => keyPair({ name: 'ECDSA', namedCurve: 'P-521' }),
      /publicKey is for ECDSA P-521: generate/,
    ],
    [
      'an RSA key pair with SHA-512',
      () => keyPair({ ...GENERATED.PS256, hash: 'SHA-512' }),
      /publicKey is for RSA-PSS SHA-512/,
    ],
    [
      'a sign that is not a function',
      async () => ({ ...(await externalKey()), sign: 'secret-of-nobody' }),
      /sign must be a function, got string/,
    ],
    [
      'an invalid public JWK',
      async () => ({ ...(await externalKey()), publicJwk: 'secret-of-nobody' }),
      /publicJwk must be an object, got string/,
    ],
    [
      'a public JWK of another curve',
      async () => ({ ...(await externalKey()), publicJwk: { kty: 'EC', crv: 'secp256k1' } }),
      /publicJwk must be a key for P-256/,
    ],
    [
      'half of a public JWK',
      async () => ({ ...(await externalKey()), publicJwk: { kty: 'EC', crv: 'P-256', x: 'AA' } }),
      /publicJwk.x must be 32 bytes/,
    ],
    [
      'a public JWK that names another algorithm',
      async () => {
        const key = await externalKey()
        return { ...key, publicJwk: { ...key.publicJwk, alg: 'ES384' } }
      },
      /publicJwk.alg must be ES256/,
    ],
    [
      'an RSA key without its algorithm',
      async () => ({ ...(await externalKey()), publicJwk: { kty: 'RSA', e: 'AQAB', n: 'x'.repeat(342) } }),
      /PS256 or RS256/,
    ],
    [
      'an RSA key of 1024 bits',
      async () => ({
        ...(await externalKey()),
        publicJwk: { kty: 'RSA', alg: 'PS256', e: 'AQAB', n: 'x'.repeat(171) },
      }),
      /publicJwk.n must be 256 to 2048 bytes/,
    ],
    [
      'an RSA key whose public exponent has nine bytes',
      async () => ({
        ...(await externalKey()),
        publicJwk: { kty: 'RSA', alg: 'PS256', e: 'x'.repeat(12), n: 'x'.repeat(342) },
      }),
      /publicJwk.e must be 1 to 8 bytes/,
    ],
    [
      'a public JWK in base64 instead of base64url',
      async () => ({
        ...(await externalKey()),
        publicJwk: { kty: 'EC', crv: 'P-256', x: '+'.repeat(43), y: 'x'.repeat(43) },
      }),
      /publicJwk.x must be 32 bytes in base64url/,
    ],
    [
      'a symmetric key',
      async () => ({ ...(await externalKey()), publicJwk: { kty: 'oct', k: 'secret-of-nobody' } }),
      /public key alone, but has the private k/,
    ],
  ]
  it.each(WRONG)('when it is %s, then a TypeError names it, and shows no value', async (_, give, message) => {
    const given = await give()
    const error = await outcome((async () => dpopKey(given as KeyPair))())
    expect(error).toEqual(expect.objectContaining({ name: 'TypeError', message: expect.stringMatching(message) }))
    expect(inspect(error)).not.toContain('secret-of-nobody')
  })

  it.each(['ES256', 'PS256'] as const)('when it is a private JWK of %s, then no part of it is shown', async (alg) => {
    const { privateKey } = await keyPair(GENERATED[alg], true)
    const publicJwk = await jwkOf(privateKey)
    const error = await outcome((async () => dpopKey({ publicJwk, sign: async (data) => data }))())
    expect(error).toEqual(expect.objectContaining({ name: 'TypeError', message: expect.stringContaining('private d') }))
    const { d, p, q } = publicJwk
    for (const secret of [d, p, q].filter((one) => one !== undefined)) expect(inspect(error)).not.toContain(secret)
  })

  it('when it is not a key of this entry, then the option is named', () => {
    const thumbprint = Promise.resolve('thumbprint')
    expect(() => proofsOf('dpop', { thumbprint })).toThrow(/^dpop must be a key of axios-evergreen\/dpop/)
  })
})

describe('given an external key', () => {
  it('when it signs, then its proofs verify, and the public key in them has only the required members', async () => {
    const given = await externalKey()
    const key = dpopKey({
      ...given,
      publicJwk: { ...given.publicJwk, kid: 'name-of-the-key', key_ops: ['verify'] } as never,
    })
    const { header, thumbprint } = verified((await proofsOf('dpop', key).prove(request, manualClock())).text)
    expect(Object.keys(header.jwk)).toEqual(['crv', 'kty', 'x', 'y'])
    expect(await key.thumbprint).toBe(thumbprint)
  })

  it.each([
    [
      'gives DER',
      async () => {
        const key = await externalKey('der')
        return (data: Uint8Array) => key.sign(data)
      },
      /returned 7\d bytes, but ES256 takes 64: r and s.*not DER/,
    ],
    ['returns nothing', async () => async () => undefined, /returned 0 bytes/],
    ['gives a text', async () => async () => 'secret-of-nobody', /returned 0 bytes/],
    ['returns the number of bytes', async () => async () => 64, /returned 0 bytes/],
    ['rejects', async () => () => Promise.reject(new Error('secret-of-nobody')), /sign failed; no request was sent/],
    [
      'throws',
      async () => () => {
        throw new Error('secret-of-nobody')
      },
      /sign failed; no request was sent/,
    ],
  ] satisfies [string, () => Promise<unknown>, RegExp][])(
    'when it %s, then the source is broken, nothing was sent, and nothing is in doubt',
    async (_, make, message) => {
      const { publicJwk } = await externalKey()
      const key = dpopKey({ publicJwk, sign: (await make()) as never })
      const error = await outcome(proofsOf('dpop', key).prove(request, manualClock()))
      expect(error).toMatchObject({ code: 'ERR_TOKEN_SOURCE', outcome: 'not-sent', refreshToken: 'kept' })
      expect(error).toHaveProperty('message', expect.stringMatching(message))
      expect(inspect(error, { showHidden: true })).not.toContain('secret-of-nobody')
      // The thrown value is named, without its message.
      const isThrown = message.source.startsWith('sign failed')
      expect((error as Error).cause !== undefined).toBe(isThrown)
    },
  )
})

describe('given an external RSA key', () => {
  it('when its signature has another length, then the error does not mention DER, which only ECDSA has', async () => {
    const { publicKey } = await keyPair(GENERATED.RS256)
    const { kty, e, n } = await jwkOf(publicKey)
    const key = dpopKey({ publicJwk: { kty, e, n, alg: 'RS256' }, sign: async () => new Uint8Array(10) })
    const proof = proofsOf('dpop', key).prove(request, manualClock())
    await expect(proof).rejects.toThrow(/returned 10 bytes, but RS256 takes 256; no request was sent/)
  })
})

describe('given an unused key whose public half is too short', () => {
  it('when it is created, then no rejection is unhandled', async () => {
    const pair = await keyPair({ ...GENERATED.RS256, modulusLength: 1_024 })
    const escaped: unknown[] = []
    const note = (reason: unknown) => escaped.push(reason)
    realProcess.on('unhandledRejection', note)
    const key = dpopKey(pair)
    await outcome(crypto.subtle.exportKey('jwk', pair.publicKey))
    await new Promise((resolve) => setImmediate(resolve))
    realProcess.off('unhandledRejection', note)
    expect(escaped).toEqual([])
    await expect(key.thumbprint).rejects.toThrow('publicKey.n must be 256 to 2048 bytes')
  })
})

describe('given a request that an application sends itself', () => {
  it('when it requests a proof from the key, then the proof names all that the application passed', async () => {
    const key = await newKey()
    const url = 'https://id.example/token?tenant=nobody'
    const { claims } = verified(await key.prove({ method: 'POST', url, token: 'token', nonce: 'nonce' }))
    const iat: unknown = expect.any(Number)
    const said = {
      htm: 'POST',
      htu: 'https://id.example/token',
      ath: sha256('token'),
      nonce: 'nonce',
      iat,
      jti: claims.jti,
    }
    expect(claims).toEqual(said)
    expect(Math.abs(claims.iat - Date.now() / 1_000)).toBeLessThan(600)
    expect(verified(await key.prove({ method: 'GET', url: new URL(url) })).claims).not.toHaveProperty('nonce')
  })

  it.each([
    [undefined, 'The request must be an object, got undefined'],
    [{ method: '', url: 'https://id.example' }, 'method must not be empty'],
    [{ method: 'GET', url: '/token' }, 'url must be an absolute URL'],
    [{ method: 'GET', url: 'https://id.example', token: 7 }, 'token must be a string, got number'],
    [{ method: 'GET', url: 'https://id.example', nonce: '' }, 'nonce must not be empty'],
    [{ method: 'GET', url: 'https://id.example', nonces: 'a' }, "there is no 'nonces'"],
  ])('when it passes %j, then a TypeError names what is wrong', async (given, message) => {
    const key = await newKey()
    await expect(key.prove(given as never)).rejects.toThrow(message)
  })
})

describe('given a page that is not a secure context', () => {
  const whole = Object.getOwnPropertyDescriptor(globalThis, 'crypto')!
  const getRandomValues = crypto.getRandomValues.bind(crypto)
  afterEach(() => {
    Object.defineProperty(globalThis, 'crypto', whole)
    Reflect.deleteProperty(globalThis, 'isSecureContext')
  })

  it('when a key is created, then the error names the remedy', async () => {
    const pair = await keyPair()
    // Browsers give an http page only this much of `crypto`.
    Object.defineProperty(globalThis, 'crypto', { configurable: true, value: { getRandomValues } })
    Reflect.set(globalThis, 'isSecureContext', false)
    expect(() => dpopKey(pair)).toThrow(/dpopKey needs WebCrypto.*https.*use bearer tokens/)
    await expect(webKey()).rejects.toThrow(/webKey needs WebCrypto.*https.*use bearer tokens/)
  })
})

describe('given a runtime that is not a browser', () => {
  it('when the key of a page is requested, then the error names the alternative', async () => {
    await expect(webKey()).rejects.toThrow('webKey needs IndexedDB, which only browsers have: use dpopKey(keyPair)')
    await expect(webKey('')).rejects.toThrow('name must not be empty')
  })
})

describe('given the key of RFC 7638, section 3.1', () => {
  const n =
    '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw'

  it('when its thumbprint is computed, then it is that of the RFC', async () => {
    const key = dpopKey({ publicJwk: { kty: 'RSA', alg: 'RS256', e: 'AQAB', n }, sign: async (data) => data })
    expect(await key.thumbprint).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
    expect(sha256('')).toBe('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU')
  })

  it.each([
    ['one byte', 'Aw'],
    ['eight bytes', 'x'.repeat(11)],
  ])('when its public exponent has %s, then it is accepted', (_, e) => {
    const publicJwk = { kty: 'RSA', alg: 'RS256', e, n }
    expect(() => dpopKey({ publicJwk, sign: async (data) => data })).not.toThrow()
  })
})
