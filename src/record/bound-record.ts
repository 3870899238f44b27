import type { TokenRecord } from '../core/token-store.ts'

/**
 * Opens a record whose key may not be known yet, because it includes what the tokens are bound to (`TokenSource.boundTo`). Owners with different keys
 * have different records, so none of them uses or presents another's tokens.
 */
export function boundRecord(key: string | Promise<string>, open: (key: string) => TokenRecord): TokenRecord {
  if (typeof key === 'string') return open(key)
  const opened = key.then(open)
  /** Never rejects. Each step rejects instead. */
  const known = opened.catch(() => undefined)
  let current: TokenRecord | undefined
  void known.then((record) => (current = record))
  return {
    acquire: async (...given) => (await opened).acquire(...given),
    acquireForLogout: async (...given) => (await opened).acquireForLogout(...given),
    accept: async (...given) => (await opened).accept(...given),
    release: async (...given) => (await opened).release(...given),
    adopt: async (...given) => (await opened).adopt(...given),
    clear: async (...given) => (await opened).clear(...given),
    check: async (...given) => (await opened).check?.(...given),
    close: () => void known.then((record) => record?.close?.()),
    isWatched: () => current?.isWatched?.() === true,
    watch(onChange) {
      const watched = known.then((record) => record?.watch?.(onChange))
      return () => void watched.then((stop) => stop?.())
    },
  }
}
