import { describe } from '@jest/globals'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { nodeWithSqlite as find } from '../../scripts/lib/node-sqlite.mjs'
import type { SqliteDatabase } from '../../src/sqlite/index.ts'

type BetterSqlite = new (
  path: string,
  options?: { readonly?: boolean; timeout?: number },
) => SqliteDatabase & { close(): void }

/** better-sqlite3, if it was built for this Node. */
export const BetterSqlite = load()

function load(): BetterSqlite | undefined {
  // It has a separate folder, because it is compiled.
  const required = createRequire(join(__dirname, '../sqlite/package.json'))
  try {
    const found = required('better-sqlite3') as BetterSqlite
    new found(':memory:').close()
    return found
  } catch (error) {
    if (process.env.CI) throw error
    console.warn('\nSKIPPED: suites on better-sqlite3, which was not built for this Node (npm ci in test/sqlite).')
    return undefined
  }
}

export const describeSqlite = BetterSqlite ? describe : describe.skip

/** @returns A Node that has node:sqlite: this one, or Node 24 of the registry; undefined without either. */
export function nodeWithSqlite(): string | undefined {
  const node = find()
  if (!node) console.warn('\nSKIPPED: suites on node:sqlite: this Node has none, and npm could not get Node 24.')
  return node
}
