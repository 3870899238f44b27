import type { Act } from '../core/acts.ts'
import type { Clock } from '../core/clock.ts'
import { TokenError } from '../core/errors.ts'
import {
  type CheckResult,
  type Decide,
  isOfLogin,
  type Lease,
  type LeaseResult,
  type LeaseTerms,
  type ReleaseResult,
  type Report,
} from '../core/lease.ts'
import { type AdoptedTokens, aged, type NewTokens, type StoredTokens } from '../core/stored-tokens.ts'
import type { StoreReports, TokenRecord } from '../core/token-store.ts'
import type { Changes } from './changes.ts'
import { ForeignRecord } from './record-text.ts'
import { RepeatingRecord } from './repeating-record.ts'
import type { StoredStateSettings } from './stored-state.ts'
import { Turns } from './turns.ts'

export interface StoreSettings extends StoredStateSettings {
  readonly onUnavailable: 'private' | 'fail'
  readonly reasonOf: (thrown: unknown) => string
  /** Whether this process currently has no store that others could share. */
  readonly isAlone?: (() => boolean) | undefined
  /** For a register that reports whether it watches. */
  readonly changes?: Changes | undefined
}

/** The shared record, or a private one while the shared one is unavailable. */
export class SharedOrPrivate implements TokenRecord {
  readonly #settings: StoreSettings
  readonly #reports: StoreReports
  readonly #shared: RepeatingRecord
  readonly #turns: Turns
  readonly #fails: boolean
  readonly isWatched: (() => boolean) | undefined
  #isReadable: boolean

  constructor(settings: StoreSettings, key: string, clock: Clock, reports: StoreReports) {
    this.#settings = settings
    this.#reports = reports
    this.#shared = new RepeatingRecord(settings, key, clock, reports)
    this.#turns = new Turns(clock)
    this.#fails = settings.onUnavailable === 'fail'
    const { changes } = settings
    this.isWatched = changes && (() => changes.areComplete)
    this.#isReadable = !settings.keyRing.seals
  }

  async acquire(...given: Parameters<TokenRecord['acquire']>): Promise<LeaseResult> {
    this.#reportReadable()
    try {
      const result = await this.#shared.acquire(...given)
      this.#turns.end(this.#shared.turnsMs)
      return result
    } catch (thrown) {
      const error = this.#unavailable(thrown)
      const { alone } = this.#shared
      alone.reportsExchanges = !(thrown instanceof ForeignRecord)
      if (!this.#mayServeAlone(given[3]) || !this.#turns.hasCome(given[0])) throw error
      return alone.acquire(...given)
    }
  }

  #mayServeAlone(terms: LeaseTerms | undefined): boolean {
    const { alone } = this.#shared
    // During a rolling deploy, records may be foreign. They must not block a source that can obtain.
    if (this.#fails && (alone.reportsExchanges || isOfLogin(terms))) return false
    // The manager cannot obtain the tokens of a login. Only the shared record has them, unless this owner keeps them until the record has them.
    return !isOfLogin(terms) || this.#settings.isAlone?.() === true || alone.kept !== undefined
  }

  async acquireForLogout(...given: Parameters<TokenRecord['acquireForLogout']>): Promise<LeaseResult> {
    this.#reportReadable()
    try {
      return await this.#shared.acquireForLogout(...given)
    } catch (thrown) {
      const error = this.#unavailable(thrown)
      if (this.#fails) throw error
      return this.#shared.alone.acquireForLogout()
    }
  }

  accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens> {
    if (lease.isPrivate) return this.#shared.alone.accept(lease, tokens)
    return this.#served(this.#orError(this.#shared.accept(lease, tokens)), tokens, lease.version)
  }

  release(lease: Lease, report: Report | Decide): Promise<ReleaseResult> {
    if (!lease.isPrivate) return this.#orError(this.#shared.release(lease, report))
    this.#turns.failed()
    return this.#shared.alone.release(lease, report)
  }

  adopt(seenVersion: number, tokens: NewTokens, act: Act, mustStore = false): Promise<AdoptedTokens> {
    const stored = this.#orError(this.#shared.adopt(seenVersion, tokens, act))
    // A login must be stored: the next request of this user may use another manager, which has only the store.
    return this.#fails || mustStore ? stored : this.#served(stored, tokens, seenVersion)
  }

  clear(...cleared: Parameters<TokenRecord['clear']>): Promise<StoredTokens | undefined> {
    return this.#orError(this.#shared.clear(...cleared))
  }

  close(): void {
    this.#shared.unreported.close()
  }

  check(seenVersion: number, login?: number): Promise<CheckResult | undefined> {
    return this.#shared.check(seenVersion, login)
  }

  watch(onChange: () => void): (() => void) | undefined {
    const { changes, register } = this.#settings
    return changes ? this.#shared.watchIn(changes, onChange) : register.watch?.(() => onChange())
  }

  /** Reports once that records are not encrypted. Not in open(): there are no listeners before the first lease request. */
  #reportReadable(): void {
    if (this.#isReadable)
      this.#reports.anomaly('tokens-unencrypted', 'Tokens are stored unencrypted: the store has no encryptionKeys')
    this.#isReadable = false
  }

  /** Uses the tokens even if the store has not stored them: an outage fails no request while there is a token. */
  #served(stored: Promise<StoredTokens>, tokens: NewTokens, version: number): Promise<StoredTokens> {
    const sinceMs = this.#shared.stopwatch()
    return stored.catch(() => ({ ...aged(tokens, sinceMs()), version }))
  }

  #orError<Result>(step: Promise<Result>): Promise<Result> {
    return step.catch((thrown: unknown) => {
      throw this.#unavailable(thrown)
    })
  }

  #unavailable(thrown: unknown): TokenError {
    return unavailableIn(this.#settings, this.#reports, thrown)
  }
}

/** Reports that the shared record is unavailable. @returns the error that says so */
function unavailableIn({ reasonOf }: StoreSettings, reports: StoreReports, thrown: unknown): TokenError {
  const isForeign = thrown instanceof ForeignRecord
  const message = isForeign
    ? `The shared token record cannot be used: ${thrown.message}`
    : `The shared token store is unavailable (${reasonOf(thrown)})`
  if (isForeign) reports.anomaly('stored-tokens-unusable', message)
  else reports.storeUnavailable(message)
  return new TokenError('ERR_STORE_UNAVAILABLE', message)
}
