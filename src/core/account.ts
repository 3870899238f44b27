import { Acts } from './acts.ts'
import type { TokenError } from './errors.ts'
import { Events } from './events.ts'
import { randomHex } from './digest.ts'
import { type ManagerSettings, managerSettings, type TokenManagerOptions } from './manager-options.ts'
import { LoginGenerations } from './login-generations.ts'
import { codeOf, type LoginCode, type LoginView } from './login-port.ts'
import { MemoryRecord } from './memory-record.ts'
import type { HeldToken } from './held-token.ts'
import type { Activity, Backoff, Running } from './status.ts'
import { SuspicionWatch } from './suspicion.ts'
import { member } from './thrown.ts'
import { TokenClock } from './token-clock.ts'
import type { Exchange } from './token-source.ts'
import type { NewTokens } from './stored-tokens.ts'
import type { TokenRecord } from './token-store.ts'
import { Work } from './work.ts'

/** Converts what a source threw into a `TokenError`. */
export type ReadThrown = (thrown: unknown, exchange: Exchange, needsLogin?: boolean) => TokenError

/** The options of a manager, and the parts created from them. Frozen: all state is in the `Account`. */
export interface Settings extends ManagerSettings {
  readonly rules: LoginCode<Account>['rules']
  /** For how long the manager keeps a refresh token that a response does not replace, ms. */
  readonly keepsMs: number
  readonly readThrown: ReadThrown
  readonly events: Events
  readonly tokenClock: TokenClock
  readonly record: TokenRecord
  /** The name of this manager in the record. */
  readonly owner: string
  readonly logins: LoginCode<Account>
}

/** How many discarded refresh tokens are remembered. An older one matters only if the store was unreachable all that time. */
const MOST_DISCARDED = 8

/** The state of one manager: its tokens, the facts about its refresh token, its cool-down, its login and its counts. */
export class Account implements Activity {
  readonly settings: Settings
  current: HeldToken | undefined
  renewal: (Running & { halt(why: 'outdated' | 'closed'): void; hurry(limit: number): void }) | undefined
  backoff: Backoff | undefined
  isClosed = false
  /** When the last successful renewal began, monotonic ms. */
  renewedAt = -Infinity
  /** When the last renewal after a rejection by the API began, monotonic ms. */
  forcedAt = -Infinity
  /** The next exchange must be an obtain, whatever the record holds: the failure of the last refresh requires it. */
  mustObtain = false
  /** A spent refresh token. It is never presented again, even if the record still holds it. */
  spent: string | undefined
  /** The digest of this manager's credentials, if known. */
  credentialsDigest: string | undefined
  /** A refresh token whose presentation ended in a 5xx. */
  met5xx: string | undefined
  /** The highest version of the record that this manager has seen. */
  seenVersion = 0
  /** From this instant, monotonic ms, a token may be sent only after a check of the record: the login may have ended elsewhere. */
  staleAt = Infinity
  /**
   * Discarded refresh tokens, the latest first. An unreachable store may still hold one, but it must not be presented again. `spent` is not enough: each
   * exchange with private tokens overwrites it.
   */
  discarded: readonly string[] = []
  /** Tokens of renewals that an act superseded. They are not used. Each act that ends a login starts a new list. */
  lateTokens: NewTokens[] = []
  /** What the renewal in flight waits for, for the error of a caller who times out. Undefined: a pause. */
  awaited: (() => string) | undefined
  /** Tokens of ended logins whose revocation failed. The next logout tries again. */
  unrevoked: NewTokens[] = []
  /** Token requests, how many of them failed, and token sets that came from elsewhere (`adoptions`). */
  readonly counts = { obtains: 0, refreshes: 0, adoptions: 0, failures: 0 }
  readonly login: LoginView | undefined
  readonly generations: LoginGenerations
  readonly acts: Acts
  /** What `settled()` waits for. */
  readonly work = new Work()
  readonly suspicions: SuspicionWatch

  constructor(settings: Settings) {
    const { clock, events, logins, onSuspicious, owner, store } = settings
    this.settings = settings
    this.acts = new Acts(owner, clock)
    this.login = logins.view?.(events, store === undefined)
    this.generations = this.login?.generations ?? new LoginGenerations()
    this.suspicions = new SuspicionWatch(clock, events, onSuspicious)
  }

  /** Forgets the tokens and the failures, and supersedes the renewal in flight. */
  forget(): void {
    this.renewal?.halt('outdated')
    this.renewal = this.backoff = this.current = undefined
    this.mustObtain = false
    this.renewedAt = this.forcedAt = -Infinity
    this.suspicions.forget()
  }

  /** Ensures that a refresh token is not presented again, even if the store is unreachable. */
  discard(refreshToken = this.current?.stored.refreshToken): void {
    if (refreshToken !== undefined) this.discarded = [refreshToken, ...this.discarded].slice(0, MOST_DISCARDED)
  }
}

/** @throws {TypeError | RangeError} naming the option and its value. */
export function settingsOf(options: TokenManagerOptions, readThrown: ReadThrown, plain: LoginCode<Account>): Settings {
  const settings = managerSettings(options)
  const logins: LoginCode<Account> = settings.layer ? codeOf(settings.layer) : plain
  const { clock, graceMs } = settings
  const { rules, keepsMs } = logins
  const events = new Events(clock)
  return Object.freeze({
    ...settings,
    rules,
    keepsMs: Math.max(graceMs, keepsMs),
    readThrown,
    events,
    tokenClock: new TokenClock(clock, (byMs) => reportJump(events, byMs)),
    record: recordOf(settings, events),
    owner: randomHex(),
    logins,
  })
}

function recordOf({ clock, source, store, storeKey }: ManagerSettings, events: Events): TokenRecord {
  if (!store) return new MemoryRecord(clock)
  const boundTo = member(source, 'boundTo') as typeof source.boundTo
  return store.open(boundTo ? boundTo.then((name) => `${storeKey} ${name}`) : storeKey, clock, events)
}

function reportJump(events: Events, byMs: number): void {
  const how = byMs > 0 ? 'ahead (sleep, or a step)' : 'back'
  events.anomaly('clock-jumped', `The wall clock jumped ${Math.abs(Math.round(byMs))} ms ${how}`)
}
