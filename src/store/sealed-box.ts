import { checkObject, checkText } from '../core/option-checks.ts'
import { checkWebCrypto } from '../core/runtime.ts'
import { isPromise, member } from '../core/thrown.ts'

type AesKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

export interface EncryptionKey {
  /** Names the key. Stored unencrypted with each record that the key seals. */
  id: string
  /** 32 bytes, or an AES-GCM `CryptoKey` of 256 bits that may encrypt and decrypt. In browsers, use a non-extractable one. */
  key: Uint8Array | AesKey
}

export interface Sealed {
  /** The id of the key; empty if the text is not encrypted. */
  readonly kid: string
  readonly box: string
}

/** An element of `encryptionKeys`: a key, or the promise of one. */
export type GivenEncryptionKey = EncryptionKey | PromiseLike<EncryptionKey>

/**
 * Seals texts with its first key, and opens them with any key: AES-256-GCM (NIST SP 800-38D), with a random nonce of 96 bits before the ciphertext. A text
 * opens only with the context that it was sealed with.
 */
export class KeyRing {
  /** Whether records are sealed. */
  readonly seals: boolean
  /** Whether all keys are known: every promise of one has resolved. */
  isKnown = true
  /** Rejects if a promise of a key does. */
  readonly #keys: Promise<ReadonlyMap<string, Promise<AesKey>>>

  /** @throws {TypeError | RangeError} naming the option, never a key. Promised keys are checked when they resolve. */
  constructor(keys: readonly GivenEncryptionKey[] | undefined) {
    this.seals = keys !== undefined
    if (keys === undefined) {
      this.#keys = Promise.resolve(new Map())
      return
    }
    if (!Array.isArray(keys) || keys.length === 0)
      throw new TypeError('encryptionKeys must be a list with at least one key')
    checkWebCrypto('encryptionKeys', 'do without')
    const given: Given[] = [...(keys as readonly GivenEncryptionKey[]).entries()]
    const known = keysOf(given.filter((entry): entry is Numbered => !isPromise(entry[1])))
    this.isKnown = known.size === given.length
    this.#keys = this.isKnown ? Promise.resolve(known) : promisedKeys(given)
    // Callers of `ids`, `seal` and `open` get the rejection.
    this.#keys.then(
      () => (this.isKnown = true),
      () => undefined,
    )
  }

  /** @returns The ids of the keys that can open a record, the sealing key's first. Without keys: the empty id, of unencrypted records. */
  async ids(): Promise<string[]> {
    return this.seals ? [...(await this.#keys).keys()] : ['']
  }

  async seal(text: string, context: readonly string[]): Promise<Sealed> {
    const [first] = await this.#keys
    if (!first) return { kid: '', box: text }
    const [kid, key] = first
    const nonce = crypto.getRandomValues(new Uint8Array(12))
    const sealed = await crypto.subtle.encrypt(howWith(nonce, kid, context), await key, bytesOf(text))
    return { kid, box: toBase64(nonce) + toBase64(new Uint8Array(sealed)) }
  }

  /** Rejects if the key, the context or a bit of the box is wrong. */
  async open({ kid, box }: Sealed, context: readonly string[]): Promise<string> {
    if (!this.seals) return box
    const how = howWith(fromBase64(box.slice(0, 16)), kid, context)
    const key = await (await this.#keys).get(kid)
    if (!key) throw new Error('unknown key')
    return new TextDecoder().decode(await crypto.subtle.decrypt(how, key, fromBase64(box.slice(16))))
  }
}

type Given = readonly [index: number, key: GivenEncryptionKey]
type Numbered = readonly [index: number, key: EncryptionKey]

/** @throws {TypeError | RangeError} naming the option, never a key. */
function keysOf(entries: readonly Numbered[]): Map<string, Promise<AesKey>> {
  const ids = new Set<string>()
  for (const [index, entry] of entries) {
    const name = `encryptionKeys[${index}]`
    checkObject(name, entry)
    checkText(`${name}.id`, entry.id)
    if (ids.has(entry.id)) throw new TypeError(`${name}.id '${entry.id}' is already used by an earlier key`)
    ids.add(entry.id)
  }
  return new Map(entries.map(([index, { id, key }]) => [id, aesKeyOf(`encryptionKeys[${index}].key`, key)]))
}

/** @throws {UnusableKeys} naming the option: the record is left alone. */
async function promisedKeys(given: readonly Given[]): Promise<Map<string, Promise<AesKey>>> {
  const settled = given.map(async ([index, entry]): Promise<Numbered> => {
    const rejected = (thrown: unknown): never => {
      const name = member(thrown, 'name')
      throw new UnusableKeys(
        `the promise of encryptionKeys[${index}] was rejected (${typeof name === 'string' ? name : typeof thrown})`,
      )
    }
    return [index, await Promise.resolve(entry).catch(rejected)]
  })
  const entries = await Promise.all(settled)
  try {
    return keysOf(entries)
  } catch (flaw) {
    throw new UnusableKeys((flaw as Error).message)
  }
}

/** A promise of a key was rejected, or resolved with something else. */
export class UnusableKeys extends Error {}

/** @throws {TypeError | RangeError} naming the option, never the key. */
function aesKeyOf(name: string, key: EncryptionKey['key']): Promise<AesKey> {
  if (key instanceof Uint8Array) {
    if (key.byteLength !== 32)
      throw new RangeError(`${name} must have 32 bytes, got ${key.byteLength || '0: is the environment variable set?'}`)
    if (key.every((byte) => byte === key[0])) throw new TypeError(`${name} must be random, got the same byte 32 times`)
    return crypto.subtle.importKey('raw', key.slice(), 'AES-GCM', false, ['encrypt', 'decrypt'])
  }
  // Checked by its tag: a key of another realm is no instance of this realm's CryptoKey.
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
