import { constants, createHash, createPublicKey, type JsonWebKey, randomBytes, verify } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** A request that has a proof, or needs one. `url`: the path with its query. `token`: the access token; absent in a token request. */
export interface ProvenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly token?: string
}

/** The result of reading a proof: the thumbprint of its key, or why it is rejected (RFC 9449, sections 5, 7.1 and 8). */
export type ProofReading = { readonly jkt: string } | { readonly error: 'invalid_dpop_proof' | 'use_dpop_nonce' }

export function isRejected(reading: object): reading is { readonly error: string } {
  return 'error' in reading
}

export interface ProofReader {
  /** @param now Epoch seconds by the service's clock. */
  read(request: ProvenRequest, now: number): ProofReading
  /** Headers for the response to a request with a proof. */
  readonly headers: Readonly<Record<string, string>>
}

const TOLERANCE_S = 60
/** What `crypto.verify` of Node takes for each algorithm. */
const ALGORITHMS: Readonly<Record<string, readonly [hash: string | null, settings: object]>> = {
  ES256: ['sha256', { dsaEncoding: 'ieee-p1363' }],
  ES384: ['sha384', { dsaEncoding: 'ieee-p1363' }],
  EdDSA: [null, {}],
  PS256: ['sha256', { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }],
  RS256: ['sha256', {}],
}
/** The members that a thumbprint covers (RFC 7638, section 3.2; RFC 8037, section 2). */
const COVERED: Readonly<Record<string, string[]>> = {
  EC: ['crv', 'kty', 'x', 'y'],
  OKP: ['crv', 'kty', 'x'],
  RSA: ['e', 'kty', 'n'],
}

/** Validates proofs of possession as servers must (RFC 9449, section 4.3). */
export function proofReader({ demandsNonce }: { demandsNonce: boolean }): ProofReader {
  const nonce = randomBytes(16).toString('base64url')
  const seen = new Set<unknown>()

  function read(request: ProvenRequest, now: number): ProofReading {
    const proof = opened(request.headers.dpop)
    if (!proof || !fits(proof.claims, request, now) || seen.has(proof.claims.jti))
      return { error: 'invalid_dpop_proof' }
    seen.add(proof.claims.jti)
    return demandsNonce && proof.claims.nonce !== nonce ? { error: 'use_dpop_nonce' } : { jkt: proof.jkt }
  }

  return { read, headers: demandsNonce ? { 'DPoP-Nonce': nonce } : {} }
}

interface Claims {
  readonly jti?: unknown
  readonly htm?: unknown
  readonly htu?: unknown
  readonly iat?: unknown
  readonly ath?: unknown
  readonly nonce?: unknown
}

function fits(
  { jti, htm, htu, iat, ath }: Claims,
  { method, url, headers, token }: ProvenRequest,
  now: number,
): boolean {
  const address = `http://${headers.host}${url.split('?')[0]}`
  return (
    typeof jti === 'string' &&
    htm === method &&
    htu === address &&
    Math.abs(Number(iat) - now) <= TOLERANCE_S &&
    ath === (token === undefined ? undefined : sha256(token))
  )
}

/** @returns The claims, and the thumbprint of the signing key; undefined if the signature is invalid. */
function opened(proof: unknown): { claims: Claims; jkt: string } | undefined {
  const [, head = '', payload = '', signature = ''] = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(String(proof)) ?? []
  try {
    const { typ, alg, jwk } = jsonIn(head) as { typ: unknown; alg: string; jwk: JsonWebKey }
    const [algorithm, covered] = [ALGORITHMS[alg], COVERED[String(jwk.kty)]]
    if (typ !== 'dpop+jwt' || !algorithm || !covered || 'd' in jwk) return undefined
    const [hash, settings] = algorithm
    const key = { key: createPublicKey({ key: jwk, format: 'jwk' }), ...settings }
    const isGood = verify(hash, Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url'))
    return isGood ? { claims: jsonIn(payload) as Claims, jkt: sha256(JSON.stringify(jwk, covered)) } : undefined
  } catch {
    return undefined // no JSON, or no key
  }
}

function jsonIn(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
