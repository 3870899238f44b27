import { credentialsDigestOf } from './exchange.ts'
import { failureOfOther } from './failure-of-other.ts'
import type { Pauses } from './pauses.ts'
import type { OtherOwners, TokenRecord, Turn } from './token-store.ts'

/** Owners that never check the record by themselves are not waited for any longer after a loss, ms. */
const LONGEST_NOTICE_MS = 30_000

/** How long an owner waits before it asks again whether another one has ended its exchange, ms. */
export const POLL_MS = 250

/** The private obtains of a fleet are spread over this time. */
const SPREAD_MS = 2_000

/** What stores bring to a renewal, because their records have other owners. */
export const OTHER_OWNERS: OtherOwners = {
  failure: failureOfOther,

  async takeTurn(turn) {
    const { account, pauses } = turn
    const { source, record, tokenClock, exchangeTimeoutMs, renewal } = account.settings
    account.credentialsDigest ??= await credentialsDigestOf(source)
    const maxStalenessMs = Math.min(renewal.maxStalenessMs, LONGEST_NOTICE_MS)
    // Longer than the exchange that the claim covers: only the claim of a stalled owner expires.
    let ttlMs = exchangeTimeoutMs + Math.min(5_000, exchangeTimeoutMs / 2)
    for (let polls = 0; ;) {
      const askedAt = tokenClock.now()
      account.awaited = () => 'the token store, for commandTimeoutMs of the store at most'
      const lease = await turn.ask(ttlMs, { maxStalenessMs, credentialsDigest: account.credentialsDigest })
      account.awaited = lease.kind === 'busy' ? () => 'the token call of another owner of this account' : undefined
      if (lease.kind === 'busy') polls += (await leaveToOther(turn, lease.remainingMs, polls)) ? 1 : 0
      else {
        // A process that stalled for that long has lost its claim: another owner may make the exchange by now. Only this owner has a private one.
        const isInTime = tokenClock.now() - askedAt < ttlMs
        if (lease.kind !== 'granted' || lease.isPrivate || isInTime || pauses.halted()) return lease
        // This claim presented nothing. If it expired unsettled, the refresh token would be in doubt.
        await record.release(lease, { fate: 'keep' }).catch(() => undefined)
        // Otherwise a store that always answers so late would never grant a claim in time.
        ttlMs *= 2
      }
    }
  },

  async spread(turn, chance) {
    const { clock, exchangeTimeoutMs } = turn.account.settings
    /** Whether a caller cannot wait for the longest random pause and for a whole exchange after it. */
    const isPressed = () => turn.limit - clock.monotonicNow() < SPREAD_MS + exchangeTimeoutMs
    if (!isPressed()) await turn.pauses.for(chance * SPREAD_MS, isPressed)
  },
}

/** Waits while another owner makes the exchange. @returns whether this was a poll */
async function leaveToOther(turn: Turn, busyMs: number, polls: number): Promise<boolean> {
  const { account, pauses } = turn
  const { record, random } = account.settings
  // While the manager's own token serves, the manager need not ask for the result.
  const usableMs = turn.start.isAwaited() ? 0 : (account.current?.usableMs ?? 0)
  const pollMs = Math.min(1_000, POLL_MS * 2 ** polls) * (1 - random() / 2)
  await pauseForOther(pauses, record, Math.min(busyMs, usableMs > 0 ? usableMs : pollMs), () => usableMs > 0)
  return usableMs <= 0
}

/** Waits while another owner makes an exchange: for `ms`, but no longer than until the store reports a change. @throws {Halted} as `Pauses.for`. */
export async function pauseForOther(
  pauses: Pick<Pauses, 'for' | 'end'>,
  record: TokenRecord,
  ms: number,
  canHurry?: () => boolean,
): Promise<void> {
  const unwatch = record.watch?.(() => pauses.end())
  await pauses.for(ms, canHurry).finally(unwatch)
}
