/** Processor time of `act`, µs: what others do on the machine meanwhile does not count. */
export async function cpuTime(act) {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
