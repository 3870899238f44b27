/**
 * A panel that shows what a token manager does.
 *
 * @module axios-evergreen/web/inspector
 */
export { inspect } from './inspect.ts'
