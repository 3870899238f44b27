import { checkFunction, checkObject, checkText, kindOf } from '../core/option-checks.ts'
import { member, quietly } from '../core/thrown.ts'
import { ForeignReply } from './reason.ts'
import type { RegisterReading, TokenRegister } from './token-register.ts'

/**
 * Wraps a custom register, which may return anything.
 *
 * @returns The same register. Its steps reject with a `ForeignReply` that names the wrong member of a result.
 * @throws {TypeError} naming the member.
 */
export function checkedRegister(register: TokenRegister): TokenRegister {
  checkObject('register', register)
  checkText('register.kind', register.kind)
  for (const method of ['read', 'replace', 'watch', 'isWatching']) {
    const given = member(register, method)
    if (method === 'read' || method === 'replace' || given !== undefined) checkFunction(`register.${method}`, given)
  }
  const capacity = member(register, 'capacity') as number | undefined
  if (capacity !== undefined && !(Number.isInteger(capacity) && capacity >= 1))
    throw new TypeError(`register.capacity must be a whole number from 1, or undefined, got ${kindOf(capacity)}`)
  return {
    kind: register.kind,
    capacity,
    read: async (key) => readingIn(await register.read(key)),
    replace: async (...given) => isReplaced(await register.replace(...given)),
    ...(member(register, 'watch') !== undefined && {
      // Owners poll as well, so no renewal fails if the register cannot watch.
      watch(onChange: (key?: string) => void) {
        const stop = quietly(() => register.watch?.(onChange))
        // An async watch may reject, and nothing awaits it.
        Promise.resolve(stop).catch(() => undefined)
        return () => void quietly(() => stop?.())
      },
    }),
    ...(member(register, 'isWatching') !== undefined && {
      isWatching: () => quietly(() => register.isWatching?.()) === true,
    }),
  }
}

function readingIn(given: unknown): RegisterReading {
  if (typeof given !== 'object' || given === null)
    throw new ForeignReply(`read(key) must return { value, now }, got ${kindOf(given)}`)
  const [value, now, epoch, epochAt] = ['value', 'now', 'epoch', 'epochAt'].map((name) => member(given, name))
  // NaN, a Date or a bigint would make every instant in the record wrong.
  if (typeof now !== 'number' || !Number.isFinite(now))
    throw new ForeignReply(`now of read(key) must be epoch ms, got ${typeof now === 'number' ? now : kindOf(now)}`)
  // `epochAt` is only a hint, so an invalid value counts as absent.
  const began = typeof epochAt === 'number' && Number.isFinite(epochAt) ? { epochAt } : {}
  return { value: textOrNone('value', value), now, epoch: epoch === null ? null : textOrNone('epoch', epoch), ...began }
}

function textOrNone(name: string, given: unknown): string | undefined {
  if (given === undefined || typeof given === 'string') return given
  throw new ForeignReply(`${name} of read(key) must be a string or undefined, got ${kindOf(given)}`)
}

/** The result is not coerced: a wrong one would let two owners make the same exchange. */
function isReplaced(given: unknown): boolean {
  if (typeof given === 'boolean') return given
  throw new ForeignReply(`replace(…) must return true or false, got ${kindOf(given)}`)
}
