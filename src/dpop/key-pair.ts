import { checkObject, kindOf } from '../core/option-checks.ts'
import { warnOnce } from '../core/runtime.ts'
import type { Algorithm, PublicJwk } from './public-jwk.ts'

/** `CryptoKey` of WebCrypto, with or without the types of a browser. */
export type WebCryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** `CryptoKeyPair` of WebCrypto. */
export interface KeyPair {
  readonly publicKey: WebCryptoKey
  readonly privateKey: WebCryptoKey
}

interface Signing {
  readonly alg: Algorithm
  /** What `crypto.subtle.sign` takes. */
  readonly how: { readonly name: string; readonly hash?: string; readonly saltLength?: number }
}

/** How to sign, by algorithm and curve or hash of the key. PS256 has a salt as long as its hash (RFC 7518, section 3.5). */
const SIGNINGS: Readonly<Record<string, Signing>> = {
  'ECDSA P-256': { alg: 'ES256', how: { name: 'ECDSA', hash: 'SHA-256' } },
  'ECDSA P-384': { alg: 'ES384', how: { name: 'ECDSA', hash: 'SHA-384' } },
  Ed25519: { alg: 'EdDSA', how: { name: 'Ed25519' } },
  'RSA-PSS SHA-256': { alg: 'PS256', how: { name: 'RSA-PSS', saltLength: 32 } },
  'RSASSA-PKCS1-v1_5 SHA-256': { alg: 'RS256', how: { name: 'RSASSA-PKCS1-v1_5' } },
}

export interface Signer {
  readonly publicJwk: Promise<PublicJwk>
  sign(data: Uint8Array): Promise<ArrayBuffer>
}

/** @throws {TypeError} naming the key, never its content. */
export function signerOf({ publicKey, privateKey }: KeyPair): Signer {
  checkKey('publicKey', publicKey, 'public')
  checkKey('privateKey', privateKey, 'private')
  const [kind, other] = [kindOfKey(publicKey), kindOfKey(privateKey)]
  const signing = Object.hasOwn(SIGNINGS, kind) ? SIGNINGS[kind] : undefined
  if (!signing)
    throw new TypeError(
      `publicKey is for ${kind}: generate one for ECDSA with P-256 or P-384, Ed25519, or RSA-PSS or RSASSA-PKCS1-v1_5 with SHA-256`,
    )
  if (kind !== other)
    throw new TypeError(`privateKey is for ${other}, but publicKey is for ${kind}: pass keys of one pair`)
  if (!publicKey.extractable) throw new TypeError('publicKey must be extractable: every proof contains it')
  if (privateKey.extractable)
    warnOnce(
      'dpop-key-extractable',
      'The private key of dpopKey can be extracted: every script in this process can read and copy it',
      "Generate it as non-extractable: crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])",
    )
  const { alg, how } = signing
  return {
    publicJwk: crypto.subtle
      .exportKey('jwk', publicKey)
      .then(({ kty, crv, x, y, e, n }) => ({ kty, crv, x, y, e, n, alg })),
    sign: (data) => crypto.subtle.sign(how, privateKey, data),
  }
}

function checkKey(name: string, key: WebCryptoKey, type: 'public' | 'private'): void {
  checkObject(name, key)
  const isWebCrypto = typeof (key.algorithm as unknown) === 'object' && Array.isArray(key.usages)
  if (!isWebCrypto) throw new TypeError(`${name} must be a CryptoKey of crypto.subtle, got another ${kindOf(key)}`)
  if (key.type !== type) throw new TypeError(`${name} must be a ${type} key, got a ${key.type} one`)
}

function kindOfKey({ algorithm }: WebCryptoKey): string {
  const { name, namedCurve, hash } = algorithm as { name: string; namedCurve?: string; hash?: { name: string } }
  return [name, namedCurve ?? hash?.name].filter((part) => part !== undefined).join(' ')
}
