import { systemClock } from '../core/clock.ts'
import { checkFunction, checkObject, checkedText, ifGiven, readOptions } from '../core/option-checks.ts'
import { comparable } from './key-fit.ts'
import { PROOFS } from '../core/proof-port.ts'
import type { ProvingKey } from '../core/proofs.ts'
import { checkWebCrypto } from '../core/runtime.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import type { ExternalKey } from './external-key.ts'
import { type KeyPair, signerOf, type WebCryptoKey } from './key-pair.ts'
import { ProofMaker } from './proof-maker.ts'
import { thumbprintOf, type VerifyingKey, verifyingKeyOf } from './public-jwk.ts'

/**
 * Makes a DPoP key (RFC 9449) from a key pair of WebCrypto, or from a function that signs. The algorithm follows from the key: ES256, ES384, EdDSA,
 * PS256 or RS256. The private key should not be extractable. If it is, a warning is emitted once.
 *
 * @example
 * ```ts
 * import { dpopKey } from 'axios-evergreen/dpop'
 *
 * const how = { name: 'ECDSA', namedCurve: 'P-256' }
 * const key = dpopKey(await crypto.subtle.generateKey(how, false, ['sign', 'verify']))
 * ```
 * @throws {TypeError} naming the problem, never the key: not a key, an unsupported algorithm, or a private JWK instead of the public one.
 */
export function dpopKey(
  key: { readonly publicKey: WebCryptoKey; readonly privateKey: WebCryptoKey } | ExternalKey,
): ProvingKey {
  checkObject('The key of dpopKey', key)
  checkWebCrypto('dpopKey', 'use bearer tokens')
  if ('publicKey' in key || 'privateKey' in key) {
    const signer = signerOf(key as KeyPair)
    const verifyingKey = signer.publicJwk.then((jwk) => verifyingKeyOf('publicKey', jwk))
    return provingKey(verifyingKey, (key as KeyPair).publicKey, (data) => signer.sign(data))
  }
  if (!('publicJwk' in key)) throw new TypeError('dpopKey takes a CryptoKeyPair, or { publicJwk, sign }')
  checkFunction('sign', Reflect.get(key, 'sign'))
  const verifyingKey = verifyingKeyOf('publicJwk', key.publicJwk)
  return provingKey(Promise.resolve(verifyingKey), JSON.stringify(verifyingKey.jwk), (data) => key.sign(data))
}

/** @param material Identifies the key. */
function provingKey(
  verifyingKey: Promise<VerifyingKey>,
  material: unknown,
  sign: (data: Uint8Array) => unknown,
): ProvingKey {
  const thumbprint = comparable(verifyingKey.then(thumbprintOf), material)
  thumbprint.catch(() => undefined) // it may never be read
  const proofs = new ProofMaker(verifyingKey, sign)
  // A separate clock, so that such a proof neither uses nor changes the nonces and times of a manager.
  const clock = { ...systemClock }
  const token = ifGiven(checkedText)
  const readers = { method: checkedText, url, token, nonce: token }
  const prove = async (request: Parameters<ProvingKey['prove']>[0]) =>
    (await proofs.prove(readOptions('The request', request, readers, ''), clock)).text
  // Not enumerable, so that printing the key shows at most its thumbprint.
  return Object.freeze(Object.defineProperty({ thumbprint, prove }, PROOFS, { value: proofs }))
}

function url(name: string, given: unknown): URL {
  const parsed = parsedUrl(String(given))
  if (!parsed) throw new TypeError(`${name} must be an absolute URL`)
  return parsed
}
