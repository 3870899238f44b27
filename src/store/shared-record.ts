import type { Act, DatedAct } from '../core/acts.ts'
import type { Clock } from '../core/clock.ts'
import { fingerprintOf } from '../core/digest.ts'
import { hasJumped, TokenClock } from '../core/token-clock.ts'
import {
  isOfLogin,
  KEPT,
  type LeaseResult,
  type EndTerms,
  type Lease,
  NO_TERMS,
  type ReleaseResult,
} from '../core/lease.ts'
import {
  aged,
  type AdoptedTokens,
  type Ending,
  type NewTokens,
  NO_ENDING,
  type StoredTokens,
} from '../core/stored-tokens.ts'
import type { StoreReports, TokenRecord } from '../core/token-store.ts'
import { adopt, clear } from '../record/acts.ts'
import { countsItself, turnsMs, withOwner } from '../record/fleet.ts'
import { bare } from '../core/whole.ts'
import { unchanged } from '../record/record-shape.ts'
import { accept, acquire, acquireForLogout, check, overlap, release } from '../record/record-state.ts'
import { adoptAgain, clearAgain } from '../record/repeated-acts.ts'
import type { Changes } from './changes.ts'
import { type Step, StoredState, type StoredStateSettings, type TimedReading } from './stored-state.ts'

/** The last adoption, whether or not it was executed. */
interface Adopted {
  readonly loginId: string | undefined
  readonly accessToken: string
  /** The epoch of the first attempt to store these tokens, which may have been executed. */
  readonly epoch: string | undefined
}

/** Factor on `commandTimeoutMs` for a step that adopts or clears tokens, or during which no caller has a token. */
const PATIENCE = 4

/** The record of one account in a register: the rules of `src/record`, each as one atomic step. */
export class SharedRecord implements Omit<TokenRecord, 'adopt'> {
  readonly #distrustsClock: (ttlMs: number) => boolean
  /** For lifetimes: tokens age while this machine sleeps. */
  readonly #tokenClock: TokenClock
  readonly #stored: StoredState
  #adopted: Adopted | undefined
  /** Decided by the last lease request (`src/record/fleet.ts`). */
  #countsItself = false

  constructor(settings: StoredStateSettings, key: string, clock: Clock, reports: StoreReports) {
    this.#tokenClock = new TokenClock(clock)
    this.#distrustsClock = jumpsOf(clock)
    this.#stored = new StoredState(settings, key, clock, reports)
  }

