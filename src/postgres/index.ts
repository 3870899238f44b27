/**
 * A store that processes share through PostgreSQL.
 *
 * @module axios-evergreen/postgres
 */
export { postgresStore, type PostgresStoreOptions } from './postgres-store.ts'
export type { PostgresListener } from './listener.ts'
export type { PostgresClient } from './postgres-register.ts'
export { createTableStatement } from './table.ts'
