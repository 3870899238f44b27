import { CHECK, type GivenKey, isPromised } from '../core/proof-port.ts'
import type { DPoPKey } from '../core/proofs.ts'
import { member } from '../core/thrown.ts'

/** Identifies a key synchronously, before its thumbprint is known. */
interface Identity {
  /** Equal only for the same key. It may differ between two copies of a key. */
  readonly material: unknown
  /** Undefined until it is known. */
  thumbprint?: string
}

const IDENTITY = Symbol.for('axios-evergreen.keyIdentity')

/** Makes the key of this thumbprint comparable with those of other sources and attachments. @returns the thumbprint */
export function comparable(thumbprint: Promise<string>, material: unknown): Promise<string> {
  const own: Identity = { material }
  void thumbprint.then(
    (known) => (own.thumbprint = known),
    () => undefined,
  )
  void Object.defineProperty(thumbprint, IDENTITY, { value: own })
  return checking(thumbprint, (given) => {
    const other = member(given.thumbprint, IDENTITY) as Identity | undefined
    if (!other || other.material === own.material) return
    if (own.thumbprint === undefined || other.thumbprint !== own.thumbprint) throw anotherKey()
  })
}

/** The thumbprint of a key that is not known yet. */
export function promisedThumbprint(key: Promise<DPoPKey>): Promise<string> {
  let known: DPoPKey | undefined
  const thumbprint = key.then((found) => {
    known = found
    return found.thumbprint
  })
  thumbprint.catch(() => undefined) // it may have no other handler
  return checking(thumbprint, (given) => {
    const check = member(known?.thumbprint, CHECK) as ((given: GivenKey) => void) | undefined
    check?.(given)
  })
}

/** @param check Compares known keys. An attachment repeats it once the promise of its key has settled. */
function checking(thumbprint: Promise<string>, check: (given: DPoPKey) => void): Promise<string> {
  const value = (given: GivenKey | undefined) => {
    if (given === undefined) throw noKey()
    if (!isPromised(given)) check(given)
  }
  return Object.defineProperty(thumbprint, CHECK, { value })
}

function noKey(): TypeError {
  return new TypeError(
    'dpop must be given to the attachment: the tokens of this source are bound to its key, so pass the same key to attachBearer or withBearer',
  )
}

function anotherKey(): TypeError {
  return new TypeError('dpop must be the same key as in the source: its tokens are bound to that key')
}
