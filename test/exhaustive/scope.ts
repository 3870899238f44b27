import type { Wish } from './owner.ts'

/**
 * lost: a message is lost, before or after it has acted, and its sender learns at once that the connection broke · late: it acts, or its
 * reply comes, at any later time or never · twice: it acts a second time, at any later time · crash, freeze: of an owner · throttled: the
 * service answers 429 · failed: it answers 503, having acted or not · flush, restore, step: of the register · outage: all messages of an owner to
 * the register are lost, until one is not.
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
  | 'flush'
  | 'restore'
  | 'step'

export interface Scope {
  readonly name: string
  /** What the callers of each owner wish. */
  readonly owners: readonly (readonly Wish[])[]
  /** How often each fault may happen in one run. */
  readonly faults: Partial<Readonly<Record<Fault, number>>>
  /** How many faults in all. */
  readonly most: number
  /** At the service an obtain ends the sessions of earlier ones. */
  readonly obtainEnds?: boolean
  /** The register tells its epoch. Default true. */
  readonly epochs?: boolean
  /** A flush takes no time at all. */
  readonly sameInstant?: boolean
  readonly onUnavailable?: 'private' | 'fail'
  /** Nobody can obtain: a person has to log in. */
  readonly grant?: 'login'
  /** For so long the service accepts a refresh token that was used, and says so. */
  readonly graceMs?: number
  /** False: what docs/protocol.md tells of owners without the store as a limit counts as a violation, too. */
  readonly hasLimits?: boolean
  /** How often time may pass while the service works. */
  readonly slow?: number
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
  flush: 'flush',
  restore: 'restore',
  back: 'step',
  ahead: 'step',
}

export const OF_THE_REGISTER: ReadonlySet<Fault> = new Set<Fault>(['flush', 'restore', 'step'])
