/**
 * For tests: a simulated token service, a clock that tests move, and checks for a store of your own.
 *
 * @module axios-evergreen/testing
 */
export { startTokenService } from './simulated-service.ts'
export type { SimulatedService } from './simulated-service.ts'
export type { SimulatedLogin } from './simulated-login.ts'
export type { SimulatedServiceOptions } from './service-options.ts'
export type { RequestKind, SimulatedFault } from './fault-queue.ts'
export { manualClock, type ManualClock } from './manual-clock.ts'
export { tokenRegisterChecks } from './register-checks.ts'
