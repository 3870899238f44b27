import type { Clock } from '../core/clock.ts'
import type { GrantedClaim, OpenableStore, StoreReports, TokenRecord } from '../core/token-store.ts'
import type { StorageAccess } from './storage-access.ts'

/** A storage that has worked may be out of order for a moment, and may hold a login: for this long the page waits for it, ms. */
const PATIENCE_MS = 5_000

/**
 * A store in a browser, which may deny this page its storage. Then the store is as good as a memory: the record says that there are no tokens, and
 * not that it cannot tell. Otherwise nobody could ever log in.
 */
export function deniableStore(store: OpenableStore, access: StorageAccess): OpenableStore {
  const open: OpenableStore['open'] = (key, clock, reports) => {
    const record = store.open(key, clock, reports)
    return deniableRecord(record, access, { clock, reports })
  }
  return Object.freeze({ ...store, open })
}

interface Owner {
  readonly clock: Clock
  readonly reports: StoreReports
}

/** @returns What tells, after each step, whether the storage is denied, and not only out of order. Reports it once. */
function judgeOf(access: StorageAccess, { clock, reports }: Owner): () => boolean {
  /** When the first of the steps in a row failed, monotonic ms. */
  let failedAt: number | undefined
  let isTold = false
  return () => {
    if (access.lack === undefined) {
      failedAt = undefined
      isTold = false
      return false
    }
    const now = clock.monotonicNow()
    failedAt ??= now
    const isDenied = !access.hasWorked || now - failedAt >= PATIENCE_MS
    if (isDenied && !isTold) reports.anomaly('storage-denied', `${DENIED}: ${access.lack}`)
    isTold ||= isDenied
    return isDenied
  }
}

function deniableRecord(record: TokenRecord, access: StorageAccess, owner: Owner): TokenRecord {
  const judge = judgeOf(access, owner)
  /** The claims as the record granted them, by what the owner got. */
  const granted = new WeakMap<GrantedClaim, GrantedClaim>()
  const original = (claim: GrantedClaim) => granted.get(claim) ?? claim
  return {
    async claim(...given) {
      const answer = await record.claim(...given).finally(judge)
      if (answer.kind !== 'granted' || !answer.isPrivate || !judge()) return answer
      const { isPrivate, ...own } = answer
      granted.set(own, answer)
      return own
    },
    accept: (claim, ...given) => record.accept(original(claim), ...given),
    release: (claim, ...given) => record.release(original(claim), ...given),
    adopt: (...given) => record.adopt(...given).finally(judge),
    async clear(...given) {
      try {
        return await record.clear(...given)
      } catch (error) {
        // If nothing was ever stored, there is nothing to forget.
        if (!judge() || access.hasWorked) throw error
        return undefined
      }
    },
    close: () => record.close?.(),
    look: (...given) => record.look?.(...given) ?? Promise.resolve(undefined),
    watch: (onChange) => record.watch?.(onChange),
  }
}

const DENIED = 'The browser denies this page its storage, so this tab keeps its tokens to itself'
