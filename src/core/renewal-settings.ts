import { Acts } from './acts.ts'
import { boundRecord } from './bound-record.ts'
import type { TokenError } from './errors.ts'
import { Events, type RenewalCause } from './events.ts'
import { randomHex } from './digest.ts'
import { type ManagerSettings, managerSettings, type TokenManagerOptions } from './manager-options.ts'
import { codeOf, type LoginCode, type LoginView } from './login-port.ts'
import { MemoryRecord } from './memory-record.ts'
import type { HeldToken } from './held-token.ts'
import { SuspicionWatch } from './suspicion.ts'
import { member } from './thrown.ts'
import { TokenClock } from './token-clock.ts'
import type { Exchange } from './token-source.ts'
import type { NewTokens, StoredTokens, TokenRecord } from './token-store.ts'
import { Work } from './work.ts'

/** Turns what a source threw into a `TokenError`. */
export type ReadThrown = (thrown: unknown, exchange: Exchange, needsLogin?: boolean) => TokenError

/** What all renewals of one manager share. */
export interface RenewalSettings extends ManagerSettings {
  readonly rules: LoginCode<RenewalSettings>['rules']
  readonly needsLogin: boolean
  /** For how long the manager keeps a refresh token that an answer does not replace, ms. */
  readonly keepsMs: number
  readonly readThrown: ReadThrown
  readonly events: Events
  readonly tokenClock: TokenClock
  readonly record: TokenRecord
  /** Names this manager in the record. */
  readonly owner: string
  readonly suspicions: SuspicionWatch
  readonly login: LoginView
  readonly logins: LoginCode<RenewalSettings>
  readonly acts: Acts
  /** What `settled()` waits for. */
  readonly work: Work
  readonly memory: Memory
  /** Token calls, how many of them failed, and tokens that came from elsewhere (`adoptions`). */
  readonly counts: { obtains: number; refreshes: number; adoptions: number; failures: number }
}

/** What a manager holds and remembers. Its machine, its renewals and its logins share it. */
export interface Memory {
  current: HeldToken | undefined
  /** The next exchange must be an obtain, whatever the record holds: the failure of the last refresh requires it. */
  owesObtain: boolean
  /** This refresh token is never presented again, even if the record was not told that it is spent. */
  spent: string | undefined
  /** That of the credentials of this manager, as far as it is known. */
  mark?: string | undefined
  /** This refresh token met a 5xx. */
  met5xx?: string | undefined
  /** The highest version of the record that this manager has seen. */
  seenVersion: number
  /** From this instant on, monotonic ms, a token may be sent only after a look into the record: the login may have ended elsewhere. */
  noticeAt: number
  /**
   * Refresh tokens that the manager has forgotten, the last one first. An unreachable store may still hold one: it is not presented again. `spent` does
   * not remember it: each exchange with private tokens overwrites that.
   */
  forgotten: readonly string[]
  /** What renewals of this login bring after an act has outdated them: nobody uses these tokens. Each act that ends a login begins another list. */
  leftover: NewTokens[]
  /** What the renewal in flight waits for, for the error of a caller who gives up. Undefined: a pause. */
  awaited?: (() => string) | undefined
  /** Tokens of logins that have ended, whose revocation failed. The next logout tries again. */
  unrevoked: NewTokens[]
}

/** Nobody resets a manager more often than this while its store is unreachable, and has new tokens each time. */
const MOST_FORGOTTEN = 8

/** The store may be unreachable. Even so, the manager must not present its refresh token of now again, also after tokens of its own. */
export function giveUp(memory: Memory): void {
  const { refreshToken } = memory.current?.stored ?? {}
  if (refreshToken !== undefined) memory.forgotten = [refreshToken, ...memory.forgotten].slice(0, MOST_FORGOTTEN)
}

/** What one renewal starts from, and how its machine can be reached while it runs. */
export interface RenewalStart {
  /** `forced`: it runs in spite of a cool-down that is not firm, and takes no tokens of another owner. */
  readonly because: RenewalCause
  /** Whether its token calls keep the process alive. */
  readonly holdsProcess: boolean
  /** Renewals in a row that gave up before this one. */
  readonly failuresBefore: number
  /** Whether a caller waits for the new token. */
  readonly isAwaited: () => boolean
  /** The first call has failed, and its repeat comes after a pause. */
  readonly onRepeat: () => void
  /** A pause that the service asked for begins. */
  readonly onPause: (pauseMs: number, error: TokenError) => void
}

export interface Renewed {
  readonly tokens: StoredTokens
  readonly by: Exchange | 'adopted'
  readonly attempts: number
}

/** @throws {TypeError | RangeError} naming the option and its value. */
export function renewalSettings(
  options: TokenManagerOptions,
  readThrown: ReadThrown,
  plain: LoginCode<RenewalSettings>,
): RenewalSettings {
  const settings = managerSettings(options)
  const code: LoginCode<RenewalSettings> = settings.layer ? codeOf(settings.layer) : plain
  const { clock, onSuspicious } = settings
  const events = new Events(clock)
  return {
    ...settings,
    rules: code.rules,
    needsLogin: code.needsLogin,
    keepsMs: Math.max(settings.graceMs, code.keepsMs),
    readThrown,
    record: recordOf(settings, events),
    owner: randomHex(),
    tokenClock: new TokenClock(clock, (byMs) => reportJump(events, byMs)),
    events,
    login: code.view(events, settings.store === undefined),
    logins: code,
    acts: new Acts(),
    work: new Work(),
    suspicions: new SuspicionWatch(clock, events, onSuspicious),
    memory: newMemory(),
    counts: { obtains: 0, refreshes: 0, adoptions: 0, failures: 0 },
  }
}

function newMemory(): Memory {
  return {
    current: undefined,
    seenVersion: 0,
    noticeAt: Infinity,
    owesObtain: false,
    spent: undefined,
    forgotten: [],
    leftover: [],
    unrevoked: [],
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
