import { TokenError } from '../core/errors.ts'
import { memoryStore } from '../core/memory-store.ts'
import type { OpenableStore, TokenStore } from '../core/token-store.ts'
import type { SharedStoreOptions } from '../store/shared-store.ts'

/** Keeps tokens in this tab only, and reports `lack` as the reason. */
export function tabStore(lack: string, onUnavailable: SharedStoreOptions['onUnavailable']): TokenStore {
  const memory = memoryStore() as OpenableStore
  const store: OpenableStore = {
    kind: 'web',
    open(key, clock, reports) {
      const record = memory.open(key, clock, reports)
      return {
        async claim(...claimed) {
          const message = `This tab does not share its tokens: ${lack}`
          // Not in open(): before the first claim nobody can listen.
          reports.unavailable(message)
          if (onUnavailable === 'fail') throw new TokenError('ERR_STORE_UNAVAILABLE', message)
          return record.claim(...claimed)
        },
        accept: (...given) => record.accept(...given),
        release: (...given) => record.release(...given),
        adopt: (...given) => record.adopt(...given),
        clear: (...given) => record.clear(...given),
      }
    },
  }
  return Object.freeze(store)
}
