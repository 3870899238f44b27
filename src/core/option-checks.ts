import { LONGEST_TIMER_MS } from './clock.ts'

/** @returns The error for a wrong option. @param must What is required. @param got What was given: only the type of a value that may be a secret. */
export function wrong(name: string, must: string, got: string): TypeError {
  return new TypeError(`${name} must be ${must}, got ${got}`)
}

/** @throws {TypeError} Unless the value is an object. Names the option, not its value, which may be a secret. */
export function checkObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) throw wrong(name, 'an object', kindOf(value))
}

/** @returns The names of all members of a type. Does not compile if one is missing. */
export function namesOf<Type extends object>(names: Readonly<Record<keyof Type, true>>): (keyof Type & string)[] {
  return Object.keys(names) as (keyof Type & string)[]
}

/** A type-level table. Does not compile if a member is missing. */
export type Complete<Whole, Table extends Whole> = Table
/** The members of a table with this value. */
export type KeysOf<Table, Value> = { [Key in keyof Table]: Table[Key] extends Value ? Key : never }[keyof Table]

/** The function that an option belongs to, for options passed to the wrong function. A row is skipped if the called function takes one of its options. */
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
  ['the store', 'encryptionKeys', 'onUnavailable'],
  ['the token source', 'account', 'baseUrl', 'clientId', 'clientSecret', 'scope', 'tokenEndpoint', 'issuer'],
  // For options of `oauth2` that were passed to another source, for which the row above is skipped.
  ['oauth2 of axios-evergreen/oauth2', 'scope', 'tokenEndpoint', 'issuer', 'parameters'],
]

function adviceOn(unknown: string, names: readonly string[]): string {
  const home = HOMES.find((row) => row.includes(unknown, 1) && !row.some((name) => names.includes(name)))
  if (home) return `it belongs to ${home[0]}`
  const meant = nearest(unknown, names)
  return meant === undefined ? `use ${names.join(', ')}` : `did you mean '${meant}'?`
}

/** @returns The most similar name. Case and punctuation are ignored. At most two letters differ, and at least half are right. */
export function nearest(given: string, names: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '')
  const within = (edits: number) =>
    names.find((name) => isWithin(Math.min(edits, given.length / 2), plain(given), plain(name)))
  return within(0) ?? within(1) ?? within(2)
}

/** Whether at most `edits` inserted, deleted or replaced letters turn one text into the other. */
function isWithin(edits: number, one: string, other: string): boolean {
  const without = (n: number, m: number) => isWithin(edits - 1, one.slice(n), other.slice(m))
  if (one === other || edits < 0) return one === other
  if (one.at(0) === other.at(0)) return isWithin(edits, one.slice(1), other.slice(1))
  return edits >= 1 && (without(1, 1) || without(1, 0) || without(0, 1))
}

/** Functions that check each option of a type and apply its default. Does not compile if an option is missing. */
export type Readers<Options extends object> = {
  readonly [Name in keyof Options]-?: (name: string, given: unknown) => Options[Name]
}

/** Reads an option that is checked later, together with others. */
export function asGiven(_: string, given: unknown): never {
  return given as never
}

/** Reads an option without a default. */
export function ifGiven<Value>(check: (name: string, given: unknown) => Value) {
  return (name: string, given: unknown) => (given === undefined ? undefined : check(name, given))
}

/**
 * Checks the own members of options and applies their defaults, so that members of `Object.prototype` do not count as options.
 *
 * @param prefix Written before the names of options in messages, as in `retry.maxAttempts`.
 * @returns A frozen object that inherits no option.
 * @throws {TypeError | RangeError} Naming the option. {TypeError} If the options are not a plain object, or have an unknown member, such as a
 * misspelled one.
 */
