import type { Reading, RecordState } from './record-shape.ts'

/** What a record says of its owners. An empty one says nothing. */
type Counted = Partial<Pick<RecordState, 'owners' | 'pair'>>

/** One owner in so many counts itself, so a small fleet writes nothing. */
const SHARE = 32
/** Above this count fewer owners count themselves: each doubling of the count costs at most 64 writes. */
const MANY = 64 * SHARE
/** Below this count owners do not take turns. */
const FEWEST = 256
/** Without the record, owners make so many token calls: one a second. */
const TURN_MS = 1_000

/** How many owners one owner stands for that counts itself: a power of 2. */
function shareIn({ owners = 0 }: Counted): number {
  return owners < MANY ? SHARE : SHARE * 2 ** Math.floor(Math.log2(owners / MANY) + 1)
}

/** Whether an owner that adopts tokens counts itself. The instant of its claim is the draw. */
export function countsItself(state: Counted = {}, { now }: Reading): boolean {
  return Math.floor(now) % shareIn(state) === 21
}

export function withOwner(state: RecordState): RecordState {
  return { ...state, owners: (state.owners ?? 0) + shareIn(state) }
}

/** After a renewal all owners count again, and half of the count before still stands. So of n owners the record soon counts n to 2 n. */
export function ownersAfter({ owners }: RecordState): number | undefined {
  return owners === undefined || owners < 2 ? undefined : Math.floor(owners / 2)
}

/**
 * The time over which the owners of a fleet spread their token calls if the store is away, ms: one call a second, or all owners within half of the lifetime of a
 * token. 0: the fleet is small.
 */
export function turnsMs({ owners = 0, pair }: Counted = {}): number {
  return owners < FEWEST ? 0 : Math.min(owners * TURN_MS, (pair?.accessLifetimeMs ?? 0) / 2)
}
