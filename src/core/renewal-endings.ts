import type { TokenError } from './errors.ts'
import { coolDownOf } from './rests.ts'
import type { ReadThrown } from './renewal-settings.ts'
import type { CoolDown } from './token-store.ts'

/** The renewal was halted: its result reaches nobody. */
export class Halted extends Error {}

/** The call failed, and the renewal makes another one. */
export class TryAgain extends Error {
  readonly afterMs: number

  constructor(afterMs: number) {
    super()
    this.afterMs = afterMs
  }
}

/** Why the renewal gave up, and the rest that follows. */
export class GaveUp extends Error {
  readonly error: TokenError
  readonly coolDown: CoolDown

  constructor(error: TokenError, coolDown: CoolDown) {
    super()
    this.error = error
    this.coolDown = coolDown
  }
}

const UNFORESEEN_REST_MS = 1_000

/** Why a renewal that threw gave up. No plan covers failures such as those of the store. @param failures In a row, this one included. */
export function endingOf(thrown: unknown, readThrown: ReadThrown, failures: number): GaveUp {
  if (thrown instanceof GaveUp) return thrown
  const error = readThrown(thrown, 'obtain')
  return new GaveUp(error, coolDownOf(error, UNFORESEEN_REST_MS, failures))
}
