import type { LeaseTerms, Lease, Report } from './token-store.ts'

/** What an account knows of its stored refresh token. */
export interface Fate {
  /** The service refused the refresh token: nobody may present it again. */
  readonly retired: boolean
  /** When the refresh token may have been spent, although nobody has the answer. 0: at an unknown time. */
  readonly doubtAt?: number | undefined
  /** How often the refresh token was presented and met a 5xx. */
  readonly presentations: number
  /** Only of a login: refusals of the refresh token that say neither that it is dead nor that it is good. */
  readonly unclear?: Unclear | undefined
}

/** Refusals in a row that said the same. */
export interface Unclear {
  /** When the first of them came. */
  readonly at: number
  readonly says: string
  readonly times: number
}

/** The refresh token may have been spent at this time. The first doubt counts. */
export function doubted<Known extends Fate>(known: Known, at: number): Known {
  return { ...known, doubtAt: Math.min(at, known.doubtAt ?? at) }
}

/** What is known after an exchange that failed. @param lease The claim of that exchange. */
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

/** Whether the refresh token may be presented now, and what speaks against it. */
export function presentableIn(
  known: (Fate & { readonly refreshToken?: string | undefined }) | undefined,
  { graceMs = 0, inDoubt }: LeaseTerms = {},
  now: number,
): Pick<Lease, 'presentable' | 'isDoubted' | 'isLastResort' | 'isRestored' | 'unclear'> {
  const doubtAt = known?.doubtAt
  const unclear = known?.unclear
  const isGraced = doubtAt === undefined || Math.abs(now - doubtAt) < graceMs
  const inSpite = isGraced ? {} : inDoubt?.(doubtAt)
  return {
    presentable: known?.refreshToken !== undefined && !known.retired && inSpite !== undefined,
    isDoubted: doubtAt !== undefined && graceMs < Infinity,
    ...inSpite,
    ...(unclear && { unclear: { ...unclear, sinceMs: Math.abs(now - unclear.at) } }),
  }
}
