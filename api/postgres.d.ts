/** Opaque for now: made by `memoryStore` and `redisStore`. */
interface TokenStore {
    readonly kind: string;
}

import { SharedStoreOptions } from './store.js';
export { EncryptionKey } from './store.js';

/** A `pg` Pool, or anything that runs one statement in a transaction of its own. */
interface PostgresClient {
    query(text: string, values: unknown[]): Promise<{
        rows: readonly unknown[];
    }>;
}

interface PostgresStoreOptions extends SharedStoreOptions {
    /** A `pg` Pool that leads to the primary server, or anything that runs one statement in a transaction of its own. */
    pool: PostgresClient;
    /** Made by `createTableStatement`; `schema.table` will do. Default `evergreen_tokens`. */
    table?: string | undefined;
}
/**
 * Shares the tokens of each account among all processes that use the same table and the same `prefix`. PostgreSQL 12 or newer. One process
 * renews, the others adopt; a single-use refresh token is presented once, even if its holder dies.
 *
 * @example
 * const tokens = createTokenManager({ source, store: postgresStore({ pool: new Pool() }) })
 * @throws {TypeError | RangeError} naming the option.
 */
declare function postgresStore(options: PostgresStoreOptions): TokenStore;

/**
 * The statement that makes the table in which `postgresStore` shares tokens. Put it in your migrations; it may be run again.
 *
 * @example
 * await pool.query(createTableStatement('auth.evergreen_tokens'))
 * @param table Name of the table, or `schema.table`; the schema must exist. Capital letters count. Default `evergreen_tokens`.
 * @returns `CREATE TABLE IF NOT EXISTS …`. Whoever shares tokens needs SELECT, INSERT and UPDATE on that table. Rows whose
 *   `keep_until` has passed are not read any more: delete them whenever you like.
 * @throws {TypeError} when it is no such name.
 */
declare function createTableStatement(table?: string): string;

export { createTableStatement, postgresStore };
export type { PostgresClient, PostgresStoreOptions };
