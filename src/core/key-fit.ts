import { CHECK, type GivenKey, isPromised } from './proof-port.ts'
import type { DPoPKey } from './proofs.ts'
import { member } from './thrown.ts'

/** What tells one key from another at once, before its thumbprint is known. */
interface Identity {
  /** Equal only for the same key. Two copies of a key may differ in it. */
  readonly material: unknown
  /** Undefined until it is known. */
  thumbprint?: string
}

const IDENTITY = Symbol.for('axios-evergreen.keyIdentity')

/** Lets sources and attachments compare the key that has this thumbprint with others. @returns the thumbprint */
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
  thumbprint.catch(() => undefined) // nobody may ask for it
  return checking(thumbprint, (given) => {
    const check = member(known?.thumbprint, CHECK) as ((given: GivenKey) => void) | undefined
    check?.(given)
  })
}

/** @param check Compares keys that are known. An attachment asks again once the promise of its key has settled. */
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
  return new TypeError('dpop must be the very key that the source has: its tokens are bound to that key')
}
