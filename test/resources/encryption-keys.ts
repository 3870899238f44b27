import type { SharedStoreOptions } from '../../src/store/index.ts'

/** Records in a real store are sealed with it. */
export const ENCRYPTION_KEYS: SharedStoreOptions['encryptionKeys'] = [
  { id: 'key-1', key: Uint8Array.from({ length: 32 }, (_, at) => at) },
]
