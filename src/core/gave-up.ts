import type { TokenError } from './errors.ts'
import type { CoolDown } from './token-store.ts'

/** Why a renewal gave up, and the rest that follows. */
export class GaveUp extends Error {
  readonly error: TokenError
  readonly coolDown: CoolDown

  constructor(error: TokenError, coolDown: CoolDown) {
    super()
    this.error = error
    this.coolDown = coolDown
  }
}
