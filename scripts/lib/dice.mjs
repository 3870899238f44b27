// @ts-check

/**
 * Draws that are the same for the same seed, on every machine: mulberry32 by Tommy Ettinger, in the public domain.
 *
 * @param {number} seed
 * @param {number} part Who draws. Each part has its own draws, so that no part changes the draws of another.
 */
export function dice(seed, part = 0) {
  let state = seed + Math.imul(part, 0x9e3779b9)
  /** In [0, 1). */
  const random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  /** @param {number} least @param {number} below */
  const between = (least, below) => least + random() * (below - least)
  return {
    random,
    between,
    /**
     * As likely to lie between 10 and 20 as between 100 and 200.
     *
     * @param {number} least @param {number} below
     */
    logBetween: (least, below) => Math.exp(between(Math.log(least), Math.log(below))),
    /** @param {number} least @param {number} most */
    whole: (least, most) => Math.floor(between(least, most + 1)),
    /** @template Value @param {readonly Value[]} values @returns {Value} */
    oneOf: (values) => /** @type {Value} */ (values[Math.floor(random() * values.length)]),
    /** @param {number} chance In [0, 1]. */
    happens: (chance) => random() < chance,
  }
}
