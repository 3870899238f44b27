type Operation = (this: unknown, ...args: unknown[]) => Promise<unknown>

export interface CryptoWork {
  /** Operations that have begun and have not ended. */
  underWay: number
}

// A registered symbol: both formats of the package, and all realms of a test runner, must share one count.
const WORK = Symbol.for('axios-evergreen.testing.cryptoWork')

const OPERATIONS = [
  ...['digest', 'sign', 'verify', 'encrypt', 'decrypt', 'wrapKey', 'unwrapKey'],
  ...['importKey', 'exportKey', 'generateKey', 'deriveKey', 'deriveBits'],
]

/**
 * Counts the operations of WebCrypto from the first call of this function on. Other threads perform them, and there is no other way to
 * find out when those threads are idle. Waiting for one more operation would take longer than most tests, and prove less.
 */
export function cryptoWork(): Readonly<CryptoWork> {
  // A page without https has no crypto.subtle, and some tests remove it.
  const subtle = (globalThis.crypto as Partial<typeof crypto> | undefined)?.subtle as object | undefined
  if (!subtle) return { underWay: 0 }
  const work = (Reflect.get(subtle, WORK) as CryptoWork | undefined) ?? hide(subtle, WORK, { underWay: 0 })
  for (const name of OPERATIONS) {
    const operation = Reflect.get(subtle, name) as Operation | undefined
    // A test may have replaced the method with a spy since the last call.
    if (operation && !(WORK in operation)) hide(subtle, name, counted(operation, work))
  }
  return work
}

function counted(operation: Operation, work: CryptoWork): Operation {
  const ended = () => void (work.underWay -= 1)
  const whole: Operation = function (...args) {
    const result = operation.apply(this, args)
    work.underWay += 1
    // A stub may return anything.
    Promise.resolve(result).then(ended, ended)
    return result
  }
  hide(whole, WORK, work)
  return whole
}

/** Sets a member that is not enumerable, as methods of a class are. Does nothing to a frozen object. */
function hide<Value>(object: object, name: PropertyKey, value: Value): Value {
  Reflect.defineProperty(object, name, { value, configurable: true, writable: true })
  return value
}
