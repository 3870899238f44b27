/**
 * A store shared by the tabs and workers of an origin, renewal when a page becomes active, and a manager in a worker.
 *
 * @module axios-evergreen/web
 */
export { browserKey } from './browser-key.ts'
export { followPage } from './follow-page.ts'
export { exposeTokens } from './expose-tokens.ts'
export { connectTokens } from './connect-tokens.ts'
export { webStore } from './web-store.ts'
