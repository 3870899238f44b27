/** A database of node:sqlite, better-sqlite3 or bun:sqlite. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): { get(...values: any[]): unknown; run(...values: any[]): unknown } // eslint-disable-line @typescript-eslint/no-explicit-any -- each library has its own types
}
