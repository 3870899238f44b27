import { withinLimit } from '../core/deadline.ts'
import { TokenError } from '../core/errors.ts'
import { checkFit, type GivenKey, proofsOf } from '../core/proof-port.ts'
import type { SentRequest } from '../core/proofs.ts'
import { errorsIn } from './challenges.ts'
import type { TokenAccess, WaitLimits } from './token-access.ts'

/** Proves with each request that its sender holds a key (RFC 9449). The key brings the code. No redirect is followed with a proof. */
export interface Prover {
  /**
   * @returns The text of the header `DPoP`. A new one for each request.
   * @throws {TokenError} `ERR_TOKEN_SOURCE` if the key does not sign; `signal.reason` when the caller gives up.
   */
  prove(request: SentRequest & { readonly token: string }, limits: WaitLimits): Promise<string>
  /** Hears each answer, of any status: it may bring the next nonce, and the time. */
  hear(request: SentRequest, status: number, header: (name: string) => unknown): void
}

/** @param given A promise of a key is awaited before the first proof. If it is no key, or another one than that of the source, each proof rejects. */
export function proverOf(given: GivenKey, { clock, boundTo }: TokenAccess): Prover {
  const known = Promise.resolve(given).then((key) => ({ key, proofs: proofsOf('dpop', key) }))
  known.catch(() => undefined) // each proof rejects as well
  return {
    prove(request, { signal, maxWaitMs: ms }) {
      const atLimit = () => new TokenError('ERR_WAIT_TIMEOUT', 'The key of dpop did not sign within maxWaitMs')
      const proving = known.then(({ key, proofs }) => {
        // Now the token is there, so the key of the source is known, too, even if a promise of it was given.
        checkFit(boundTo, key)
        return proofs.proofFor(request, clock)
      })
      return withinLimit(proving, { clock, ms, holdsProcess: true, signal, atLimit })
    },
    hear(request, status, header) {
      const answer = { status, header, errors: errorsIn(header('www-authenticate')) }
      known.then(
        ({ proofs }) => proofs.hear(request, answer, clock),
        () => undefined,
      )
    },
  }
}
