import { interleaved, median } from '../rounds.mjs'

/**
 * Measures what `n` of something cost, for growing `n`: medians of interleaved rounds.
 *
 * @param measure Called with `n`, resolves with figures; `total` among them is the cost of all `n`.
 */
export async function curve({ sizes, rounds, measure, ...what }) {
  const taken = await interleaved({ rounds, contestants: sizes.map(String), measure: (n) => measure(Number(n)) })
  const points = sizes.map((n) => {
    const figures = taken.map((round) => round[n])
    const names = Object.keys(figures[0])
    return { n, ...Object.fromEntries(names.map((each) => [each, median(figures.map((one) => one[each]))])) }
  })
  return { ...what, points, slope: slopeOf(points), lastSlope: slopeOf(points.slice(-2)) }
}

/** @returns The slope of the straight line through cost against size, both as logarithms: 0 is a constant cost, 1 a linear one. */
export function slopeOf(points) {
  const at = points.map(({ n, total }) => [Math.log(n), Math.log(total)])
  const [x, y] = [0, 1].map((axis) => at.reduce((sum, point) => sum + point[axis], 0) / at.length)
  const rise = at.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return rise / at.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
}
