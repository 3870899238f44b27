import type { ManagerInternals } from '../core/token-manager.ts'

/** The manager's own symbol. Not imported, because the import would add the manager to this entry. */
const INTERNALS = Symbol.for('axios-evergreen.TokenManager')

/** @returns undefined for a hand-made manager, which has events and a status only. */
export function internalsOf(tokens: object): ManagerInternals | undefined {
  return (tokens as { [INTERNALS]?: ManagerInternals })[INTERNALS]
}
