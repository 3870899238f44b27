/**
 * A shared store on any database that can replace a text if it is still the one that was read.
 *
 * @module axios-evergreen/store
 */
export { sharedStore, type SharedStoreOptions } from './shared-store.ts'
export type { EncryptionKey } from './sealed-box.ts'
export type { RegisterReading, TokenRegister } from './token-register.ts'
