import type { Clock } from '../core/clock.ts'
import { TokenError } from '../core/errors.ts'
import { randomHex } from '../core/digest.ts'
import { ownOption } from '../core/option-checks.ts'
import type { ObservedResponse, KeyProofs, Proof, ProofResponse, ProvedRequest, SentRequest } from '../core/proofs.ts'
import { asSent, proofResponseOf } from './as-sent.ts'
import { base64urlOf, base64urlOfText } from './base64url.ts'
import { Origins } from './origins.ts'
import type { VerifyingKey } from './public-jwk.ts'

/** Servers tolerate a larger difference between their clock and `iat`. */
const TIME_TOLERANCE_MS = 5_000

type Sign = (data: Uint8Array) => unknown

/** Makes the proofs of one key (RFC 9449, section 4.2). */
export class ProofMaker implements KeyProofs {
  readonly #key: Promise<{ readonly key: VerifyingKey; readonly header: string }>
  readonly #sign: Sign
  /** The origins by clock. All managers of a process have the same clock, except in tests. */
  readonly #origins = new WeakMap<Clock, Origins>()
  #tokenHash: { readonly token: string; readonly hash: Promise<string> } | undefined

  constructor(key: Promise<VerifyingKey>, sign: Sign) {
    this.#key = key.then((known) => ({ key: known, header: headerOf(known) }))
    this.#key.catch(() => undefined) // `thumbprint` rejects, too
    this.#sign = sign
  }

  async prove(request: ProvedRequest, clock: Clock): Promise<Proof> {
    const origins = this.#originsFor(clock)
    try {
      const { key, header } = await this.#key
      // A token request has no `token`, and most requests have no `nonce`: members of `Object.prototype` must not count.
      const token = ownOption(request, 'token')
      const ath = token === undefined ? undefined : await this.#hashOf(token)
      // Read last: another request may have received a new nonce meanwhile.
      const [nonce, leadMs] = [ownOption(request, 'nonce') ?? origins.nonceOf(request), origins.leadMs(request)]
      const payload = JSON.stringify(claimsOf(request, { nonce, ath, now: leadMs + clock.monotonicNow() }))
      const signed = `${header}.${base64urlOfText(payload)}`
      const signature = checkedSignature(key, await this.#sign(new TextEncoder().encode(signed)))
      return { text: `${signed}.${base64urlOf(signature)}`, nonce, leadMs }
    } catch (thrown) {
      throw notSigned(thrown)
    }
  }

  async proofFor(request: SentRequest & { readonly token: string }, clock: Clock): Promise<string> {
    return (await this.prove({ ...asSent(request), token: request.token }, clock)).text
  }

  observe(request: SentRequest, response: ObservedResponse, clock: Clock): void {
    this.learn(asSent(request), proofResponseOf(response), clock)
  }

  learn(request: ProvedRequest, response: ProofResponse, clock: Clock): void {
    this.#originsFor(clock).learn(request, response)
  }

  isOutdated({ nonce, leadMs }: Proof, request: ProvedRequest, clock: Clock): boolean {
    const origins = this.#originsFor(clock)
    return origins.nonceOf(request) !== nonce || Math.abs(origins.leadMs(request) - leadMs) > TIME_TOLERANCE_MS
  }

  #originsFor(clock: Clock): Origins {
    const known = this.#origins.get(clock) ?? new Origins(clock)
    this.#origins.set(clock, known)
    return known
  }

  /** `ath` of a token, computed once for each token. */
  #hashOf(token: string): Promise<string> {
    if (this.#tokenHash?.token !== token) this.#tokenHash = { token, hash: hashOf(token) }
    return this.#tokenHash.hash
  }
}

async function hashOf(token: string): Promise<string> {
  return base64urlOf(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))))
}

function headerOf({ alg, jwk }: VerifyingKey): string {
  return base64urlOfText(JSON.stringify({ typ: 'dpop+jwt', alg, jwk }))
}

/** @param now The time at the server, epoch ms. */
function claimsOf(
  { method, url }: ProvedRequest,
  { nonce, ath, now }: { readonly nonce: string | undefined; readonly ath: string | undefined; readonly now: number },
): object {
  // A parsed address and the method of a sent request are ASCII. btoa accepts nothing beyond U+00FF.
  return { jti: randomHex(), htm: method, htu: url.origin + url.pathname, iat: Math.floor(now / 1_000), ath, nonce }
}

/** The function of a user may return anything. */
function checkedSignature({ alg, signatureBytes }: VerifyingKey, given: unknown): Uint8Array {
  const isBytes = ArrayBuffer.isView(given) || Object.prototype.toString.call(given) === '[object ArrayBuffer]'
  const signature = new Uint8Array(isBytes ? (given as ArrayBuffer) : [])
  if (signature.length === signatureBytes) return signature
  const form = alg.startsWith('ES') ? ': r and s, one after the other (RFC 7518, section 3.4), not DER' : ''
  throw new InvalidSignature(`returned ${signature.length} bytes, but ${alg} takes ${signatureBytes}${form}`)
}
class InvalidSignature extends Error {}

/** Without a proof no request is sent, so a refresh token stays valid. */
function notSigned(thrown: unknown): TokenError {
  const what = thrown instanceof InvalidSignature ? thrown.message : 'failed'
  const cause = thrown instanceof InvalidSignature ? undefined : thrown
  const message = `The key of dpop does not sign: sign ${what}; no request was sent`
  return new TokenError('ERR_TOKEN_SOURCE', message, { outcome: 'not-sent', refreshToken: 'kept', cause })
}
