import { boundRecord } from './bound-record.ts'
import type { TokenError } from './errors.ts'
import { Events } from './events.ts'
import { randomHex } from './hex.ts'
import { type ManagerSettings, managerSettings, type TokenManagerOptions } from './manager-options.ts'
import { LoginWatch } from './login-watch.ts'
import { MemoryRecord } from './memory-store.ts'
import type { RenewalMemory } from './renewal-plan.ts'
import { SuspicionWatch } from './suspicion-watch.ts'
import { member } from './thrown.ts'
import { TokenClock } from './token-clock.ts'
import type { Exchange } from './token-source.ts'
import type { NewTokens, StoredTokens, TokenRecord } from './token-store.ts'

/** Turns what a source threw into a `TokenError`. */
export type ReadThrown = (thrown: unknown, exchange: Exchange, needsLogin?: boolean) => TokenError

/** What all renewals of one manager share. */
export interface RenewalSettings extends ManagerSettings {
  readonly readThrown: ReadThrown
  readonly events: Events
  readonly tokenClock: TokenClock
  readonly record: TokenRecord
  /** Names this manager in the record. */
  readonly owner: string
  readonly suspicions: SuspicionWatch
  readonly login: LoginWatch
  /** What one renewal leaves to the next. */
  readonly memory: RenewalMemory
  /** Token calls, how many of them failed, and tokens that came from elsewhere (`adoptions`). */
  readonly counts: { obtains: number; refreshes: number; adoptions: number; failures: number }
}

/** What one renewal starts from. */
export interface RenewalStart {
  /** The highest version this manager has seen. */
  readonly seenVersion: number
  /** Renewals in a row that gave up before this one. */
  readonly failuresBefore: number
  /** Whether the tokens of another owner will do. */
  readonly adoptable: (tokens: StoredTokens) => boolean
  /** How long requests may still use the old token without a wait, ms; 0 or less: they must wait. */
  readonly servedMs: () => number
  /** Whether the API has refused the old token. */
  readonly isRefused: () => boolean
  /** A caller wants a renewal in any case: it runs in spite of a rest that is not firm. */
  readonly isForced: boolean
  /** Whether its token calls keep the process alive. */
  readonly holdsProcess: boolean
  /** Whether a caller waits for the new token. */
  readonly isAwaited: () => boolean
  /** A pause that the service asked for begins. */
  readonly onHold: (pauseMs: number, error: TokenError) => void
  /** Tokens came after the renewal was outdated: nobody uses them. */
  readonly onLeftover: (tokens: NewTokens) => void
}

export interface Renewed {
  readonly tokens: StoredTokens
  readonly by: Exchange | 'adopted'
  readonly attempts: number
}

/** @throws {TypeError | RangeError} naming the option and its value. */
export function renewalSettings(options: TokenManagerOptions, readThrown: ReadThrown): RenewalSettings {
  const settings = managerSettings(options)
  const { clock, onSuspicious } = settings
  const events = new Events(clock)
  return {
    ...settings,
    readThrown,
    record: recordOf(settings, events),
    owner: randomHex(),
    tokenClock: new TokenClock(clock, (byMs) => reportJump(events, byMs)),
    events,
    login: new LoginWatch(events, settings.needsLogin, settings.store === undefined),
    suspicions: new SuspicionWatch(clock, events, onSuspicious),
    memory: { owesObtain: false, spent: undefined },
    counts: { obtains: 0, refreshes: 0, adoptions: 0, failures: 0 },
  }
}

function recordOf({ clock, source, store, storeKey }: ManagerSettings, events: Events): TokenRecord {
  if (!store) return new MemoryRecord(clock)
  const boundTo = member(source, 'boundTo') as typeof source.boundTo
  if (!boundTo) return store.open(storeKey, clock, events)
  return boundRecord(boundTo, (name) => store.open(`${storeKey} ${name}`, clock, events))
}

function reportJump(events: Events, byMs: number): void {
  const how = byMs > 0 ? 'ahead (sleep, or a step)' : 'back'
  events.anomaly('clock-jumped', `The wall clock jumped ${Math.abs(Math.round(byMs))} ms ${how}`)
}