  async acquire(
    ...[owner, seenVersion, ttlMs, terms = NO_TERMS]: Parameters<TokenRecord['acquire']>
  ): Promise<LeaseResult> {
    this.#stored.isOfLogin = isOfLogin(terms)
    const step: Step<LeaseResult> = (state, reading) => {
      const change = acquire(state, this.#request(owner, seenVersion, ttlMs, terms), reading)
      this.#countsItself = change.result.kind === 'newer' && countsItself(state, reading)
      return change
    }
    const result = await this.#acquired(terms.view?.(step) ?? step, seenVersion)
    if (this.#countsItself) this.#count()
    return result
  }

  /** The lease request does not wait for this write, and succeeds even if the store is read-only. */
  #count(): void {
    const step: Step<undefined> = (state) => ({ state: state && withOwner(state), result: undefined })
    this.#stored.change(step, { isOfLease: false }).catch(() => undefined)
  }

  /** See `Turns`. */
  get turnsMs(): number {
    return turnsMs(this.#stored.seen)
  }

  acquireForLogout(
    ...[owner, seenVersion, ttlMs, ends]: Parameters<TokenRecord['acquireForLogout']>
  ): Promise<LeaseResult> {
    const step: Step<LeaseResult> = (state, reading) =>
      acquireForLogout(state, this.#request(owner, seenVersion, ttlMs, ends), reading, datedIn(reading, ends.act))
    return this.#acquired(step, seenVersion, true)
  }

  /** Computes the request when the register has been read, because the clock may have jumped meanwhile. */
  #request<Terms extends EndTerms>(owner: string, seenVersion: number, ttlMs: number, terms: Terms) {
    const others = bare({ ...terms.others, distrustsClock: this.#distrustsClock(ttlMs) })
    return bare({ ...terms, owner, seenVersion, ttlMs, others })
  }

  async #acquired(step: Step<LeaseResult>, seenVersion: number, replacesAny = false): Promise<LeaseResult> {
    const sinceMs = this.stopwatch()
    // The grant came too late for this owner. Unless it is released, all others wait until it expires.
    const onLate = (result: LeaseResult) => {
      if (result.kind === 'granted') this.release(result, KEPT).catch(() => undefined)
    }
    // An owner without a token can wait longer: it serves no caller meanwhile.
    const patience = seenVersion === 0 ? PATIENCE : 1
    const result = await this.#stored.change(step, { patience, replacesAny, onLate })
    if (result.kind === 'busy' || result.kind === 'cooling' || !result.tokens) return result
    return { ...result, tokens: aged(result.tokens, sinceMs()) }
  }

  async accept(granted: Lease, tokens: NewTokens): Promise<StoredTokens> {
    const sinceMs = this.stopwatch()
    const fingerprinted = await withFingerprint(tokens)
    const step: Step<StoredTokens | undefined> = (state, reading) =>
      accept(state, granted, aged(fingerprinted, sinceMs()), reading)
    const stored = await this.#stored.change(granted.view?.(step) ?? step, { from: this.#stored.known })
    // After a `clear` the record may have no tokens. Then only this owner has them.
    return aged(stored ?? { ...tokens, version: granted.version }, sinceMs())
  }

  async release(...[granted, report]: Parameters<TokenRecord['release']>): Promise<ReleaseResult> {
    const sinceMs = this.stopwatch()
    const step: Step<ReleaseResult> = (state, reading) => release(state, granted, report, reading)
    const { newer, ...result } = await this.#stored.change(granted.view?.(step) ?? step, { from: this.#stored.known })
    return { ...result, newer: newer && aged(newer, sinceMs()) }
  }

  /**
   * @param isAgain Whether this repeats a step that got no response. Then a later login stays.
   */
  protected async adoptAs(act: Act, seenVersion: number, tokens: NewTokens, isAgain = false): Promise<AdoptedTokens> {
    const sentMs = this.stopwatch()
    const { loginId, accessToken } = tokens
    const isSame = isAgain && this.#adopted?.loginId === loginId && this.#adopted?.accessToken === accessToken
    const firstEpoch = isSame ? this.#adopted?.epoch : undefined
    const fingerprinted = await withFingerprint(tokens)
    const step: Step<AdoptedTokens | undefined> = (state, reading) => {
      const epoch = firstEpoch ?? reading.epoch
      const brought = aged(fingerprinted, sentMs())
      const change = (isAgain ? adoptAgain : adopt)(state, seenVersion, brought, reading, datedIn(reading, act), epoch)
      if (change.state) this.#adopted = { loginId, accessToken, epoch }
      return change
    }
    return (
      (await this.#stored.change(step, { patience: PATIENCE, replacesAny: true })) ?? {
        ...tokens,
        version: seenVersion,
      }
    )
  }

  clear(seenVersion: number, { act, ...ends }: Ending = NO_ENDING): Promise<StoredTokens | undefined> {
    const seen = { ...ends, seenVersion }
    return this.#cleared((state, reading) => clear(state, seen, reading, datedIn(reading, act)))
  }

  /** Repeats a `clear` that got no response. @param login The act of the login that ends, if it is unknown whether the store has that login. */
  protected clearAgain(seenVersion: number, { act, ...ends }: Ending & { act: Act }, login?: Act) {
    const seen = { ...ends, seenVersion }
    return this.#cleared((state, reading) =>
      clearAgain(state, seen, reading, datedIn(reading, login ?? act), login !== undefined),
    )
  }

  /** If a login ended before the record had it, its logout also ends the login that it would have replaced. */
  protected async endAgain(seenVersion: number, act: Act, loginId: string | undefined): Promise<undefined> {
    const seen = { ...NO_ENDING, seenVersion }
    await this.#cleared((state, reading) =>
      state?.loginId === loginId ? unchanged(undefined) : clearAgain(state, seen, reading, datedIn(reading, act), true),
    )
  }

  #cleared(step: Step<StoredTokens | undefined>) {
    return this.#stored.change(step, { patience: PATIENCE, replacesAny: true })
  }

  check(seenVersion: number, login?: number) {
    return this.#stored.change((state, reading) => check(state, { seenVersion, login, loginId: undefined }, reading), {
      isOfLease: false,
    })
  }

  /** Notes in the record that this owner has made an exchange without reaching the record. */
  overlap() {
    return this.#stored.change(overlap, { isOfLease: false })
  }

  /** @returns A function that stops watching. */
  watchIn(changes: Changes, onChange: () => void): () => void {
    let stop: (() => void) | undefined
    let isOver = false
    void this.#stored.key.then((key) => {
      if (!isOver) stop = changes.on(key, onChange)
    })
    return () => {
      isOver = true
      stop?.()
    }
  }

  /** @returns A function that returns the ms since this call, by which tokens have aged. */
  stopwatch(): () => number {
    const startedAt = this.#tokenClock.now()
    return () => this.#tokenClock.now() - startedAt
  }
}

/** Dates an act by a reading: the clock of the register was read at some moment between the request and the response. */
function datedIn(reading: TimedReading, act: Act): DatedAct
function datedIn(reading: TimedReading, act: Act | undefined): DatedAct | undefined
function datedIn({ now, leadMs, tookMs }: TimedReading, act: Act | undefined): DatedAct | undefined {
  return act && { ...act, at: act.at + leadMs, ms: tookMs, now }
}

async function withFingerprint(tokens: NewTokens): Promise<NewTokens> {
  const { refreshToken } = tokens
  return refreshToken === undefined ? tokens : { ...tokens, fingerprint: await fingerprintOf(refreshToken) }
}

/**
 * @returns A function that each lease request calls. It returns whether this owner's clock was set, or the machine has slept, within the last `ttlMs`. The
 * lease of another owner may then seem to have expired, although that owner still waits for its response.
 */
function jumpsOf(clock: Clock): (ttlMs: number) => boolean {
  /** Wall time minus monotonic time at the last lease request. */
  let lead = clock.wallNow() - clock.monotonicNow()
  /** Monotonic ms. */
  let distrustedUntil = -Infinity
  return (ttlMs) => {
    const now = clock.monotonicNow()
    const before = lead
    lead = clock.wallNow() - now
    if (hasJumped(lead - before)) distrustedUntil = now + ttlMs
    return now < distrustedUntil
  }
}
