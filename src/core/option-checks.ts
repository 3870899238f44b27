import { LONGEST_TIMER_MS } from './clock.ts'

/** @returns The error for an option of the wrong kind. @param must What it must be. @param got What it is: the kind of a value that may be a secret. */
export function wrong(name: string, must: string, got: string): TypeError {
  return new TypeError(`${name} must be ${must}, got ${got}`)
}

/** @throws {TypeError} unless the value is an object. Names the option, never its value: the value may be a secret. */
export function checkObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) throw wrong(name, 'an object', kindOf(value))
}

/** @returns The names of all members of a type. It does not compile if one of them is missing. */
export function namesOf<Type extends object>(names: Readonly<Record<keyof Type, true>>): (keyof Type & string)[] {
  return Object.keys(names) as (keyof Type & string)[]
}

/** A table in types alone. It does not compile if a member is missing. */
export type Complete<Whole, Table extends Whole> = Table
/** The members of a table that have such a value. */
export type KeysOf<Table, Value> = { [Key in keyof Table]: Table[Key] extends Value ? Key : never }[keyof Table]

/**
 * Reads the own members of the options once: a member of `Object.prototype` is no option.
 *
 * @param names All known options.
 * @returns A copy that inherits nothing.
 * @throws {TypeError} when they are no plain object; naming an unknown member, because a typing error would go unnoticed.
 */
export function ownOptions<Options extends object>(what: string, given: Options, names: readonly string[]): Options {
  checkObject(what, given)
  const options = Object.assign(Object.create(null) as Options, given)
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new TypeError(`${what}: there is no '${unknown}', ${adviceOn(unknown, names)}`)
  // An option that comes from a class would be ignored silently.
  const inherited = names.find((name) => name in given && !(name in options) && !(name in Object.prototype))
  if (inherited === undefined) return options
  throw new TypeError(`${what} must be a plain object: ${inherited} comes from a class`)
}

/** Where a name belongs that was given to another function. A function that takes one name of a row takes what it can of that row. */
const HOMES: readonly (readonly [where: string, ...names: string[]])[] = [
  [
    'createTokenManager',
    'source',
    'store',
    'storeKey',
    'renewal',
    'retry',
    'clock',
    'onSuspicious',
    'exchangeTimeoutMs',
  ],
  ['renewal of createTokenManager', 'maxWaitMs', 'keepWarm', 'skewMs'],
  ['retry of createTokenManager', 'maxAttempts', 'maxRetryAfterMs'],
  ['attachBearer or withBearer', 'origins', 'refuses'],
  ['adopt() of the token manager', 'accessToken', 'refreshToken'],
  ['the token source', 'account', 'baseUrl', 'clientId', 'clientSecret', 'scope', 'tokenEndpoint', 'issuer'],
]

/** Options of earlier releases, by their old names. */
const RENAMED = new Map([['noticeWithinMs', 'maxStalenessMs']])

function adviceOn(unknown: string, names: readonly string[]): string {
  const renamed = RENAMED.get(unknown)
  if (renamed !== undefined && names.includes(renamed)) return `it is now called '${renamed}'`
  const home = HOMES.find((row) => row.includes(unknown, 1) && !row.some((name) => names.includes(name)))
  if (home) return `it belongs to ${home[0]}`
  const meant = nearest(unknown, names)
  return meant === undefined ? `use ${names.join(', ')}` : `did you mean '${meant}'?`
}

/** @returns The name that was probably meant: case and marks aside, at most two letters differ, and at least half are right. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '')
  const within = (edits: number) =>
    names.filter((name) => isWithin(Math.min(edits, given.length / 2), plain(given), plain(name)))
  return [0, 1, 2].flatMap(within)[0]
}

/** Whether so many letters that are added, left out or replaced make one text the other. */
function isWithin(edits: number, one: string, other: string): boolean {
  const without = (n: number, m: number) => isWithin(edits - 1, one.slice(n), other.slice(m))
  if (one === other || edits < 0) return one === other
  if (one.at(0) === other.at(0)) return isWithin(edits, one.slice(1), other.slice(1))
  return edits >= 1 && (without(1, 1) || without(1, 0) || without(0, 1))
}

