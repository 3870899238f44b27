import { withinLimit } from '../core/deadline.ts'
import { TokenError } from '../core/errors.ts'
import { checkFit, type GivenKey, proofsOf } from '../core/proof-port.ts'
import type { SentRequest } from '../core/proofs.ts'
import { errorsIn } from './challenges.ts'
import type { TokenAccess, WaitLimits } from './token-access.ts'

/**
 * Proves with each request that its sender holds a key (RFC 9449). The implementation comes with the key, so that bundles without keys do not contain it.
 * A request with a proof follows no redirect.
 */
export interface Prover {
  /**
   * @returns The value of the header `DPoP`: a new one for each request.
   * @throws {TokenError} `ERR_TOKEN_SOURCE` if the key does not sign; `ERR_WAIT_TIMEOUT` at the limit; `signal.reason` if the caller aborts.
   */
  prove(request: SentRequest & { readonly token: string }, limits: WaitLimits): Promise<string>
  /** Observes each response, of any status: it may contain the next nonce and the time. */
  observe(request: SentRequest, status: number, header: (name: string) => unknown): void
}

/**
 * @param given A promise of a key is awaited before the first proof. If it resolves with something else, or with a key other than that of the source, each
 * call of `prove` rejects.
 */
export function proverOf(given: GivenKey, { clock, boundTo }: TokenAccess): Prover {
  const known = Promise.resolve(given).then((key) => ({ key, proofs: proofsOf('dpop', key) }))
  known.catch(() => undefined) // each proof reports the rejection
  return {
    prove(request, { signal, maxWaitMs: ms }) {
      const atLimit = () => new TokenError('ERR_WAIT_TIMEOUT', 'The key of dpop did not sign within maxWaitMs')
      const proving = known.then(({ key, proofs }) => {
        // There is a token, so the key of the source has settled, too.
        checkFit(boundTo, key)
        return proofs.proofFor(request, clock)
      })
      return withinLimit(proving, { clock, ms, holdsProcess: true, signal, atLimit })
    },
    observe(request, status, header) {
      const response = { status, header, errors: errorsIn(header('www-authenticate')) }
      known.then(
        ({ proofs }) => proofs.observe(request, response, clock),
        () => undefined,
      )
    },
  }
}
