import type { ManagerInternals } from '../core/token-manager.ts'

/** As the manager has it. Not imported: with it this entry would carry the manager. */
const INTERNALS = Symbol.for('axios-evergreen.TokenManager')

/** @returns undefined for a hand-made manager, which has events and a status only. */
export function internalsOf(tokens: object): ManagerInternals | undefined {
  return (tokens as { [INTERNALS]?: ManagerInternals })[INTERNALS]
}
