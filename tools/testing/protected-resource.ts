import { isRejected, type ProofReader, type ProvenRequest } from './proof-reader.ts'
import type { TokenLedger } from './token-ledger.ts'

/**
 * Decides whether the API accepts a request.
 *
 * @param now Epoch ms by the service's clock.
 * @returns The `WWW-Authenticate` header for the 401; undefined if the request has a valid token, and a valid proof if the token is bound to a key.
 */
export function challengeTo(
  request: ProvenRequest,
  ledger: TokenLedger,
  proofs: ProofReader,
  now: number,
): string | undefined {
  const [, scheme = '', token] = /^(bearer|dpop) +(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
  if (token === undefined) return 'Bearer'
  const isProven = scheme.toLowerCase() === 'dpop'
  const proof = isProven ? proofs.read({ ...request, token }, now / 1000) : { jkt: undefined }
  if (isRejected(proof)) return `DPoP error="${proof.error}"`
  const isGood = ledger.acceptsAccess(token, now) && ledger.familyOf(token)?.jkt === proof.jkt
  return isGood ? undefined : `${isProven ? 'DPoP' : 'Bearer'} error="invalid_token"`
}
