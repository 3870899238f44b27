import type { OpenableStore, TokenRecord } from '../../src/core/token-store.ts'
import { memoryStore } from '../../src/index.ts'

/** A store in memory, except for the steps that `steps` replaces. */
export function storeWith(steps: (record: TokenRecord) => Partial<TokenRecord>): OpenableStore {
  const store = memoryStore() as OpenableStore
  return {
    ...store,
    open(...where) {
      const record = store.open(...where)
      return {
        acquire: (...args) => record.acquire(...args),
        acquireForLogout: (...args) => record.acquireForLogout(...args),
        accept: (...args) => record.accept(...args),
        release: (...args) => record.release(...args),
        adopt: (...args) => record.adopt(...args),
        clear: (...args) => record.clear(...args),
        check: async (...args) => record.check?.(...args),
        ...steps(record),
      }
    },
  }
}
