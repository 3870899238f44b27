/**
 * The same promises for fetch, and for every client that takes a fetch. Loads without axios.
 *
 * @module axios-evergreen/fetch
 */
export { type BearerOptions, withBearer } from './with-bearer.ts'
