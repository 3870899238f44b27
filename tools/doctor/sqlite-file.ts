import { isBuiltin } from 'node:module'
import type { TokenStore } from '../../src/index.ts'
import { sqliteStore } from '../../src/sqlite/index.ts'
import { Misuse } from './misuse.ts'

/**
 * Opens a file of `sqliteStore()`.
 *
 * @param option The option that names the file, for messages.
 * @param otherwise What a user may do on an older Node, other than to update it.
 * @throws {Misuse | TypeError}
 */
export function storeOfFile(option: string, file: string, otherwise = ''): TokenStore {
  // The library would advise to pass a database, which a shell cannot do.
  if (!isBuiltin('node:sqlite'))
    throw new Misuse(`${option} needs node:sqlite, of Node 22.13 or newer: update Node${otherwise}`)
  return sqliteStore({ file })
}
