import { type LeaseTerms, type Lease, NO_TERMS, type Report } from './lease.ts'
import type { Whole } from './whole.ts'

/** The state of a stored refresh token. */
export interface Fate {
  /** The service rejected the refresh token. It must not be presented again. */
  readonly retired: boolean
  /** When the refresh token may have been spent by an exchange whose response was lost. 0: at an unknown time. */
  readonly doubtAt?: number | undefined
  /** How many requests that presented the refresh token got a 5xx. */
  readonly presentations: number
  /** Logins only: rejections that left it unclear whether the refresh token is still valid. */
  readonly unclear?: Unclear | undefined
}

/** Consecutive rejections with the same text. */
export interface Unclear {
  /** The time of the first rejection. */
  readonly at: number
  readonly says: string
  readonly times: number
}

/** Notes that the refresh token may have been spent at this time. The earliest doubt counts. */
export function doubted<Known extends Fate>(known: Known, at: number): Known {
  return { ...known, doubtAt: Math.min(at, known.doubtAt ?? at) }
}

/** The state of the refresh token after a failed exchange. @param lease The lease of that exchange. */
export function fateAfter<Known extends Fate>(
  known: Known,
  lease: { readonly at: number; readonly settled: boolean },
  { fate, says }: Report,
  now: number,
): Known {
  const isCounted = fate === 'counted' && !lease.settled
  return {
    ...(fate === 'doubtful' ? doubted(known, lease.at) : known),
    presentations: known.presentations + (isCounted ? 1 : 0),
    retired: known.retired || fate === 'dead',
    ...(says !== undefined && { unclear: unclearAfter(known.unclear, says, now) }),
  }
}

function unclearAfter(before: Unclear | undefined, says: string, now: number): Unclear {
  return before?.says === says ? { ...before, times: before.times + 1 } : { at: now, says, times: 1 }
}

/** How to present a refresh token that is not in doubt. */
const NO_LIMIT: Whole<Pick<Lease, 'isLastResort' | 'isRestored'>> = { isLastResort: undefined, isRestored: undefined }

/** Whether the refresh token may be presented now, and the doubts about it. */
export function presentableIn(
  known: (Fate & { readonly refreshToken?: string | undefined }) | undefined,
  { graceMs = 0, inDoubt }: LeaseTerms = NO_TERMS,
  now: number,
): Whole<Pick<Lease, 'presentable' | 'isDoubted' | 'isLastResort' | 'isRestored' | 'unclear'>> {
  if (!known) return { presentable: false, isDoubted: false, unclear: undefined, ...NO_LIMIT }
  const { doubtAt, unclear } = known
  const isGraced = doubtAt === undefined || Math.abs(now - doubtAt) < graceMs
  const allowance = isGraced ? NO_LIMIT : inDoubt?.(doubtAt)
  return {
    presentable: known.refreshToken !== undefined && !known.retired && allowance !== undefined,
    isDoubted: doubtAt !== undefined && graceMs < Infinity,
    ...(allowance ?? NO_LIMIT),
    unclear: unclear && { ...unclear, sinceMs: Math.abs(now - unclear.at) },
  }
}
