import type { Identity } from '../core/stored-tokens.ts'
import { bare } from '../core/whole.ts'

export type Sameness = 'same' | 'other' | 'unknown'

const USER = ['name', 'subject'] as const

/**
 * Compares two logins. The first fact that both have decides. Different ids decide nothing, because each `adopt` creates a new id. A number 0 of the
 * second login decides nothing either: the record has not assigned one yet.
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
 * The ways in which a login arrives: the facts that are compared (`by`), and whether the login continues if the result is `unknown`. If the user of an adopted
 * login is unknown, requests of the previous login do not get the new tokens, and the tokens of that login are not revoked.
 */
export const ARRIVALS = {
  /** Passed to `adopt()`: only the name is known synchronously. */
  adopted: { by: ['name'], unknown: false },
  /** The record stores it. */
  stored: { by: ['subject'], unknown: false },
  /** Obtained by a session. `obtainedAfterEnd`: the end of the session was reported before, so the user may be a different one. */
  obtained: { by: ['subject'], unknown: true },
  obtainedAfterEnd: { by: ['subject'], unknown: false },
  /** Found in the record. `foundUnreported`: the record has not assigned a number to the owner's login yet, so the users are compared instead. */
  found: { by: ['loginId', 'login'], unknown: true },
  foundUnreported: { by: ['loginId', 'subject'], unknown: false },
  /** Replaces another login, whose tokens are revoked only if they are known to be another user's. */
  replaced: { by: USER, unknown: true },
} as const satisfies Record<string, { by: readonly (keyof Identity)[]; unknown: boolean }>

/** Whether a login continues with the one that arrives. If not, requests of the known login do not get the new tokens. */
export function continues(known: Identity, arrival: keyof typeof ARRIVALS, arrived: Identity): boolean {
  const { by, unknown } = ARRIVALS[arrival]
  const found = compare(known, arrived, by)
  return found === 'unknown' ? unknown : found === 'same'
}

/**
 * Whether the record holds a login other than the owner's. If the record was lost and a clock was set back, the number and version of a later login may be
 * lower than those that the owner has seen.
 */
export function isOther(known: Identity, stored: Identity): boolean {
  const { login, loginId } = bare(known)
  return !continues(known, login === undefined && loginId !== undefined ? 'foundUnreported' : 'found', stored)
}
