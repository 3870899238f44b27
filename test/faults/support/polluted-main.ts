import { createRequire } from 'node:module'
import axios from 'axios'
import type { SqliteDatabase } from '../../../src/sqlite/index.ts'
import { valuesOf } from './attacker.ts'
import { type Keeper, KEEPERS, life, type Package } from './polluted-life.ts'

type Database = new (path: string) => SqliteDatabase

// Arguments: the address of the package; that of better-sqlite3, or ''; whole, or turns: each name with one keeper, at one moment; names. Prints what was
// different, a line each.
const [address, sqlite, how, names] = process.argv.slice(2) as [string, string, 'whole' | 'turns', string]
const Sqlite = sqlite === '' ? undefined : (createRequire(import.meta.url)(sqlite) as Database)

const thrown: string[] = []
process.on('uncaughtException', (error) => void thrown.push(String(error.stack)))

let loads = 0
const loaded = () => import(`${address}?${(loads += 1)}`) as Promise<Package>
const given = await loaded()

const keepers = KEEPERS.filter((keeper) => keeper !== 'SQLite' || Sqlite)
const MOMENTS = ['before the package is loaded', 'after it was loaded', 'after the managers were made'] as const
type Moment = (typeof MOMENTS)[number]

interface Kind {
  readonly keeper: Keeper
  readonly isLogin: boolean
  /** With a `source` on `Object.prototype`, Node's MessagePort and its loader of modules fail. */
  readonly isPageless: boolean
}
const livesOf = (name: string) =>
  keepers.map((keeper) => [true, false].map((isLogin): Kind => ({ keeper, isLogin, isPageless: name === 'source' })))
/** What is seen without the attacker. */
const usual = new Map<string, string[]>()

for (const [n, name] of names.split(',').entries()) {
  const turns = how === 'whole' ? MOMENTS : [MOMENTS[n % MOMENTS.length]!]
  const moments = turns.filter((moment) => name !== 'source' || moment !== MOMENTS[0])
  const lives = livesOf(name)
  const kinds = how === 'whole' ? lives.flat() : lives[n % lives.length]!
  for (const kind of kinds) if (!usual.has(keyOf(kind))) usual.set(keyOf(kind), await lived(given, kind))
  for (const value of valuesOf(name)) for (const moment of moments) await compare(name, value, moment, kinds)
}

async function compare(name: string, value: unknown, moment: Moment, kinds: readonly Kind[]): Promise<void> {
  const pollute = () =>
    void Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
  const clean = () => void Reflect.deleteProperty(Object.prototype, name)
  let using = given
  if (moment === MOMENTS[0]) {
    pollute()
    using = await loaded().finally(clean)
  }
  for (const kind of kinds) {
    if (moment !== MOMENTS[2]) pollute()
    const isMade = moment === MOMENTS[2] ? pollute : undefined
    const seen = await lived(using, kind, isMade).catch((error: unknown) => [String((error as Error).stack)])
    clean()
    seen.unshift(...thrown.splice(0))
    const expected = usual.get(keyOf(kind))!
    const first = [...expected, 'the end'].findIndex((line, at) => line !== [...seen, 'the end'][at])
    if (first < 0) continue
    const shown = JSON.stringify(value).slice(0, 20)
    process.stdout.write(`${JSON.stringify([name, shown, moment, kind, expected[first], seen[first]])}\n`)
  }
}

function keyOf(kind: Kind): string {
  return JSON.stringify(kind)
}

function lived(using: Package, kind: Kind, isMade?: () => void): Promise<string[]> {
  const database = kind.keeper === 'SQLite' && Sqlite ? new Sqlite(':memory:') : undefined
  return life(using, { ...kind, axios, database, ...(isMade && { isMade }) })
}
