import { describe, expect, it } from '@jest/globals'
import type { webcrypto } from 'node:crypto'
import { KeyRing } from '../../src/store/sealed-box.ts'
import { sharedStore } from '../../src/store/index.ts'
import { reasonIn } from '../../src/store/reason.ts'
import { manage, outcome } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'

const bytes = (seed = 1) => Uint8Array.from({ length: 32 }, (_, index) => index + seed)
const keyOf = (name: string, length: number, usages: webcrypto.KeyUsage[]) =>
  crypto.subtle.generateKey({ name, length }, false, usages)
const BOTH: webcrypto.KeyUsage[] = ['encrypt', 'decrypt']
const CONTEXT = ['account', '2']
const REFUSED = 'encryptionKeys[0].key must be a CryptoKey of AES-GCM with 256 bits that may encrypt and decrypt'

describe('given a CryptoKey for the tokens of a store', () => {
  it('when it is an AES-GCM key of 256 bits, then it seals and opens', async () => {
    const ring = new KeyRing([{ id: 'one', key: await keyOf('AES-GCM', 256, BOTH) }])
    expect(await ring.open(await ring.seal('text', CONTEXT), CONTEXT)).toBe('text')
  })

  it.each<[string, string, number, webcrypto.KeyUsage[]]>([
    ['has 128 bits', 'AES-GCM', 128, BOTH],
    ['is of AES-CBC', 'AES-CBC', 256, BOTH],
    ['may only encrypt', 'AES-GCM', 256, ['encrypt']],
    ['may only decrypt', 'AES-GCM', 256, ['decrypt']],
  ])('when it %s, then it is rejected', async (_, ...how) => {
    const key = await keyOf(...how)
    expect(() => new KeyRing([{ id: 'one', key }])).toThrow(new TypeError(REFUSED))
  })

  it('when it is not a key, then it is rejected', () => {
    for (const key of ['s3cret', { algorithm: { name: 'AES-GCM', length: 256 }, usages: BOTH }])
      expect(() => new KeyRing([{ id: 'one', key: key as unknown as webcrypto.CryptoKey }])).toThrow(
        'encryptionKeys[0].key must be a Uint8Array of 32 bytes, or a CryptoKey',
      )
  })
})

describe('given sealed tokens', () => {
  it('when the bytes of the key are wiped afterwards, then they still open', async () => {
    const key = bytes()
    const ring = new KeyRing([{ id: 'one', key }])
    key.fill(0)
    const sealed = await ring.seal('text', CONTEXT)
    expect(await new KeyRing([{ id: 'one', key: bytes() }]).open(sealed, CONTEXT)).toBe('text')
  })

  it('when they are opened under another id or in another slot, then they do not open', async () => {
    const ring = new KeyRing(['one', 'two'].map((id) => ({ id, key: bytes() })))
    const sealed = await ring.seal('text', CONTEXT)
    expect(sealed.kid).toBe('one')
    await expect(ring.open({ ...sealed, kid: 'two' }, CONTEXT)).rejects.toThrow()
    await expect(ring.open(sealed, ['another account', '2'])).rejects.toThrow()
  })

  it('when there are no keys, then the text is unchanged, under no id', async () => {
    const ring = new KeyRing(undefined)
    expect([await ring.ids(), await ring.seal('text', CONTEXT)]).toEqual([[''], { kid: '', box: 'text' }])
  })
})

describe('given the reason of a failed step', () => {
  it.each<[unknown, string]>([
    [{ code: 'ECONNREFUSED' }, 'ECONNREFUSED'],
    [{ code: '57014' }, '57014: advice'],
    [{ code: 'toString' }, 'the client failed'],
    [{ code: 'a secret', message: 'NAME of it' }, 'NAME'],
    [{ code: 'SECRET and more' }, 'the client failed'],
    [{ code: 'the SECRET' }, 'the client failed'],
    [{ code: 'A'.repeat(61) }, 'the client failed'],
    [{ code: 7 }, 'the client failed'],
    [{ message: 7 }, 'the client failed'],
    [undefined, 'the client failed'],
  ])('then of %j only a code, or a known name, is shown', (thrown, told) => {
    expect(reasonIn(thrown, { '57014': 'advice' }, (message) => /^NAME/.exec(message)?.[0])).toBe(told)
  })

  it.each<[unknown, string]>([
    [new RangeError('s3cret'), 'the register threw RangeError'],
    [{ name: 's3cret of somebody' }, 'the client failed'],
    [{ name: 'of s3cret!' }, 'the client failed'],
    [{ name: 7, message: 's3cret' }, 'the client failed'],
  ])('then of %j, thrown by a custom register, only the name of its class is shown', async (thrown, told) => {
    const register = Object.assign(new MemoryRegister(), { read: () => Promise.reject(thrown as Error) })
    const { tokens } = manage(undefined, { store: sharedStore(register, { onUnavailable: 'fail' }) })
    const message = `The shared token store is unavailable (${told})`
    expect(await outcome(tokens.reset())).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message })
  })
})
