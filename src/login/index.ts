/**
 * What sources of people's logins bring along.
 *
 * @module axios-evergreen/login
 */
export type { LoginLayer } from '../core/login-layer.ts'
export type { LoginManager } from '../core/token-manager.ts'
export { person } from './person.ts'
export { session } from './session.ts'