/** Reads each option of a type: checks it, and knows its default. It does not compile if an option is missing. */
export type Readers<Options extends object> = {
  readonly [Name in keyof Options]-?: (name: string, given: unknown) => Options[Name]
}

/** Reads an option that is checked together with others. */
export function asGiven(_: string, given: unknown): never {
  return given as never
}

/** Reads an option that has no default. */
export function ifGiven<Value>(check: (name: string, given: unknown) => Value) {
  return (name: string, given: unknown) => (given === undefined ? undefined : check(name, given))
}

/**
 * @param prefix What messages write before the name of an option, as in `retry.maxAttempts`.
 * @returns The options, checked and with their defaults.
 * @throws {TypeError | RangeError} naming the option.
 */
export function readOptions<Table extends Readers<Record<string, unknown>>>(
  what: string,
  given: object,
  table: Table,
  prefix = `${what}.`,
): { readonly [Name in keyof Table]: ReturnType<Table[Name]> } {
  const own: Record<string, unknown> = ownOptions(what, given, Object.keys(table)) as never
  const read = Object.entries(table).map(([name, reader]) => [name, reader(prefix + name, own[name])])
  return Object.freeze(Object.fromEntries(read)) as never
}

/** @returns An option of one call, undefined if the object has no such member of its own. */
export function ownOption<Options extends object, Name extends keyof Options>(
  given: Options | undefined,
  name: Name,
): Options[Name] | undefined {
  return given !== undefined && Object.hasOwn(given, name) ? given[name] : undefined
}

/** @returns The value. @throws {TypeError} naming the option unless it is one of `choices`. */
export function checkChoice<Choice>(name: string, value: unknown, choices: readonly Choice[]): Choice {
  if (!choices.includes(value as Choice)) throw wrong(name, `one of ${choices.map(shown).join(', ')}`, shown(value))
  return value as Choice
}

/** @throws {TypeError} naming the option unless it is true or false. */
export function checkFlag(name: string, value: unknown): asserts value is boolean {
  if (typeof value !== 'boolean') throw wrong(name, 'true or false', shown(value))
}

/** @returns The flag. @throws {TypeError} as `checkFlag`. */
export function checkedFlag(name: string, value: unknown = false): boolean {
  checkFlag(name, value)
  return value
}

/** @throws {TypeError} naming the option, never its value: a user may give a secret in place of its provider. */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw wrong(name, 'a function', kindOf(value))
}

/** @throws {TypeError} naming the option, never its value: the value may be a secret. */
export function checkText(name: string, value: unknown): asserts value is string {
  if (typeof value !== 'string') throw wrong(name, 'a string', kindOf(value))
  if (value === '') throw new TypeError(`${name} must not be empty`)
}

/**
 * @returns The number.
 * @throws {TypeError} when the value is no number, {RangeError} when it is outside `least` to `most`. Both name the option
 * and its value.
 */
export function checkNumber(name: string, value: unknown, least: number, most = Number.MAX_VALUE): number {
  if (typeof value !== 'number') throw wrong(name, 'a number', shown(value))
  if (value >= least && value <= most) return value
  const range = most === Number.MAX_VALUE ? `a finite number from ${least}` : `a number from ${least} to ${most}`
  throw new RangeError(wrong(name, range, String(value)).message)
}

/** @returns The duration in ms, at most what a timer can hold (24.8 days). */
export function checkedDuration(name: string, value: unknown, least = 0): number {
  return Math.min(checkNumber(name, value, least), LONGEST_TIMER_MS)
}

/** The kind of a value, for messages: the value itself may be a secret. */
export function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value
}

/** A value as messages show it, for values that are never secret. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
