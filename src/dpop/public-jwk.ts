import { checkObject } from '../core/option-checks.ts'
import { base64urlOf, bytesIn } from './base64url.ts'
import type { ExternalKey } from './external-key.ts'

export type PublicJwk = ExternalKey['publicJwk']

export type Algorithm = 'ES256' | 'ES384' | 'EdDSA' | 'PS256' | 'RS256'

/** A validated public key. */
export interface VerifyingKey {
  readonly alg: Algorithm
  /** Only the required members of the key, in the order of RFC 7638, section 3.2, because every proof contains them. */
  readonly jwk: Readonly<Record<string, string>>
  /** The length of a signature (RFC 7518, sections 3.3 to 3.5; RFC 8032, section 5.1). */
  readonly signatureBytes: number
}

const KINDS = [
  { alg: 'ES256', kty: 'EC', crv: 'P-256', sizes: { x: 32, y: 32 }, signatureBytes: 64 },
  { alg: 'ES384', kty: 'EC', crv: 'P-384', sizes: { x: 48, y: 48 }, signatureBytes: 96 },
  { alg: 'EdDSA', kty: 'OKP', crv: 'Ed25519', sizes: { x: 32 }, signatureBytes: 64 },
] as const

const SUPPORTED = 'P-256 (ES256), P-384 (ES384), Ed25519 (EdDSA), or RSA of 2048 bits or more (PS256, RS256)'

/** The members of private and symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4). */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/** @throws {TypeError} naming the member, never a value, which may belong to a private key. */
export function verifyingKeyOf(name: string, given: PublicJwk): VerifyingKey {
  checkObject(name, given)
  const secret = PRIVATE.filter((member) => member in given)
  if (secret.length > 0)
    throw new TypeError(
      `${name} must be the public key alone, but has the private ${secret.join(', ')}: pass only its public members`,
    )
  if (given.kty === 'RSA') return rsaKeyOf(name, given)
  const kind = KINDS.find(({ kty, crv }) => kty === given.kty && crv === given.crv)
  if (!kind) throw new TypeError(`${name} must be a key for ${SUPPORTED}`)
  const { alg, kty, crv, sizes, signatureBytes } = kind
  if (given.alg !== undefined && ![alg, crv].includes(given.alg as typeof alg))
    throw new TypeError(`${name}.alg must be ${alg}, which is the algorithm of its curve ${crv}`)
  const point = Object.entries(sizes).map(
    ([member, size]) => [member, numberIn(name, given, member, size, size)] as const,
  )
  return { alg, jwk: { crv, kty, ...Object.fromEntries(point) }, signatureBytes }
}

function rsaKeyOf(name: string, given: PublicJwk): VerifyingKey {
  const { alg } = given
  if (alg !== 'PS256' && alg !== 'RS256')
    throw new TypeError(`${name}.alg must be the algorithm of the RSA key: PS256 or RS256`)
  const e = numberIn(name, given, 'e', 1, 8)
  const n = numberIn(name, given, 'n', 256, 2_048)
  return { alg, jwk: { e, kty: 'RSA', n }, signatureBytes: bytesIn(n) }
}

function numberIn(name: string, given: PublicJwk, member: string, least: number, most: number): string {
  const value: unknown = Reflect.get(given, member)
  const isNumber = typeof value === 'string' && /^[\w-]+$/.test(value)
  if (isNumber && bytesIn(value) >= least && bytesIn(value) <= most) return value
  const bytes = least === most ? `${least}` : `${least} to ${most}`
  throw new TypeError(`${name}.${member} must be ${bytes} bytes in base64url`)
}

/** @returns SHA-256 of the key (RFC 7638). */
export async function thumbprintOf({ jwk }: VerifyingKey): Promise<string> {
  // The members of `jwk` are in lexical order, and JSON.stringify adds no space.
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(jwk)))
  return base64urlOf(new Uint8Array(digest))
}
