import { credentialsDigestOf } from '../core/exchange.ts'
import { errorIfPrivate, failureOfOther } from './failure-of-other.ts'
import { KEPT, type LeaseResult } from '../core/lease.ts'
import type { Pauses } from '../core/pauses.ts'
import { CallFailed } from '../core/plan.ts'
import type { OtherOwners, TokenRecord, Turn } from '../core/token-store.ts'

/** After a loss of the record, the longest wait for owners to write back what they have seen, ms. Some owners never check the record by themselves. */
const LONGEST_STALENESS_MS = 30_000

/** How long an owner first waits before it checks again whether another owner's exchange has ended, ms. */
export const POLL_MS = 250

/** The processes of a fleet spread their private obtains over this time, ms. */
const SPREAD_MS = 2_000

/** Coordinates a renewal with the other owners of its record. All stores use it. */
export const OTHER_OWNERS: OtherOwners = {
  errorIfPrivate,

  async takeTurn(turn) {
    const { account, pauses } = turn
    const { login } = account
    const waited = { polls: 0 }
    for (;;) {
      const lease = await acquired(turn, waited)
      if (lease.kind === 'granted') return lease
      if (lease.kind === 'cooling')
        throw new CallFailed(failureOfOther(lease.coolDown, login, account.backoff?.error), lease.coolDown)
      turn.seenVersion = lease.tokens.version
      // This renewal must not present the refresh token of another user.
      if (turn.mayAdopt(lease.tokens) || login?.isOther(lease.tokens)) return lease
      pauses.check()
      login?.skipped(lease.tokens)
    }
  },

  async spread(turn, chance) {
    const { clock, exchangeTimeoutMs } = turn.account.settings
    /** Whether a caller cannot wait for the longest random pause and a whole exchange after it. */
    const isUrgent = () => turn.limit - clock.monotonicNow() < SPREAD_MS + exchangeTimeoutMs
    if (!isUrgent()) await turn.pauses.for(chance * SPREAD_MS, isUrgent)
  },
}

/** Waits until no other owner makes an exchange. @param waited Counts the polls of the whole renewal, so that its pauses keep growing. */
async function acquired(turn: Turn, waited: { polls: number }): Promise<Exclude<LeaseResult, { kind: 'busy' }>> {
  const { account, pauses } = turn
  const { source, record, tokenClock, exchangeTimeoutMs, renewal } = account.settings
  account.credentialsDigest ??= await credentialsDigestOf(source)
  const maxStalenessMs = Math.min(renewal.maxStalenessMs, LONGEST_STALENESS_MS)
  // Longer than the exchange that the lease covers, so that only the lease of a stalled owner expires.
  let ttlMs = exchangeTimeoutMs + Math.min(5_000, exchangeTimeoutMs / 2)
  for (;;) {
    const askedAt = tokenClock.now()
    account.awaited = () => 'the token store (its option commandTimeoutMs)'
    const lease = await turn.tryAcquire(ttlMs, { maxStalenessMs, credentialsDigest: account.credentialsDigest })
    account.awaited = lease.kind === 'busy' ? () => 'the token request of another owner of this account' : undefined
    if (lease.kind === 'busy') waited.polls += (await waitForOther(turn, lease.remainingMs, waited.polls)) ? 1 : 0
    else {
      // If the process stalled for that long, the lease has expired, and another owner may make the exchange. A private lease has no other owner.
      const isInTime = tokenClock.now() - askedAt < ttlMs
      if (lease.kind !== 'granted' || lease.isPrivate || isInTime || pauses.halted()) return lease
      // This lease presented nothing. If it expired unreleased, the refresh token would be in doubt.
      await record.release(lease, KEPT).catch(() => undefined)
      // Otherwise a store that is always this slow would never grant a lease in time.
      ttlMs *= 2
    }
  }
}

/** Waits while another owner makes the exchange. @returns Whether this was a poll. */
async function waitForOther(turn: Turn, busyMs: number, polls: number): Promise<boolean> {
  const { account, pauses } = turn
  const { record, random } = account.settings
  // While the manager's own token is usable, it need not poll for the result.
  const usableMs = turn.start.isAwaited() ? 0 : (account.current?.usableMs ?? 0)
  const pollMs = Math.min(1_000, POLL_MS * 2 ** polls) * (1 - random() / 2)
  await pauseForOther(pauses, record, Math.min(busyMs, usableMs > 0 ? usableMs : pollMs), () => usableMs > 0)
  return usableMs <= 0
}

/** Waits for `ms`, or until the store reports a change. @throws {Halted} As `Pauses.for`. */
export async function pauseForOther(
  pauses: Pick<Pauses, 'for' | 'end'>,
  record: TokenRecord,
  ms: number,
  canHurry?: () => boolean,
): Promise<void> {
  const unwatch = record.watch?.(() => pauses.end())
  await pauses.for(ms, canHurry).finally(unwatch)
}
