import { createRequire } from 'node:module'
import axios from 'axios'
import type { SqliteDatabase } from '../../../src/sqlite/index.ts'
import { valuesOf } from './attacker.ts'
import { type Keeper, KEEPERS, life, type Package } from './polluted-life.ts'

type Database = new (path: string) => SqliteDatabase

// Arguments: the address of the package; that of better-sqlite3, or ''; whole, or turns: each group with one keeper, at one moment; groups of names, as
// a+b,c+d: all names of a group are polluted at once, and one by one if the group makes a difference. Prints a line for each difference, and at last how many
// lives were compared.
const [address, sqlite, how, groups] = process.argv.slice(2) as [string, string, 'whole' | 'turns', string]
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
  readonly isPageless: boolean
}
/** With one of these on `Object.prototype`, these parts of Node fail. */
const NODE_READS = { port: ['signal', 'source'], loader: ['signal', 'source', 'value'] }
/** What is seen without the attacker. */
let livesOfGroups = 0
const usual = new Map<string, string[]>()

for (const [n, group] of groups.split(',').entries()) {
  const names = group.split('+')
  const turns = how === 'whole' ? MOMENTS : [MOMENTS[n % MOMENTS.length]!]
  const isPageless = names.some((name) => NODE_READS.port.includes(name))
  const isLoadable = !names.some((name) => NODE_READS.loader.includes(name))
  const moments = turns.filter((moment) => isLoadable || moment !== MOMENTS[0])
  const lives = keepers.map((keeper) => [true, false].map((isLogin): Kind => ({ keeper, isLogin, isPageless })))
  const kinds = how === 'whole' ? lives.flat() : lives[n % lives.length]!
  for (const kind of kinds)
    if (!usual.has(keyOf(kind)))
      usual.set(keyOf(kind), await life(given, { ...kind, axios, database: databaseOf(kind) }))
  const most = Math.max(...names.map((name) => valuesOf(name).length))
  for (let value = 0; value < most; value += 1)
    for (const moment of moments) {
      const differences = await compare(names, value, moment, kinds)
      const alone = []
      if (differences !== '' && names.length > 1)
        for (const name of names) alone.push(await compare([name], value, moment, kinds))
      process.stdout.write(alone.join('') || differences)
      livesOfGroups += kinds.length
    }
}
process.stdout.write(`${livesOfGroups} lives\n`)

/** @returns What was different with these names on `Object.prototype`, each with the value of this number, a line for each kind. */
async function compare(names: readonly string[], n: number, moment: Moment, kinds: readonly Kind[]): Promise<string> {
  const pollute = () => {
    for (const name of names) {
      const values = valuesOf(name)
      const value = values[n % values.length]
      Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
    }
  }
  const clean = () => {
    for (const name of names) Reflect.deleteProperty(Object.prototype, name)
  }
  let using = given
  if (moment === MOMENTS[0]) {
    pollute()
    using = await loaded().finally(clean)
  }
  let differences = ''
  for (const kind of kinds) {
    const database = databaseOf(kind)
    if (moment !== MOMENTS[2]) pollute()
    const isMade = moment === MOMENTS[2] ? { isMade: pollute } : {}
    const seen = await life(using, { ...kind, ...isMade, axios, database }).catch((error: unknown) => [
      String((error as Error).stack),
    ])
    clean()
    seen.unshift(...thrown.splice(0))
    const expected = usual.get(keyOf(kind))!
    const first = [...expected, 'the end'].findIndex((line, at) => line !== [...seen, 'the end'][at])
    if (first < 0) continue
    const [was, is] = [expected[first], seen[first]].map((line) => line?.slice(0, 300))
    differences += `${JSON.stringify([names, n, moment, kind, was, is])}\n`
  }
  return differences
}

function keyOf(kind: Kind): string {
  return JSON.stringify(kind)
}

function databaseOf({ keeper }: Kind): SqliteDatabase | undefined {
  return keeper === 'SQLite' && Sqlite ? new Sqlite(':memory:') : undefined
}
