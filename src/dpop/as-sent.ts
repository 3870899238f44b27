import type { ObservedResponse, ProofResponse, ProvedRequest, SentRequest } from '../core/proofs.ts'

/** fetch sends these methods in upper case, and others as they are written. */
const IN_CAPITALS = /^(get|head|post|put|delete|options)$/i

export function asSent({ method, url }: SentRequest): ProvedRequest {
  return { method: IN_CAPITALS.test(method) ? method.toUpperCase() : method, url: new URL(url) }
}

/** The parts of an API response that matter for later proofs. */
export function proofResponseOf({ status, header, errors }: ObservedResponse): ProofResponse {
  const [nonce, date, age] = ['dpop-nonce', 'date', 'age'].map(header)
  return { status, nonce, date, age, isRejected: errors.includes('invalid_dpop_proof') }
}
