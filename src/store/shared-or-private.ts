import type { Clock } from '../core/clock.ts'
import { TokenError } from '../core/errors.ts'
import { aged, type NewTokens, type StoredTokens, type StoreReports, type TokenRecord } from '../core/token-store.ts'
import type { Changes } from './changes.ts'
import { ForeignRecord } from './record-text.ts'
import { RepeatingRecord } from './repeating-record.ts'
import type { SharedSettings } from './stored-state.ts'
import { Turns } from './turns.ts'

export interface StoreSettings extends SharedSettings {
  readonly onUnavailable: 'private' | 'fail'
  readonly reasonOf: (thrown: unknown) => string
  /** Whether this process has no store now that others could have. */
  readonly isAlone?: (() => boolean) | undefined
  /** Of a register that says whether it watches. */
  readonly changes?: Changes | undefined
}

/** The shared record, and while it cannot be used a private one. */
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

  /** Once, and not in open(): before the first claim nobody can listen. */
  function reportReadable(): void {
    if (isReadable) reports.anomaly('tokens-unencrypted', 'Tokens are stored readable: the store has no encryptionKeys')
    isReadable = false
  }

  /** The tokens serve here even if the store has not stored them: an outage fails no request while there is a token. */
  function served(stored: Promise<StoredTokens>, tokens: NewTokens, version: number): Promise<StoredTokens> {
    const sinceMs = shared.stopwatch()
    return stored.catch(() => ({ ...aged(tokens, sinceMs()), version }))
  }

  return {
    async acquire(...given) {
      reportReadable()
      try {
        const answer = await shared.acquire(...given)
        turns.end(shared.turnsMs)
        return answer
      } catch (thrown) {
        const error = unavailable(thrown)
        alone.isTold = !(thrown instanceof ForeignRecord)
        const needsLogin = given[3]?.needsLogin === true
        // A rolling deploy leaves foreign records. It stops nobody who can obtain.
        if (fails && (alone.isTold || needsLogin)) throw error
        // Nobody can obtain a login. The shared record alone may have it, unless this owner keeps its tokens until the record has them.
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
        return alone.acquireForLogout(given[0], given[1], given[2])
      }
    },
    accept(lease, tokens) {
      if (lease.isPrivate) return alone.accept(lease, tokens)
      return served(shared.accept(lease, tokens).catch(rejected), tokens, lease.version)
    },
    release(lease, ...told) {
      if (!lease.isPrivate) return shared.release(lease, ...told).catch(rejected)
      turns.failed()
      return alone.release(lease, ...told)
    },
    adopt(seenVersion, tokens, isLogin = false) {
      const stored = shared.adopt(seenVersion, tokens).catch(rejected)
      // The next request of this user may ask another manager, which knows the store alone.
      return fails || isLogin ? stored : served(stored, tokens, seenVersion)
    },
    clear: (...cleared) => shared.clear(...cleared).catch(rejected),
    close: () => unreported.close(),
    check: (...given) => shared.check(...given),
    watch: (onChange) => (changes ? shared.watchIn(changes, onChange) : settings.register.watch?.(() => onChange())),
    ...(changes && { isWatched: () => changes.areComplete }),
  }
}

/** Reports that the shared record cannot be used. @returns the error that says so */
function unavailableIn({ reasonOf }: StoreSettings, reports: StoreReports, thrown: unknown): TokenError {
  const isForeign = thrown instanceof ForeignRecord
  const message = isForeign
    ? `The shared token record cannot be used: ${thrown.message}`
    : `The shared token store is unavailable (${reasonOf(thrown)})`
  if (isForeign) reports.anomaly('stored-tokens-unusable', message)
  else reports.storeUnavailable(message)
  return new TokenError('ERR_STORE_UNAVAILABLE', message)
}
