import type { Act, Wish } from './owner.ts'

/**
 * - `lost`: a message is lost before or after it acts, and its sender learns at once that the connection broke.
 * - `outage`: all messages of an owner to the register are lost until one is not.
 * - `late`: a message acts, or its reply arrives, at any later time or never.
 * - `twice`: a message acts a second time, at any later time.
 * - `crash`, `freeze`, `reset`: of an owner.
 * - `throttled`, `failed`, `odd`: the service returns 429; or 503, with or without having acted; or 400 with an unknown error.
 * - `flush`, `restore`, `restart`, `step`: of the register. `restart` loses nothing, but the epoch is another one.
 * - `jump`: of the machine on which all owners and the register run: it sleeps for an hour, or its wall clock is set ahead.
 */
export type Fault =
  | 'lost'
  | 'outage'
  | 'late'
  | 'twice'
  | 'crash'
  | 'freeze'
  | 'reset'
  | 'throttled'
  | 'failed'
  | 'odd'
  | 'flush'
  | 'restore'
  | 'restart'
  | 'step'
  | 'jump'

export interface Scope {
  readonly name: string
  /** The wishes of each owner's callers. */
  readonly owners: readonly (readonly Wish[])[]
  /** What users do at each owner besides that, in this order, each at any time. */
  readonly acts?: readonly (readonly Act[])[]
  /** How often each fault may happen in one run. */
  readonly faults: Partial<Readonly<Record<Fault, number>>>
  /** The largest number of faults in one run. */
  readonly most: number
  /** An obtain ends the sessions of earlier obtains. */
  readonly obtainEnds?: boolean
  /** The register reports its epoch. Default true. */
  readonly epochs?: boolean
  /** A flush takes no time at all. */
  readonly sameInstant?: boolean
  readonly onUnavailable?: 'private' | 'fail'
  /** Only a user can obtain: `login` of the source is `person`. */
  readonly grant?: 'login'
  /** How long the service accepts a used refresh token, as the source declares. */
  readonly graceMs?: number
  /** False: the known limits of owners without the store (docs/evidence/protocol.md) count as violations, too. */
  readonly hasLimits?: boolean
  /** A replace that was sent before a restore may be executed after it (R9). */
  readonly replacesSurvive?: boolean
  /** How often time may pass while the service works. */
  readonly slow?: number
  /** How often time may pass while a message or a reply is in transit, without any timer. */
  readonly waits?: number
  /** Without the reduction (`futile-attempt.ts`). */
  readonly isPlain?: boolean
  /** What happens first in every run. */
  readonly begins?: readonly string[]
}

/** The fault behind each action. */
export const FAULTS: Partial<Record<string, Fault>> = {
  lost: 'lost',
  outage: 'outage',
  'outage-after': 'outage',
  'lost-after': 'lost',
  late: 'late',
  'late-reply': 'late',
  twice: 'twice',
  crash: 'crash',
  freeze: 'freeze',
  reset: 'reset',
  throttled: 'throttled',
  failed: 'failed',
  'failed-after': 'failed',
  odd: 'odd',
  flush: 'flush',
  restore: 'restore',
  restart: 'restart',
  back: 'step',
  ahead: 'step',
  jump: 'jump',
}

export const OF_THE_REGISTER: ReadonlySet<Fault> = new Set<Fault>(['flush', 'restore', 'restart', 'step', 'jump'])
