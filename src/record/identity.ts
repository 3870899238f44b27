import type { Identity } from '../core/stored-tokens.ts'
import { bare } from '../core/whole.ts'

export type Sameness = 'same' | 'other' | 'unknown'

const USER = ['name', 'subject'] as const

/**
 * Compares two logins. The first fact that both have decides. Different ids decide nothing, because each `adopt` of a login creates an id. Neither does the
 * second login if it has no number yet.
 *
 * @param facts The facts that count. Default: those of the user.
 */
export function compare(first: Identity, second: Identity, facts: readonly (keyof Identity)[] = USER): Sameness {
  const [one, other] = [bare(first), bare(second)]
  for (const fact of facts) {
    const [mine, found] = [one[fact], other[fact]]
    const isSame = mine === found
    if (mine !== undefined && found !== undefined && found !== 0 && (isSame || fact !== 'loginId'))
      return isSame ? 'same' : 'other'
  }
  return 'unknown'
}

/**
 * The ways in which a login arrives: the facts that count, and whether an unknown login continues. With an unknown user, requests of a replaced login never get the
 * new tokens, and tokens of a replaced login are never revoked.
 */
export const ARRIVALS = {
  /** Passed to `adopt()`: only the name is known synchronously. */
  adopted: { by: ['name'], unknown: false },
  /** The record stores it. */
  stored: { by: ['subject'], unknown: false },
  /** Obtained by a session; and by a session whose end has been reported, so its next user may be another one. */
  obtained: { by: ['subject'], unknown: true },
  obtainedAfterEnd: { by: ['subject'], unknown: false },
  /** Found in the record. Until the record has assigned a number to the owner's login, the user decides. */
  found: { by: ['loginId', 'login'], unknown: true },
  foundUnreported: { by: ['loginId', 'subject'], unknown: false },
  /** Takes the place of another one, which is revoked only if it is known to be another user's. */
  replaced: { by: USER, unknown: true },
} as const satisfies Record<string, { by: readonly (keyof Identity)[]; unknown: boolean }>

/** Whether a login continues with what arrives: requests of another login get nothing of it. */
export function continues(known: Identity, arrival: keyof typeof ARRIVALS, arrived: Identity): boolean {
  const { by, unknown } = ARRIVALS[arrival]
  const found = compare(known, arrived, by)
  return found === 'unknown' ? unknown : found === 'same'
}

/**
 * Whether the record has another login than its owner. If the record was lost and a clock was set back, the number and version of a later login may be lower
 * than those that the owner has seen.
 */
export function isOther(known: Identity, stored: Identity): boolean {
  const { login, loginId } = bare(known)
  return !continues(known, login === undefined && loginId !== undefined ? 'foundUnreported' : 'found', stored)
}
