import { jest } from '@jest/globals'
import { createPrivateKey, sign } from 'node:crypto'
import { dpopKey, type ExternalKey, type ProvingKey } from '../../../src/dpop/index.ts'
import type { KeyPair } from '../../../src/dpop/key-pair.ts'
import { realProcess } from '../../support/real-process.ts'

const RSA = { modulusLength: 2_048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }

/** How WebCrypto generates a key for each algorithm of a proof. */
export const GENERATED = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  ES384: { name: 'ECDSA', namedCurve: 'P-384' },
  EdDSA: { name: 'Ed25519' },
  PS256: { name: 'RSA-PSS', ...RSA },
  RS256: { name: 'RSASSA-PKCS1-v1_5', ...RSA },
} as const

export async function keyPair(how: object = GENERATED.ES256, extractable = false): Promise<KeyPair> {
  // Node 20 warns that Ed25519 of WebCrypto is experimental.
  const warning = jest.spyOn(realProcess, 'emitWarning').mockImplementation(() => undefined)
  const pair = await crypto.subtle.generateKey(how as never, extractable, ['sign', 'verify'])
  warning.mockRestore()
  return pair
}

export async function newKey(): Promise<ProvingKey> {
  return dpopKey(await keyPair())
}

/** A key in a place that only signs: here node:crypto, which returns ECDSA signatures in DER by default. */
export async function externalKey(dsaEncoding: 'ieee-p1363' | 'der' = 'ieee-p1363'): Promise<ExternalKey> {
  const { publicKey, privateKey } = await keyPair(GENERATED.ES256, true)
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey)
  const jwk = await crypto.subtle.exportKey('jwk', privateKey)
  const key = { key: createPrivateKey({ key: jwk as never, format: 'jwk' }), dsaEncoding } as const
  return { publicJwk: { kty, crv, x, y }, sign: async (data) => sign('sha256', data, key) }
}
