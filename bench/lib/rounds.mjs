/**
 * Measures contestants in turn, in a new random order in each round: what slows the machine down meets all of them alike.
 *
 * @param contestants Names.
 * @param prepare Called before each round, resolves with what `measure` needs in it.
 * @param measure Called with a name and what was prepared, resolves with an object of figures.
 * @returns The figures of each round, by name: `[{ [name]: figures }]`.
 */
export async function interleaved({ rounds, warmUps = 1, contestants, prepare, measure }) {
  const taken = []
  for (let round = -warmUps; round < rounds; round++) {
    const figures = Object.fromEntries(contestants.map((name) => [name, undefined]))
    const prepared = await prepare?.()
    for (const name of shuffled(contestants)) figures[name] = await measure(name, prepared)
    if (round >= 0) taken.push(figures)
  }
  return taken
}

/** Of each contestant: the median of a figure, and of its ratios to the reference within the same round. */
export function compared(rounds, figure, reference) {
  const all = {}
  for (const name of Object.keys(rounds[0])) {
    const values = rounds.map((round) => round[name][figure])
    all[name] = {
      ...spread(values),
      ratio: spread(rounds.map((round) => round[name][figure] / round[reference][figure])),
    }
  }
  return all
}

/** The median, and the quartiles as `low` and `high`. */
export function spread(values) {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75) }
}

export function median(values) {
  return quantile(values, 0.5)
}

/** The `share` quantile, between its two neighbours where it falls between them. */
export function quantile(values, share) {
  const sorted = Float64Array.from(values).sort()
  const at = (sorted.length - 1) * share
  const below = Math.floor(at)
  const above = Math.min(below + 1, sorted.length - 1)
  return sorted[below] + (sorted[above] - sorted[below]) * (at - below)
}

export function shuffled(values) {
  const deck = [...values]
  for (let left = deck.length - 1; left > 0; left--) {
    const other = Math.floor(Math.random() * (left + 1))
    ;[deck[left], deck[other]] = [deck[other], deck[left]]
  }
  return deck
}
