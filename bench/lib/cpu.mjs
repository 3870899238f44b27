/** @returns Processor time of `act`, µs. Other processes on the machine do not count. */
export async function cpuTime(act) {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return user + system
}
