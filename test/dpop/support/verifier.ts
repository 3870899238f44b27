import { constants, createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto'

/** The claims of a proof (RFC 9449, section 4.2). */
export interface Claims {
  readonly jti: string
  readonly htm: string
  readonly htu: string
  readonly iat: number
  readonly ath?: string
  readonly nonce?: string
}

export interface Verified {
  readonly header: { readonly typ: string; readonly alg: string; readonly jwk: JsonWebKey }
  readonly claims: Claims
  readonly thumbprint: string
}

/** How Node verifies each algorithm, without WebCrypto. */
const HOW: Readonly<Record<string, { readonly hash: string | null; readonly settings: object }>> = {
  ES256: { hash: 'sha256', settings: { dsaEncoding: 'ieee-p1363' } },
  ES384: { hash: 'sha384', settings: { dsaEncoding: 'ieee-p1363' } },
  EdDSA: { hash: null, settings: {} },
  PS256: { hash: 'sha256', settings: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } },
  RS256: { hash: 'sha256', settings: {} },
}

/** The members of a public key that its thumbprint covers (RFC 7638, section 3.2; RFC 8037, section 2). */
const REQUIRED: Readonly<Record<string, readonly (keyof JsonWebKey)[]>> = {
  EC: ['crv', 'kty', 'x', 'y'],
  OKP: ['crv', 'kty', 'x'],
  RSA: ['e', 'kty', 'n'],
}

/** Reads a proof as RFC 9449, section 4.3, requires of servers. @throws {Error} unless the proof is well-formed, and signed by the key in it. */
export function verified(proof: unknown): Verified {
  if (typeof proof !== 'string') throw new Error('no proof, or several')
  const parts = proof.split('.')
  if (parts.length !== 3 || !parts.every((part) => /^[\w-]+$/.test(part))) throw new Error('no JWS')
  const [header, claims] = parts.slice(0, 2).map((part) => JSON.parse(textIn(part)) as unknown) as [
    Verified['header'],
    Claims,
  ]
  if (header.typ !== 'dpop+jwt') throw new Error('typ')
  const how = HOW[header.alg]
  if (!how) throw new Error('alg')
  const required = REQUIRED[header.jwk.kty!] ?? []
  if (Object.keys(header.jwk).some((member) => !required.includes(member)))
    throw new Error('jwk has more than the public key')
  const key = { key: createPublicKey({ key: header.jwk, format: 'jwk' }), ...how.settings }
  const signed = Buffer.from(parts.slice(0, 2).join('.'))
  if (!verify(how.hash, signed, key, Buffer.from(parts[2]!, 'base64url'))) throw new Error('signature')
  const canonical = JSON.stringify(header.jwk, required as string[])
  return { header, claims, thumbprint: sha256(canonical) }
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function textIn(part: string): string {
  return Buffer.from(part, 'base64url').toString()
}
