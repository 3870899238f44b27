import type { TokenRecord } from './token-store.ts'

/**
 * A record whose key is known only later, because it names what the tokens are bound to. Each owner of another key has another record: it neither
 * uses nor presents tokens that are not its own.
 */
export function boundRecord(boundTo: Promise<string>, open: (boundTo: string) => TokenRecord): TokenRecord {
  const opened = boundTo.then(open)
  opened.catch(() => undefined) // each step rejects as well
  return {
    claim: async (...given) => (await opened).claim(...given),
    accept: async (...given) => (await opened).accept(...given),
    release: async (...given) => (await opened).release(...given),
    adopt: async (...given) => (await opened).adopt(...given),
    clear: async (...given) => (await opened).clear(...given),
    look: async (...given) => (await opened).look?.(...given),
    close() {
      opened.then(
        (record) => record.close?.(),
        () => undefined,
      )
    },
    watch(onChange) {
      let isOver = false
      let stop: (() => void) | undefined
      opened.then(
        (record) => {
          if (!isOver) stop = record.watch?.(onChange)
        },
        () => undefined,
      )
      return () => {
        isOver = true
        stop?.()
      }
    },
  }
}
