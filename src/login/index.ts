/**
 * Login layers for sources whose tokens belong to a user.
 *
 * @module axios-evergreen/login
 */
export type { LoginEvents } from '../core/events.ts'
export type { LoginLayer } from '../core/login-layer.ts'
export type { LoginStatus } from '../core/status.ts'
export type { LoginManager } from '../core/token-manager.ts'
export type { LoginSource } from '../core/token-source.ts'
export { person } from './person.ts'
export { session } from './session.ts'
