import type { DPoPKey, KeyProofs } from './proofs.ts'
import { member } from './thrown.ts'

/** The key of `KeyProofs` on a key. All copies of the package in one process share this symbol. */
export const PROOFS = Symbol.for('axios-evergreen.proofs')

/** The type of the option `dpop`. */
export type GivenKey = DPoPKey | Promise<DPoPKey>

/** @throws {TypeError} Naming the option, not its value, unless `given` is a key of `axios-evergreen/dpop` or a promise. */
export function checkKey(name: string, given: GivenKey): void {
  if (!isPromised(given)) proofsOf(name, given)
}

export function isPromised(given: GivenKey): given is Promise<DPoPKey> {
  return typeof member(given, 'then') === 'function'
}

/**
 * The key of a function on the `boundTo` of a source, if that is the thumbprint of a key of `axios-evergreen/dpop`. The function checks the option
 * `dpop` of an attachment, and throws a TypeError. All copies of the package in one process share this symbol.
 */
export const CHECK = Symbol.for('axios-evergreen.checkKey')

/** @throws {TypeError} If tokens bound to `boundTo` cannot be used with this key, or without a key. */
export function checkFit(boundTo: unknown, given: GivenKey | undefined): void {
  const check = member(boundTo, CHECK) as ((given: GivenKey | undefined) => void) | undefined
  check?.(given)
}

/** @throws {TypeError} Naming the option, not its value, unless `key` is a key of `axios-evergreen/dpop`. */
export function proofsOf(name: string, key: DPoPKey): KeyProofs {
  const proofs = member(key, PROOFS)
  if (proofs !== undefined) return proofs as KeyProofs
  throw new TypeError(`${name} must be a key of axios-evergreen/dpop: pass dpopKey(keyPair), or await webKey()`)
}
