/** Random draws that are the same for the same seed (mulberry32). */
export function dice(seed) {
  let state = seed >>> 0
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (low, high) => low + random() * (high - low)
  return {
    random,
    between,
    /** As likely to lie between 10 and 20 as between 100 and 200. */
    logBetween: (low, high) => Math.exp(between(Math.log(low), Math.log(high))),
    whole: (low, high) => Math.floor(between(low, high + 1)),
    oneOf: (values) => values[Math.floor(random() * values.length)],
    isTrue: (chance) => random() < chance,
  }
}
