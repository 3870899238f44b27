/** Uniform in [0, 1), the same from the same seed on every machine: mulberry32 by Tommy Ettinger, in the public domain. */
export function seeded(seed) {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws for one part of the soak: each part has its own, so that none changes those of another. */
export function dice(seed, part) {
  const random = seeded(seed + Math.imul(part, 0x9e3779b9))
  return {
    random,
    happens: (chance) => random() < chance,
    between: (least, most) => least + random() * (most - least),
    whole: (least, most) => least + Math.floor(random() * (most - least + 1)),
    oneOf: (list) => list[Math.floor(random() * list.length)],
  }
}
