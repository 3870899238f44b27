import type { TokenRecord } from './token-store.ts'

/**
 * A record whose key is known only later, because it names what the tokens are bound to. Each owner of another key has another record: it neither
 * uses nor presents tokens that are not its own.
 */
export function boundRecord(boundTo: Promise<string>, open: (boundTo: string) => TokenRecord): TokenRecord {
  const opened = boundTo.then(open)
  /** Never rejects: each step does. */
  const known = opened.catch(() => undefined)
  return {
    claim: async (...given) => (await opened).claim(...given),
    claimToEnd: async (...given) => (await opened).claimToEnd(...given),
    accept: async (...given) => (await opened).accept(...given),
    release: async (...given) => (await opened).release(...given),
    adopt: async (...given) => (await opened).adopt(...given),
    clear: async (...given) => (await opened).clear(...given),
    look: async (...given) => (await opened).look?.(...given),
    close: () => void known.then((record) => record?.close?.()),
    watch(onChange) {
      const watched = known.then((record) => record?.watch?.(onChange))
      return () => void watched.then((stop) => stop?.())
    },
  }
}
