type Operation = (this: unknown, ...args: unknown[]) => Promise<unknown>

interface CryptoWork {
  /** Operations that have begun and have not ended. */
  underWay: number
}

// Of the whole process: both formats of the package, and all realms of a test runner, share the count and know what is counted.
const WORK = Symbol.for('axios-evergreen.testing.cryptoWork')

const OPERATIONS = [
  ...['digest', 'sign', 'verify', 'encrypt', 'decrypt', 'wrapKey', 'unwrapKey'],
  ...['importKey', 'exportKey', 'generateKey', 'deriveKey', 'deriveBits'],
]

/**
 * Counts the operations of WebCrypto from the first call on. Other threads perform them, and nothing tells when those threads
 * rest. To wait for an operation of one's own instead takes longer than most tests, and proves less.
 */
export function cryptoWork(): Readonly<CryptoWork> {
  // There is none on a page without https, and some tests take it away.
  const subtle = (globalThis.crypto as Partial<typeof crypto> | undefined)?.subtle as object | undefined
  if (!subtle) return { underWay: 0 }
  const work = (Reflect.get(subtle, WORK) as CryptoWork | undefined) ?? hide(subtle, WORK, { underWay: 0 })
  for (const name of OPERATIONS) {
    const operation = Reflect.get(subtle, name) as Operation | undefined
    // A test may have put a spy in its place since.
    if (operation && !(WORK in operation)) hide(subtle, name, counted(operation, work))
  }
  return work
}

function counted(operation: Operation, work: CryptoWork): Operation {
  const ended = () => void (work.underWay -= 1)
  const whole: Operation = function (...args) {
    const result = operation.apply(this, args)
    work.underWay += 1
    // A stub may give anything.
    Promise.resolve(result).then(ended, ended)
    return result
  }
  hide(whole, WORK, work)
  return whole
}

/** Not enumerable, as the methods of a class are; not at all where the object is frozen. */
function hide<Value>(object: object, name: PropertyKey, value: Value): Value {
  Reflect.defineProperty(object, name, { value, configurable: true, writable: true })
  return value
}
