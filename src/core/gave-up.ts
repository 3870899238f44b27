import type { TokenError } from './errors.ts'
import type { CoolDown } from './token-store.ts'

/** Why a renewal gave up, and how long nobody should try again. */
export class GaveUp extends Error {
  readonly error: TokenError
  readonly coolDownMs: number
  /** Renewals in a row that gave up, this one included. */
  readonly failures: number

  constructor(error: TokenError, coolDownMs: number, failures: number) {
    super()
    this.error = error
    this.coolDownMs = coolDownMs
    this.failures = failures
  }

  /** As other owners of the record are told. */
  get coolDown(): CoolDown {
    const { code, status, serviceCode } = this.error
    const details = { ...(status !== undefined && { status }), ...(serviceCode !== undefined && { serviceCode }) }
    return { kind: 'cool-down', ms: this.coolDownMs, failures: this.failures, code, ...details }
  }
}
