/**
 * Bearer authentication for fetch, and for every client that takes a fetch. Loads without axios.
 *
 * @module axios-evergreen/fetch
 */
export type { BearerOptions } from '../client/bearer-options.ts'
export { withBearer } from './with-bearer.ts'
