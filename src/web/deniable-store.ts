import type { Lease } from '../core/lease.ts'
import type { OpenableStore, StoreReports, TokenRecord } from '../core/token-store.ts'
import { stepsOf } from './steps-of.ts'
import type { StorageAccess } from './storage-access.ts'

/**
 * Wraps a store for browsers, which may deny a page its storage. The store then behaves like memory: it reports that there are no tokens, instead of being
 * unavailable. Otherwise no user could ever log in.
 */
export function deniableStore(store: OpenableStore, access: StorageAccess): OpenableStore {
  const open: OpenableStore['open'] = (key, clock, reports) =>
    deniableRecord(store.open(key, clock, reports), access, reports)
  return Object.freeze({ ...store, open })
}

/** @returns Whether the browser denies the storage. Reports it once. */
function denialIn(access: StorageAccess, reports: StoreReports): () => boolean {
  let isReported = false
  return () => {
    const { denial } = access
    if (denial !== undefined && !isReported) reports.anomaly('storage-denied', `${DENIED}: ${denial}`)
    isReported = denial !== undefined
    return isReported
  }
}

function deniableRecord(record: TokenRecord, access: StorageAccess, reports: StoreReports): TokenRecord {
  const isDenied = denialIn(access, reports)
  /** The leases as the record granted them, by the lease that the owner received. */
  const granted = new WeakMap<Lease, Lease>()
  const original = (lease: Lease) => granted.get(lease) ?? lease
  return {
    ...stepsOf(record),
    async acquire(...given) {
      const result = await record.acquire(...given).finally(isDenied)
      if (result.kind !== 'granted' || !result.isPrivate || !isDenied()) return result
      const { isPrivate, ...own } = result
      granted.set(own, result)
      return own
    },
    acquireForLogout: (...given) => record.acquireForLogout(...given).finally(isDenied),
    accept: (lease, ...given) => record.accept(original(lease), ...given),
    release: (lease, ...given) => record.release(original(lease), ...given),
    async adopt(seenVersion, tokens, ...given) {
      try {
        return await record.adopt(seenVersion, tokens, ...given)
      } catch (error) {
        if (!isDenied()) throw error
        // Denied storage counts as no storage.
        return { ...tokens, version: seenVersion }
      }
    },
    async clear(...given) {
      try {
        return await record.clear(...given)
      } catch (error) {
        // If nothing was ever stored, there is nothing to clear.
        if (!isDenied()) throw error
        return undefined
      }
    },
  }
}

const DENIED = 'The browser denies this page its storage, so this tab keeps its tokens to itself'
