/** Processor time of `act`, µs: what others do on the machine meanwhile does not count. */
export async function timed(act) {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Bytes of heap that are in use. */
export function heap() {
  globalThis.gc()
  return process.memoryUsage().heapUsed
}
