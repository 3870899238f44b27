import { isTokenError, TokenError } from '../core/errors.ts'
import { promisedThumbprint } from '../dpop/key-fit.ts'
import { type GivenKey, isPromised, proofsOf } from '../core/proof-port.ts'
import type { DPoPKey, Proofs } from '../core/proofs.ts'
import type { ExchangeContext } from '../core/token-source.ts'
import type { TokenResponse } from '../wire/token-response.ts'
import { withProof } from './with-proof.ts'

/** The key of a source. */
export interface ProofKey {
  readonly thumbprint: Promise<string>
  /** Sends a token request with a proof. */
  send(url: URL, call: (proof: string) => Promise<TokenResponse>, context: ExchangeContext): Promise<TokenResponse>
}

/** @throws {TypeError} naming the option. A promised key is validated when the promise resolves; until then no token request is sent. */
export function proofKeyOf(given: GivenKey): ProofKey {
  if (!isPromised(given)) return keyWith(proofsOf('dpop', given), given.thumbprint)
  const key = given.then(checked, asTokenError)
  return keyWith(promisedProofs(key), promisedThumbprint(key))
}

function keyWith(proofs: Proofs, thumbprint: Promise<string>): ProofKey {
  return { thumbprint, send: (...request) => withProof(proofs, ...request) }
}

/** Nothing can be learned, or be outdated, before the first proof. */
function promisedProofs(key: Promise<DPoPKey>): Proofs {
  let known: Proofs | undefined
  return {
    async prove(...given) {
      known = proofsOf('dpop', await key)
      return known.prove(...given)
    },
    learn: (...given) => known?.learn(...given),
    isOutdated: (...given) => known?.isOutdated(...given) ?? false,
  }
}

function checked(key: DPoPKey): DPoPKey {
  try {
    proofsOf('dpop', key)
    return key
  } catch (cause) {
    throw unusable((cause as TypeError).message, cause)
  }
}

function asTokenError(cause: unknown): never {
  if (isTokenError(cause)) throw cause
  throw unusable('The promise passed as dpop was rejected', cause)
}

function unusable(message: string, cause: unknown): TokenError {
  return new TokenError('ERR_TOKEN_SOURCE', message, { outcome: 'not-sent', refreshToken: 'kept', cause })
}
