import type { Clock } from '../core/clock.ts'
import { TokenError } from '../core/errors.ts'
import { aged, type NewTokens, type StoredTokens } from '../core/stored-tokens.ts'
import type { StoreReports, TokenRecord } from '../core/token-store.ts'
import type { Changes } from './changes.ts'
import { ForeignRecord } from './record-text.ts'
import { RepeatingRecord } from './repeating-record.ts'
import type { SharedSettings } from './stored-state.ts'
import { Turns } from './turns.ts'

export interface StoreSettings extends SharedSettings {
  readonly onUnavailable: 'private' | 'fail'
  readonly reasonOf: (thrown: unknown) => string
  /** Whether this process currently has no store that others could share. */
  readonly isAlone?: (() => boolean) | undefined
  /** For a register that reports whether it watches. */
  readonly changes?: Changes | undefined
}

/** The shared record, or a private one while the shared one is unavailable. */
export function sharedOrPrivate(
  settings: StoreSettings,
  key: string,
  clock: Clock,
  reports: StoreReports,
): TokenRecord {
  const shared = new RepeatingRecord(settings, key, clock, reports)
  const { alone, unreported } = shared
  const { changes } = settings
  const turns = new Turns(clock)
  const fails = settings.onUnavailable === 'fail'
  let isReadable = !settings.keyRing.seals
  const unavailable = (thrown: unknown) => unavailableIn(settings, reports, thrown)
  const rejected = (thrown: unknown): never => {
    throw unavailable(thrown)
  }

  /** Reports once that records are not encrypted. Not in open(): before the first lease request nothing can listen. */
  function reportReadable(): void {
    if (isReadable)
      reports.anomaly('tokens-unencrypted', 'Tokens are stored unencrypted: the store has no encryptionKeys')
    isReadable = false
  }

  /** Uses the tokens even if the store has not stored them: an outage fails no request while there is a token. */
  function served(stored: Promise<StoredTokens>, tokens: NewTokens, version: number): Promise<StoredTokens> {
    const sinceMs = shared.stopwatch()
    return stored.catch(() => ({ ...aged(tokens, sinceMs()), version }))
  }

  return {
    async acquire(...given) {
      reportReadable()
      try {
        const result = await shared.acquire(...given)
        turns.end(shared.turnsMs)
        return result
      } catch (thrown) {
        const error = unavailable(thrown)
        alone.reportsExchanges = !(thrown instanceof ForeignRecord)
        const needsLogin = given[3]?.needsLogin === true
        // A rolling deploy leaves foreign records. They block no source that can obtain.
        if (fails && (alone.reportsExchanges || needsLogin)) throw error
        // A login cannot be obtained. Only the shared record may have it, unless this owner keeps its tokens until the record has them.
        if (needsLogin && !settings.isAlone?.() && !alone.kept) throw error
        if (!turns.hasCome(given[0])) throw error
        return alone.acquire(...given)
      }
    },
    async acquireForLogout(...given) {
      reportReadable()
      try {
        return await shared.acquireForLogout(...given)
      } catch (thrown) {
        const error = unavailable(thrown)
        if (fails) throw error
        return alone.acquireForLogout()
      }
    },
    accept(lease, tokens) {
      if (lease.isPrivate) return alone.accept(lease, tokens)
      return served(shared.accept(lease, tokens).catch(rejected), tokens, lease.version)
    },
    release(lease, ...report) {
      if (!lease.isPrivate) return shared.release(lease, ...report).catch(rejected)
      turns.failed()
      return alone.release(lease, ...report)
    },
    adopt(seenVersion, tokens, act, mustStore = false) {
      const stored = shared.adopt(seenVersion, tokens, act).catch(rejected)
      // A login must be stored: the next request of this user may use another manager, which has only the store.
      return fails || mustStore ? stored : served(stored, tokens, seenVersion)
    },
    clear: (...cleared) => shared.clear(...cleared).catch(rejected),
    close: () => unreported.close(),
    check: (...given) => shared.check(...given),
    watch: (onChange) => (changes ? shared.watchIn(changes, onChange) : settings.register.watch?.(() => onChange())),
    ...(changes && { isWatched: () => changes.areComplete }),
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
