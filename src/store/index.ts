export { sharedStore, type SharedStoreOptions } from './shared-store.ts'
export type { EncryptionKey } from './sealed-box.ts'
export type { RegisterReading, TokenRegister } from './token-register.ts'
