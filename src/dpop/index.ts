/**
 * Keys for tokens that only their owner can use (DPoP, RFC 9449).
 *
 * @module axios-evergreen/dpop
 */
export type { DPoPKey, DPoPRequest, ProvingKey } from '../core/proofs.ts'
export { dpopKey } from './dpop-key.ts'
export type { ExternalKey } from './dpop-key.ts'
export type { KeyPair } from './key-pair.ts'
export type { PublicJwk } from './public-jwk.ts'
export { webKey } from './web-key.ts'
