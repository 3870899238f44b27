import type { Account } from '../core/account.ts'
import type { Act } from '../core/acts.ts'
import type { LeaseResult } from '../core/lease.ts'
import { areSame, type Identity, type NewTokens, NO_ENDING, type StoredTokens } from '../core/stored-tokens.ts'
import { pauseForOther, POLL_MS } from '../record/other-owners.ts'
import { Pauses } from '../core/pauses.ts'

/** The login that an act ends in its manager, as it was when the act was called. */
export interface EndedHere {
  readonly known: Identity
  /** The tokens that the manager held. */
  readonly held: StoredTokens | undefined
}

/** What a logout found in the record. */
export interface EndedLogin {
  /** The last tokens of the ended login. */
  readonly tokens: NewTokens | undefined
  /** The tokens of another login, which stays in the record. */
  readonly other: StoredTokens | undefined
  /** Why the record could not be cleared. */
  readonly thrown: unknown
}

/**
 * Clears the record under a lease, so that no other owner has an exchange in flight whose tokens would outlive the logout.
 *
 * @param ended Its `held` tokens are returned if the record cannot be read, or has no tokens of this login.
 */
export async function endInRecord(account: Account, ended: EndedHere, act: Act): Promise<EndedLogin> {
  const { held } = ended
  try {
    const lease = await acquireForLogout(account, ended, act)
    const other = await clearRecord(account, ended, act)
    return { tokens: (lease.kind === 'granted' ? lease.tokens : undefined) ?? held, other, thrown: undefined }
  } catch (thrown) {
    // Perhaps only the lease request failed. A later lease must not find these tokens.
    await clearRecord(account, ended, act).catch(() => undefined)
    return { tokens: held, other: undefined, thrown }
  }
}

/** Clears the record, unless it holds a login other than the manager's. @returns The tokens of that other login. */
export async function clearRecord(
  { settings: { record }, seenVersion }: Account,
  { held, known }: EndedHere,
  act: Act,
): Promise<StoredTokens | undefined> {
  const other = await record.clear(seenVersion, { ...known, act })
  // Another manager adopted the same tokens. They will be revoked, so that login ends as well.
  if (!other || !held || !areSame(held, other)) return other
  const seen = { ...act, seenVersion: other.version }
  return record.clear(other.version, { ...NO_ENDING, login: other.login, act: seen })
}

/** Acquires the lease. Waits while another owner has an exchange in flight, at most until that owner's lease expires. */
async function acquireForLogout(account: Account, { known }: EndedHere, act: Act): Promise<LeaseResult> {
  const { record, owner, exchangeTimeoutMs, clock } = account.settings
  const pauses = new Pauses({ clock, holdsProcess: true })
  for (;;) {
    const ends = { ...known, act, others: undefined }
    const lease = await record.acquireForLogout(owner, account.seenVersion, exchangeTimeoutMs, ends)
    if (lease.kind !== 'busy') return lease
    await pauseForOther(pauses, record, Math.min(lease.remainingMs, POLL_MS))
  }
}
