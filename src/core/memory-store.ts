import { MemoryRecord } from './memory-record.ts'
import type { OpenableStore, TokenRecord, TokenStore } from './token-store.ts'

/**
 * Keeps tokens in the memory of this process. Managers with the same store and the same key share their tokens. The store keeps the tokens of
 * each key as long as it lives, so that a later manager finds them: use no store for accounts that come and go.
 *
 * @example
 * ```ts
 * import { createTokenManager, memoryStore } from 'axios-evergreen'
 *
 * const store = memoryStore()
 * const tokens = createTokenManager({ source, store })
 * const others = createTokenManager({ source, store }) // has the same token
 * ```
 */
export function memoryStore(): TokenStore {
  const records = new Map<string, TokenRecord>()
  const store: OpenableStore = {
    kind: 'memory',
    open(key, clock) {
      const record = records.get(key) ?? new MemoryRecord(clock)
      records.set(key, record)
      return record
    },
  }
  return Object.freeze(store)
}
