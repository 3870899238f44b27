/** A call that has not ended this long after the last call was sent counts as endless. */
const PATIENCE_MS = 10_000

/**
 * Sends `perSecond` requests a second through each of `worlds`, by the clock, however slow the responses are.
 *
 * @param worlds By name, each with `get`.
 * @returns By name: `latencies` in ms in the order of sending, `failed`, and `endless`, the calls that never ended.
 */
export async function load(worlds, { seconds, perSecond }) {
  const names = Object.keys(worlds)
  const taken = Object.fromEntries(names.map((name) => [name, { latencies: [], failed: 0, endless: 0 }]))
  const pending = []
  const send = async (name, at) => {
    const startedAt = performance.now()
    try {
      await worlds[name].get('/wallet')
    } catch {
      taken[name].failed += 1
    }
    taken[name].latencies[at] = performance.now() - startedAt
  }
  const beganAt = performance.now()
  for (let sent = 0; sent < seconds * perSecond; sent++) {
    while (performance.now() - beganAt < (sent / perSecond) * 1_000)
      await new Promise((resolve) => setTimeout(resolve, 1))
    // The worlds take turns to be first.
    for (let n = 0; n < names.length; n++) pending.push(send(names[(sent + n) % names.length], sent))
  }
  let timer
  const patience = new Promise((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)))
  await Promise.race([Promise.all(pending), patience])
  clearTimeout(timer)
  for (const one of Object.values(taken)) {
    const ended = one.latencies.filter((ms) => ms !== undefined)
    one.endless = seconds * perSecond - ended.length
    one.latencies = ended
  }
  return taken
}
