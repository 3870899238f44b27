import type { Reading, RecordState } from './record-shape.ts'

/** The members of a record that estimate its fleet. An empty record has no estimate. */
type Counted = Partial<Pick<RecordState, 'owners' | 'tokens'>>

/** One owner in this many counts itself, so a small fleet writes almost nothing. */
const SHARE = 32
/** Above this count, a smaller share counts itself: each doubling of the count costs at most 64 writes. */
const MANY = 64 * SHARE
/** Below this count, owners do not take turns. */
const FEWEST = 256
/** Without the record, the fleet makes one token request per `TURN_MS`. */
const TURN_MS = 1_000

/** How many owners one counted owner represents: a power of 2. */
function shareIn({ owners = 0 }: Counted): number {
  return owners < MANY ? SHARE : SHARE * 2 ** Math.floor(Math.log2(owners / MANY) + 1)
}

/** Whether an owner that adopts tokens counts itself. The instant of its lease request serves as the random draw. */
export function countsItself(state: Counted = {}, { now }: Reading): boolean {
  return Math.floor(now) % shareIn(state) === 21
}

export function withOwner(state: RecordState): RecordState {
  return { ...state, owners: (state.owners ?? 0) + shareIn(state) }
}

/** The count after a renewal. All owners count again on top of half of the last count, so for n owners the record converges to between n and 2 n. */
export function ownersAfter({ owners }: RecordState): number | undefined {
  return owners === undefined || owners < 2 ? undefined : Math.floor(owners / 2)
}

/**
 * The time over which the owners of a fleet spread their token requests while the store is unavailable, ms: a second per owner, but at most half of the
 * lifetime of a token. 0: the fleet is small.
 */
export function turnsMs({ owners = 0, tokens }: Counted = {}): number {
  return owners < FEWEST ? 0 : Math.min(owners * TURN_MS, (tokens?.accessLifetimeMs ?? 0) / 2)
}
