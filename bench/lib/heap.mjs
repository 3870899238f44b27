/** Bytes of heap that are in use. */
export function heap() {
  globalThis.gc()
  return process.memoryUsage().heapUsed
}
