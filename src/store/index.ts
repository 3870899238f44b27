/**
 * A shared store on any database with an atomic compare-and-set for text.
 *
 * @module axios-evergreen/store
 */
export { sharedStore, type SharedStoreOptions } from './shared-store.ts'
export type { EncryptionKey } from './sealed-box.ts'
export type { RegisterReading, TokenRegister } from './token-register.ts'
