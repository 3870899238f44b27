/**
 * A store that the tabs and workers of an origin share, and a function that renews when a page comes back.
 *
 * @module axios-evergreen/web
 */
export { browserKey } from './browser-key.ts'
export { followPage } from './follow-page.ts'
export { webStore } from './web-store.ts'
export type { SharedStoreOptions } from '../store/shared-store.ts'
export type { EncryptionKey } from '../store/sealed-box.ts'