export function readOptions<Table extends Readers<Record<string, unknown>>>(
  what: string,
  given: object,
  table: Table,
  prefix = `${what}.`,
): { readonly [Name in keyof Table]: ReturnType<Table[Name]> } {
  checkObject(what, given)
  const own = Object.assign(Object.create(null) as Record<string, unknown>, given)
  const names = Object.keys(table)
  const unknown = Object.keys(own).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new TypeError(`${what}: there is no '${unknown}', ${adviceOn(unknown, names)}`)
  // An option that comes from a class would be ignored silently.
  const inherited = names.find((name) => name in given && !(name in own) && !(name in Object.prototype))
  if (inherited !== undefined) throw new TypeError(`${what} must be a plain object: ${inherited} comes from a class`)
  return Object.freeze(
    Object.fromEntries(names.map((name) => [name, table[name]?.(prefix + name, own[name])])),
  ) as never
}

/** @returns An option of one call; undefined if the object has no own member of this name. */
export function ownOption<Options extends object, Name extends keyof Options>(
  given: Options | undefined,
  name: Name,
): Options[Name] | undefined {
  return given !== undefined && Object.hasOwn(given, name) ? given[name] : undefined
}

/** @returns The value. @throws {TypeError} Naming the option, unless the value is one of `choices`. */
export function checkChoice<Choice>(name: string, value: unknown, choices: readonly Choice[]): Choice {
  if (!choices.includes(value as Choice)) throw wrong(name, `one of ${choices.map(shown).join(', ')}`, shown(value))
  return value as Choice
}

/** @throws {TypeError} Naming the option, unless the value is true or false. */
export function checkFlag(name: string, value: unknown): asserts value is boolean {
  if (typeof value !== 'boolean') throw wrong(name, 'true or false', shown(value))
}

/** @returns The flag. @throws {TypeError} As `checkFlag`. */
export function checkedFlag(name: string, value: unknown = false): boolean {
  checkFlag(name, value)
  return value
}

/** @throws {TypeError} Naming the option, not its value: a user may pass a secret instead of a function that returns it. */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw wrong(name, 'a function', kindOf(value))
}

/** @returns The text. @throws {TypeError} Naming the option, not its value, which may be a secret. */
export function checkedText(name: string, value: unknown): string {
  if (typeof value !== 'string') throw wrong(name, 'a string', kindOf(value))
  if (value === '') throw new TypeError(`${name} must not be empty`)
  return value
}

/** @throws {TypeError} As `checkedText`. */
export function checkText(name: string, value: unknown): asserts value is string {
  checkedText(name, value)
}

/** What template strings produce for an object or a missing value. An ID may contain `null` in a JSON array, and an address may have the user `null`. */
const NO_NAME = /undefined|\[object \w+\]|(?<![\w,[])(null|NaN)(?![\w,\]@.])/

/** @returns The name of an account. @throws {TypeError} Naming the option. Two users whose names have the same mistake would share one login (F433). */
export function checkedName(name: string, value: unknown): string {
  const found = NO_NAME.exec(checkedText(name, value instanceof Promise ? '[object Promise]' : value))?.[0]
  if (!found) return value as string
  const meant = found.startsWith('[') ? 'await it, or use its ID' : 'a value is missing'
  throw new TypeError(`${name} contains '${found}': ${meant}`)
}

/**
 * @returns The number.
 * @throws {TypeError} If the value is not a number. {RangeError} If it is not between `least` and `most`. Both name the option and its value.
 */
export function checkNumber(name: string, value: unknown, least: number, most = Number.MAX_VALUE): number {
  if (typeof value !== 'number') throw wrong(name, 'a number', shown(value))
  if (value >= least && value <= most) return value
  const range = most === Number.MAX_VALUE ? `a finite number from ${least}` : `a number from ${least} to ${most}`
  throw new RangeError(wrong(name, range, String(value)).message)
}

/** @returns The duration in ms, limited to the longest timer (24.8 days). */
export function checkedDuration(name: string, value: unknown, least = 0): number {
  return Math.min(checkNumber(name, value, least), LONGEST_TIMER_MS)
}

/** The type of a value, for messages about values that may be secrets. */
export function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value
}

/** A value as shown in messages, for values that are never secrets. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
