import type { Proofs, ProvedRequest } from '../core/proofs.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import type { TokenResponse } from '../wire/token-response.ts'
import { documentIn, errorIn } from './document.ts'

/**
 * Sends a token request with a proof (RFC 9449, section 5). If the server rejects the proof, and its response has a new nonce or shows another time, sends
 * the request once more. The server rejected the first one before it read the refresh token, so that token is intact.
 *
 * @param call Sends the header `DPoP` with this text. It authenticates the client again, because an assertion is valid for one request, like a proof.
 */
export async function withProof(
  proofs: Proofs,
  url: URL,
  call: (proof: string) => Promise<TokenResponse>,
  context: ExchangeContext,
): Promise<TokenResponse> {
  const request: ProvedRequest = { method: 'POST', url }
  const { clock } = context
  const { waitsFor } = internalOf(context)
  for (let isFirst = true; ; isFirst = false) {
    waitsFor?.('The key of dpop')
    const proof = await proofs.prove(request, clock)
    waitsFor?.(undefined)
    const response = await call(proof.text)
    const { status, headers, text } = response
    const [nonce, date, age] = [headers.get('dpop-nonce'), headers.get('date'), headers.get('age')]
    const error = errorIn(documentIn(text))
    proofs.learn(request, { status, nonce, date, age, isRejected: error === 'invalid_dpop_proof' }, clock)
    if (!isFirst || !isProofRejected(error) || !proofs.isOutdated(proof, request, clock)) return response
  }
}

/** Whether a server rejected the proof instead of the token (RFC 9449, sections 7.1, 8 and 9). @param error The error code of the response. */
function isProofRejected(error: string | undefined): boolean {
  return error === 'use_dpop_nonce' || error === 'invalid_dpop_proof'
}
