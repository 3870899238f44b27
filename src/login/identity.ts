import { bare } from '../core/whole.ts'

/** Identifies a login and its user, as far as both are known. */
export interface Identity {
  /** A random id, made by the manager that adopted the login. */
  readonly loginId?: string | undefined
  /** The number of the login in the record. 0: none. */
  readonly login?: number | undefined
  /** The user's name as passed to `adopt()`. It is known before its fingerprint. */
  readonly name?: string | undefined
  /** The fingerprint of the user. */
  readonly subject?: string | undefined
}

export type Sameness = 'same' | 'other' | 'unknown'

/**
 * Compares two identities. The first fact that both have decides: equal ids, the number, the name, the fingerprint. Different ids decide nothing, because
 * each `adopt` of a login creates an id.
 */
export function compare(first: Identity, second: Identity): Sameness {
  const [one, other] = [bare(first), bare(second)]
  if (one.loginId !== undefined && one.loginId === other.loginId) return 'same'
  for (const fact of ['login', 'name', 'subject'] as const)
    if (one[fact] !== undefined && other[fact] !== undefined) return one[fact] === other[fact] ? 'same' : 'other'
  return 'unknown'
}

/**
 * Whether the manager's login continues when tokens arrive, by their origin and by the result of `compare`. With an unknown user, requests of a replaced
 * login never get the new tokens, and tokens of a replaced login are never revoked.
 */
export const CONTINUES = {
  /** Passed to `adopt()`: only the name is known synchronously. */
  adopted: { same: true, other: false, unknown: false },
  /** Obtained by a session; and by a session whose end has been reported, so its next user may be another one. */
  obtained: { same: true, other: false, unknown: true },
  obtainedAfterEnd: { same: true, other: false, unknown: false },
  /** Read from the record. Until the record has assigned a number to the current login, the user decides. */
  found: { same: true, other: false, unknown: true },
  foundUnreported: { same: true, other: false, unknown: false },
  /** Replaced by an `adopt()`: revoked only if they are known to be another user's. */
  replaced: { same: true, other: false, unknown: true },
} as const satisfies Readonly<Record<string, Readonly<Record<Sameness, boolean>>>>
