import { checkObject, checkText } from '../core/option-checks.ts'
import { checkWebCrypto } from '../core/runtime.ts'

type AesKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

export interface EncryptionKey {
  /** Names the key. Stored, readable, with each record that the key seals. */
  id: string
  /** 32 bytes, or an AES-GCM `CryptoKey` of 256 bits that may encrypt and decrypt. In browsers, use one that cannot be extracted. */
  key: Uint8Array | AesKey
}

export interface Sealed {
  /** Id of the key; empty if the text is readable. */
  readonly kid: string
  readonly box: string
}

/**
 * Seals texts with the first of its keys, and opens them with any: AES-256-GCM (NIST SP 800-38D), a random nonce of 96 bits
 * before the ciphertext. A text opens only with the context that it was sealed with.
 */
export class KeyRing {
  readonly #keys = new Map<string, Promise<AesKey>>()
  readonly #first: string | undefined

  /** @throws {TypeError | RangeError} naming the option, never a key. */
  constructor(keys: readonly EncryptionKey[] | undefined) {
    if (keys === undefined) return
    if (!Array.isArray(keys) || keys.length === 0)
      throw new TypeError('encryptionKeys must be a list with at least one key')
    checkWebCrypto('encryptionKeys', 'do without')
    const entries = [...(keys as readonly EncryptionKey[]).entries()]
    checkIds(entries)
    for (const [index, { id, key }] of entries) this.#keys.set(id, aesKeyOf(`encryptionKeys[${index}].key`, key))
    this.#first = this.#keys.keys().next().value
  }

  /** Ids of the keys that can open a record; the empty id, of readable records, if there are no keys. */
  get ids(): string[] {
    return this.#first === undefined ? [''] : [...this.#keys.keys()]
  }

  #key(id: string): Promise<AesKey> {
    return this.#keys.get(id) ?? Promise.reject(new Error('unknown key'))
  }

  async seal(text: string, context: readonly string[]): Promise<Sealed> {
    if (this.#first === undefined) return { kid: '', box: text }
    const nonce = crypto.getRandomValues(new Uint8Array(12))
    const how = howWith(nonce, this.#first, context)
    const sealed = await crypto.subtle.encrypt(how, await this.#key(this.#first), bytesOf(text))
    return { kid: this.#first, box: toBase64(nonce) + toBase64(new Uint8Array(sealed)) }
  }

  /** Rejects if the key, the context or a bit of the box is wrong. */
  async open({ kid, box }: Sealed, context: readonly string[]): Promise<string> {
    if (this.#first === undefined) return box
    const how = howWith(fromBase64(box.slice(0, 16)), kid, context)
    const key = await this.#key(kid)
    return new TextDecoder().decode(await crypto.subtle.decrypt(how, key, fromBase64(box.slice(16))))
  }
}

function checkIds(entries: readonly [number, EncryptionKey][]): void {
  const ids = new Set<string>()
  for (const [index, entry] of entries) {
    const name = `encryptionKeys[${index}]`
    checkObject(name, entry)
    checkText(`${name}.id`, entry.id)
    if (ids.has(entry.id)) throw new TypeError(`${name}.id '${entry.id}' is taken by an earlier key`)
    ids.add(entry.id)
  }
}

/** @throws {TypeError | RangeError} naming the option, never the key. */
function aesKeyOf(name: string, key: EncryptionKey['key']): Promise<AesKey> {
  if (key instanceof Uint8Array) {
    if (key.byteLength !== 32) throw new RangeError(`${name} must have 32 bytes, got ${key.byteLength}`)
    if (key.every((byte) => byte === key[0])) throw new TypeError(`${name} must be random, got 32 times the same byte`)
    return crypto.subtle.importKey('raw', key.slice(), 'AES-GCM', false, ['encrypt', 'decrypt'])
  }
  // By its tag: a key of another realm is no instance of this realm's CryptoKey.
  if (Object.prototype.toString.call(key) !== '[object CryptoKey]')
    throw new TypeError(`${name} must be a Uint8Array of 32 bytes, or a CryptoKey`)
  const { name: algorithm, length } = key.algorithm as { name: string; length?: number }
  if (algorithm !== 'AES-GCM' || length !== 256 || !key.usages.includes('encrypt') || !key.usages.includes('decrypt'))
    throw new TypeError(`${name} must be a CryptoKey of AES-GCM with 256 bits that may encrypt and decrypt`)
  return Promise.resolve(key)
}

const howWith = (iv: Uint8Array<ArrayBuffer>, kid: string, context: readonly string[]) => ({
  ...{ name: 'AES-GCM', iv },
  additionalData: bytesOf(JSON.stringify([kid, ...context])),
})
const bytesOf = (text: string) => new TextEncoder().encode(text)
const toBase64 = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
const fromBase64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
