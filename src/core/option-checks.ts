import { LONGEST_TIMER_MS } from './clock.ts'

/** @throws {TypeError} naming the option unless it is an object with members, never its value: it may be a secret. */
export function checkObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null)
    throw new TypeError(`${name} must be an object, got ${kindOf(value)}`)
}

/**
 * Reads the options once, own members only: what somebody put on `Object.prototype` is no option.
 *
 * @param names All options that there are.
 * @returns A copy that inherits nothing.
 * @throws {TypeError} when they are no object, or naming a member that is no option: a typing error would go unnoticed.
 */
export function ownOptions<Options extends object>(what: string, given: Options, names: readonly string[]): Options {
  checkObject(what, given)
  const options = Object.assign(Object.create(null) as Options, given)
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new TypeError(`${what} must be among ${names.join(', ')}; there is no '${unknown}'`)
  // Of a class: it would be dropped unheard.
  const inherited = names.find((name) => name in given && !(name in options) && !(name in Object.prototype))
  if (inherited === undefined) return options
  throw new TypeError(`${what} must be a plain object: ${inherited} comes from a class`)
}

/** @returns An option of one call, undefined where the given object has none of its own. */
export function ownOption<Options extends object, Name extends keyof Options>(
  given: Options | undefined,
  name: Name,
): Options[Name] | undefined {
  return given !== undefined && Object.hasOwn(given, name) ? given[name] : undefined
}

/** @throws {TypeError} naming the option unless it is one of `choices`. */
export function checkChoice(name: string, value: unknown, choices: readonly unknown[]): void {
  if (!choices.includes(value))
    throw new TypeError(`${name} must be one of ${choices.map(shown).join(', ')}, got ${shown(value)}`)
}

/** @throws {TypeError} naming the option unless it is true or false. */
export function checkFlag(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false, got ${shown(value)}`)
}

/** @throws {TypeError} naming the option, never its value: a secret may stand where its provider belongs. */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function, got ${kindOf(value)}`)
}

/** @throws {TypeError} naming the option, never its value: it may be a secret. */
export function checkText(name: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string, got ${kindOf(value)}`)
  if (value === '') throw new TypeError(`${name} must not be empty`)
}

/**
 * @throws {TypeError} when it is no number, {RangeError} when it lies outside `least` to `most`; both name the option and
 * its value.
 */
export function checkNumber(name: string, value: unknown, least: number, most = Number.MAX_VALUE): void {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${shown(value)}`)
  if (!(value >= least && value <= most)) {
    const range = most === Number.MAX_VALUE ? `a finite number from ${least}` : `a number from ${least} to ${most}`
    throw new RangeError(`${name} must be ${range}, got ${value}`)
  }
}

/** @returns The duration in ms, at most what a timer can hold (24.8 days). */
export function checkedDuration(name: string, value: unknown): number {
  checkNumber(name, value, 0)
  return Math.min(value as number, LONGEST_TIMER_MS)
}

/** For messages: what kind of value was given instead, where it may be a secret. */
export function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value
}

/** For messages: what was given instead, if it is short and plain. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
