import type { DPoPKey, KeyProofs } from './proofs.ts'
import { member } from './thrown.ts'

/** All copies of the package in one process share this symbol. */
export const PROOFS = Symbol.for('axios-evergreen.proofs')

/** What the option `dpop` takes. */
export type GivenKey = DPoPKey | Promise<DPoPKey>

/** @throws {TypeError} naming the option, and nothing of its value, unless `given` is a key of `axios-evergreen/dpop`, or a promise. */
export function checkKey(name: string, given: GivenKey): void {
  if (!isPromised(given)) proofsOf(name, given)
}

export function isPromised(given: GivenKey): given is Promise<DPoPKey> {
  return typeof member(given, 'then') === 'function'
}

/**
 * The `boundTo` of a source has, under this symbol, the check of the `dpop` of its attachments, if it is the thumbprint of a key of
 * `axios-evergreen/dpop`: a function that throws a TypeError. All copies of the package in one process share it.
 */
export const CHECK = Symbol.for('axios-evergreen.checkKey')

/** @throws {TypeError} if the tokens of a source, bound to `boundTo`, are of no use with this key, or without one. */
export function checkFit(boundTo: unknown, given: GivenKey | undefined): void {
  const check = member(boundTo, CHECK) as ((given: GivenKey | undefined) => void) | undefined
  check?.(given)
}

/** @throws {TypeError} naming the option, and nothing of its value, unless `key` is a key of `axios-evergreen/dpop`. */
export function proofsOf(name: string, key: DPoPKey): KeyProofs {
  const proofs = member(key, PROOFS)
  if (proofs !== undefined) return proofs as KeyProofs
  throw new TypeError(`${name} must be a key of axios-evergreen/dpop: pass dpopKey(keyPair), or await webKey()`)
}
