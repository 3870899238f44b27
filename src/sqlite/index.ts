/**
 * A store that all processes of one machine share through an SQLite file.
 *
 * @module axios-evergreen/sqlite
 */
export { sqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'
export type { SqliteDatabase } from './sqlite-database.ts'
