/** What is known of a login: what the record says of it, and who has it. */
export interface Identity {
  /** Made by whoever began the login. */
  readonly loginId?: string | undefined
  /** The number of the login in the record. 0: none. */
  readonly login?: number | undefined
  /** The name that was given here. A fingerprint takes its time. */
  readonly name?: string | undefined
  /** The fingerprint of the person. */
  readonly subject?: string | undefined
}

export type Sameness = 'same' | 'other' | 'unknown'

/**
 * Whether two identities are those of one login, or of one person. The first fact that both have decides: an id that is the same, the number, the name, the
 * fingerprint. Two ids may be those of one login: each `adopt` of it makes one.
 */
export function compare(one: Identity, other: Identity): Sameness {
  if (one.loginId !== undefined && one.loginId === other.loginId) return 'same'
  for (const fact of ['login', 'name', 'subject'] as const)
    if (one[fact] !== undefined && other[fact] !== undefined) return one[fact] === other[fact] ? 'same' : 'other'
  return 'unknown'
}

/**
 * Whether the login goes on that the manager has, by the way in which tokens arrive, and by what is known of whose they are. Unknown is never "the same" for
 * the requests of a login that an act replaced, and never "another" for a revocation.
 */
export const CONTINUES = {
  /** By `adopt()`: only the name is known at once. */
  adopted: { same: true, other: false, unknown: false },
  /** By a token call of a session, and of a session whose end everybody has heard: then whoever comes may be anybody. */
  obtained: { same: true, other: false, unknown: true },
  obtainedAfterEnd: { same: true, other: false, unknown: false },
  /** In the record. As long as that has not told the number of this login, its person decides. */
  found: { same: true, other: false, unknown: true },
  foundUnreported: { same: true, other: false, unknown: false },
  /** Of the tokens that an `adopt()` replaced: they are revoked only if they are known to be those of somebody else. */
  replaced: { same: true, other: false, unknown: true },
} as const satisfies Readonly<Record<string, Readonly<Record<Sameness, boolean>>>>
