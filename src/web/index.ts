export { followPage } from './follow-page.ts'
export { webStore } from './web-store.ts'
export type { SharedStoreOptions } from '../store/shared-store.ts'
export type { EncryptionKey } from '../store/sealed-box.ts'
