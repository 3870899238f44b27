import { causesOf, errorCodeOf } from './causes.ts'
import type * as full from './network-failure.ts'

export type { NetworkFailure } from './network-failure.ts'

/** A page never learns why a connection failed. */
export const failureOfNetwork: typeof full.failureOfNetwork = (thrown) => ({
  code: 'ERR_TOKEN_SERVICE_UNAVAILABLE',
  outcome: 'unknown',
  errorCode: errorCodeOf(causesOf(thrown)),
})
