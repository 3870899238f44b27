import type { Account } from '../core/account.ts'
import { areSame, type LeaseResult, type KnownLogin, type NewTokens, type StoredTokens } from '../core/token-store.ts'
import { pauseForOther, POLL_MS } from '../core/other-owners.ts'
import { Pauses } from '../core/pauses.ts'

/** What an act ends in its manager: the login that it had at the call. */
export interface EndedHere extends KnownLogin {
  /** The tokens that the manager held. */
  readonly held: StoredTokens | undefined
}

/** What a logout found in the record. */
export interface EndedLogin {
  /** The last tokens of the login that has ended. */
  readonly tokens: NewTokens | undefined
  /** The tokens of another login, which stays. */
  readonly other?: StoredTokens | undefined
  /** Why the record could not be cleared. */
  readonly thrown?: unknown
}

/**
 * Clears the record under a claim: no other owner is then in the middle of an exchange, whose tokens would outlive the logout.
 *
 * @param ended What the manager held is revoked if the record cannot be read, or has another login.
 */
export async function endInRecord(account: Account, ended: EndedHere): Promise<EndedLogin> {
  const { held } = ended
  try {
    const lease = await acquireForLogout(account, ended)
    const other = await clearRecord(account, ended)
    return { tokens: (lease.kind === 'granted' ? lease.tokens : undefined) ?? held, other }
  } catch (thrown) {
    // A later claim must not find these tokens, should the store have lost only the first step.
    await clearRecord(account, ended).catch(() => undefined)
    return { tokens: held, thrown }
  }
}

/** Clears the record, unless it has another login than the manager had. @returns the tokens of that login */
export async function clearRecord(
  { settings: { record }, seenVersion }: Account,
  { held, login, loginId }: EndedHere,
): Promise<StoredTokens | undefined> {
  const other = await record.clear(seenVersion, { login, loginId })
  // Another manager has adopted the same tokens. They are revoked, so they end there, too.
  return other && held && areSame(held, other) ? record.clear(other.version, { login: other.login }) : other
}

/** Waits while another owner makes an exchange, until its claim expires at the latest. */
async function acquireForLogout(account: Account, { login, loginId }: EndedHere): Promise<LeaseResult> {
  const { record, owner, exchangeTimeoutMs, clock } = account.settings
  const pauses = new Pauses({ clock, holdsProcess: true })
  for (;;) {
    const lease = await record.acquireForLogout(owner, account.seenVersion, exchangeTimeoutMs, { login, loginId })
    if (lease.kind !== 'busy') return lease
    await pauseForOther(pauses, record, Math.min(lease.remainingMs, POLL_MS))
  }
}
