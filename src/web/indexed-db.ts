/** The parts of IndexedDB that are used here. */
export interface Entries {
  get(key: string): Request<unknown>
  put(value: unknown, key: string): unknown
  openCursor(): Request<Cursor | null>
}
interface Cursor {
  readonly value: unknown
  delete(): unknown
  continue(): void
}
interface Request<Result> {
  onsuccess: ((event: { readonly target: { readonly result: Result } }) => void) | null
}
interface OpenRequest extends Request<Database> {
  readonly result: Database
  readonly error: Error
  onerror: (() => void) | null
  onblocked: (() => void) | null
  onupgradeneeded: (() => void) | null
}
interface Database {
  createObjectStore(name: string): unknown
  transaction(store: string, mode: Mode, options: { durability: 'strict' }): Transaction
  close(): void
}
interface Transaction {
  readonly error: Error
  objectStore(name: string): Entries
  oncomplete: (() => void) | null
  onabort: (() => void) | null
}
type Mode = 'readonly' | 'readwrite'

const STORE = 'records'

export interface Databases {
  open(name: string, version: number): OpenRequest
}

/** Undefined in Node and jsdom. */
export function indexedDatabases(): Databases | undefined {
  try {
    return (globalThis as { indexedDB?: Databases }).indexedDB
  } catch (denied) {
    // Some browsers deny the storage of a site already here, others in `open`.
    const open = () => {
      throw denied
    }
    return { open }
  }
}

/**
 * Runs one transaction on a new connection. A connection that stays open would block the browser when the user clears the storage.
 *
 * @param steps Calls `resolveWith` during the transaction. `transact` resolves with that value when the transaction is complete.
 */
export async function transact<Result>(
  databases: Databases,
  name: string,
  mode: Mode,
  steps: (entries: Entries, resolveWith: (value: Result) => void) => void,
): Promise<Result> {
  const database = await opened(databases, name)
  try {
    return await new Promise<Result>((resolve, reject) => {
      // Not `relaxed`: a power failure could restore a refresh token that has been presented.
      const transaction = database.transaction(STORE, mode, { durability: 'strict' })
      let given: Result
      transaction.oncomplete = () => resolve(given)
      transaction.onabort = () => reject(transaction.error)
      steps(transaction.objectStore(STORE), (value) => (given = value))
    })
  } finally {
    database.close()
  }
}

function opened(databases: Databases, name: string): Promise<Database> {
  return new Promise((resolve, reject) => {
    // The version never changes: tabs with an older release of this package must be able to open the database.
    const request = databases.open(name, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE)
    request.onerror = () => reject(request.error)
    request.onsuccess = () => resolve(request.result)
  })
}
