import { withinLimit } from '../core/deadline.ts'
import { TokenError } from '../core/errors.ts'
import { type DPoPKey, proofsOf, type ProvedRequest } from '../core/proofs.ts'
import type { TokenAccess } from './token-access.ts'

/** Proves with each request that its sender holds a key (RFC 9449). No redirect is followed with a proof. */
export interface Prover {
  /**
   * @returns The text of the header `DPoP`. A new one for each request.
   * @throws {TokenError} `ERR_TOKEN_SOURCE` if the key does not sign; `signal.reason` when the caller gives up.
   */
  prove(request: SentRequest & { readonly token: string }, waiting: Parameters<TokenAccess['get']>[0]): Promise<string>
  /** Hears each answer, of any status: it may bring the next nonce, and the time. */
  hear(request: SentRequest, status: number, header: (name: string) => unknown): void
}

export interface SentRequest {
  readonly method: string
  readonly url: string
}

/** @throws {TypeError} unless `key` is a key of `axios-evergreen/dpop`. */
export function proverOf(key: DPoPKey, { clock }: TokenAccess): Prover {
  const proofs = proofsOf('dpop', key)
  return {
    async prove(request, { signal, maxWaitMs: ms }) {
      const atLimit = () => new TokenError('ERR_WAIT_TIMEOUT', `The key of dpop did not sign within ${ms} ms`)
      const proving = proofs.prove({ ...asSent(request), token: request.token }, clock)
      return (await withinLimit(proving, { clock, ms, holdsProcess: true, signal, atLimit })).text
    },
    hear(request, status, header) {
      const [nonce, date, age] = ['dpop-nonce', 'date', 'age'].map(header)
      proofs.learn(asSent(request), { status, nonce, date, age }, clock)
    },
  }
}

/** fetch sends these methods in capitals, and others as they are written. */
const IN_CAPITALS = /^(get|head|post|put|delete|options)$/i

function asSent({ method, url }: SentRequest): ProvedRequest {
  return { method: IN_CAPITALS.test(method) ? method.toUpperCase() : method, url: new URL(url) }
}
