import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// V8 keeps optimised code on the same heap. That code grows for minutes, and would hide a leak.
for (const flag of ['--no-opt', '--no-sparkplug', '--expose-gc']) setFlagsFromString(flag)
const collectGarbage = runInNewContext('gc')

/** Until then Node loads code, and pools fill. */
const WARM_UP_MS = 10_000
/** Fewer cannot tell a slope from chance. */
const LEAST_SAMPLES = 5
const MOST_GROWTH = 0.05

/** Bytes in use after all garbage is collected. Call this while no request is on its way. */
export async function heapInUse() {
  for (let n = 0; n < 3; n += 1) {
    await turn()
    collectGarbage()
  }
  return process.memoryUsage().heapUsed
}

/**
 * By how much the heap grew, as a share of its mean: the rise of the straight line that fits the samples best (least squares),
 * from the first sample after warm-up to the last. The first and the last sample alone would depend on chance.
 *
 * @param samples `{ at, bytes }`, `at` in ms.
 * @returns undefined for too few samples.
 */
export function growthOf(samples) {
  const kept = samples.filter(({ at }) => at > WARM_UP_MS)
  if (kept.length < LEAST_SAMPLES) return undefined
  const mean = (of) => kept.reduce((sum, one) => sum + one[of], 0) / kept.length
  const [at, bytes] = [mean('at'), mean('bytes')]
  const slope =
    kept.reduce((sum, one) => sum + (one.at - at) * (one.bytes - bytes), 0) /
    kept.reduce((sum, one) => sum + (one.at - at) ** 2, 0)
  const growth = (slope * (kept.at(-1).at - kept[0].at)) / bytes
  return { growth, isFlat: Math.abs(growth) <= MOST_GROWTH, of: kept.length }
}
