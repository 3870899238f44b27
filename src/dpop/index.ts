/**
 * Keys for tokens that only their owner can use (DPoP, RFC 9449).
 *
 * @module axios-evergreen/dpop
 */
export type { DPoPKey, ProvingKey } from '../core/proofs.ts'
export { dpopKey } from './dpop-key.ts'
export type { ExternalKey } from './external-key.ts'
export { webKey } from './web-key.ts'
