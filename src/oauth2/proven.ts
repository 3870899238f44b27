import { isProofRejected, type Proofs, type ProvedRequest } from '../core/proofs.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import type { TokenResponse } from '../wire/token-response.ts'
import { documentIn, errorIn } from './document.ts'

/**
 * Makes a token call with a proof (RFC 9449, section 5). If the server refuses the proof, and its answer brings a nonce or another time, makes the
 * call once more. The server has refused the first one before it looked at the refresh token, so that token is untouched.
 *
 * @param call Sends the header `DPoP` with this text. It authenticates the client anew: an assertion serves one call, as a proof does.
 */
export async function withProof(
  proofs: Proofs,
  url: URL,
  call: (proof: string) => Promise<TokenResponse>,
  context: ExchangeContext,
): Promise<TokenResponse> {
  const request: ProvedRequest = { method: 'POST', url }
  const first = await provenOnce(proofs, request, call, context)
  return first.mayPass ? (await provenOnce(proofs, request, call, context)).answer : first.answer
}

async function provenOnce(
  proofs: Proofs,
  request: ProvedRequest,
  call: (proof: string) => Promise<TokenResponse>,
  context: ExchangeContext,
): Promise<{ answer: TokenResponse; mayPass: boolean }> {
  const { clock } = context
  const { waitsFor } = internalOf(context)
  waitsFor?.('The key of dpop')
  const proof = await proofs.prove(request, clock)
  waitsFor?.(undefined)
  const answer = await call(proof.text)
  const { status, headers, text } = answer
  const [nonce, date, age] = [headers.get('dpop-nonce'), headers.get('date'), headers.get('age')]
  const error = errorIn(documentIn(text))
  proofs.learn(request, { status, nonce, date, age, isRejected: error === 'invalid_dpop_proof' }, clock)
  return { answer, mayPass: isProofRejected(error) && proofs.isOutdated(proof, request, clock) }
}
