import { TokenError } from '../core/errors.ts'
import { memoryStore } from '../record/memory-store.ts'
import type { OpenableStore, TokenStore } from '../core/token-store.ts'
import type { SharedStoreOptions } from '../store/shared-store.ts'
import { stepsOf } from './steps-of.ts'

/**
 * Keeps tokens in this tab only, and reports `lack` as the reason.
 *
 * @param isDenied Whether the browser has storage, but denies it.
 */
export function tabStore(
  lack: string,
  onUnavailable: SharedStoreOptions['onUnavailable'],
  isDenied?: 'denied',
): TokenStore {
  const memory = memoryStore() as OpenableStore
  const store: OpenableStore = {
    ...memory,
    kind: 'web',
    singleUser: true,
    open(key, clock, reports) {
      const record = memory.open(key, clock, reports)
      // Not reported in open(), because there are no listeners before the first step.
      const report = () => {
        const message = `This tab does not share its tokens: ${lack}`
        reports.storeUnavailable(message)
        if (isDenied) reports.anomaly('storage-denied', message)
        if (onUnavailable === 'fail') throw new TokenError('ERR_STORE_UNAVAILABLE', message)
      }
      return {
        ...stepsOf(record),
        async acquire(...given) {
          report()
          return record.acquire(...given)
        },
        async acquireForLogout(...given) {
          report()
          return record.acquireForLogout(...given)
        },
        async adopt(...given) {
          report()
          return record.adopt(...given)
        },
      }
    },
  }
  return Object.freeze(store)
}
