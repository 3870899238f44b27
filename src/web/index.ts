/**
 * A store that the tabs and workers of an origin share, a function that renews when a page comes back, and a manager that lives in a worker.
 *
 * @module axios-evergreen/web
 */
export { browserKey } from './browser-key.ts'
export { followPage } from './follow-page.ts'
export { exposeTokens } from './expose-tokens.ts'
export { connectTokens } from './connect-tokens.ts'
export { webStore } from './web-store.ts'
