import type { TokenRecord } from '../core/token-store.ts'

/** The steps of a record, for a wrapper that changes some of them. */
export function stepsOf(record: TokenRecord): TokenRecord {
  return {
    acquire: (...given) => record.acquire(...given),
    acquireForLogout: (...given) => record.acquireForLogout(...given),
    accept: (...given) => record.accept(...given),
    release: (...given) => record.release(...given),
    adopt: (...given) => record.adopt(...given),
    clear: (...given) => record.clear(...given),
    check: async (...given) => record.check?.(...given),
    watch: (onChange) => record.watch?.(onChange),
    close: () => record.close?.(),
  }
}
