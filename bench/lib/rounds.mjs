/**
 * Measures contestants in turn, in a new random order in each round: a slowdown of the machine meets all of them alike.
 *
 * @param contestants Names.
 * @param laps How often each contestant has its turn in a round. The figures of a round are the means of its laps.
 * @param prepare Called before each round, resolves with what `measure` needs in it.
 * @param measure Called with a name and what was prepared, resolves with an object of figures.
 * @returns The figures of each round, by name: `[{ [name]: figures }]`.
 */
export async function interleaved({ rounds, warmUps = 1, laps = 1, contestants, prepare, measure }) {
  const taken = []
  for (let round = -warmUps; round < rounds; round++) {
    const turns = Object.fromEntries(contestants.map((name) => [name, []]))
    const prepared = await prepare?.()
    for (let lap = 0; lap < laps; lap++)
      for (const name of shuffled(contestants)) turns[name].push(await measure(name, prepared))
    if (round >= 0)
      taken.push(Object.fromEntries(Object.entries(turns).map(([name, figures]) => [name, means(figures)])))
  }
  return taken
}

function means(turns) {
  const mean = (what) => turns.reduce((sum, figures) => sum + figures[what], 0) / turns.length
  return Object.fromEntries(Object.keys(turns[0]).map((what) => [what, mean(what)]))
}

/** @returns For each contestant: the median of a figure, and of its ratios to the reference within the same round. */
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

/** @returns The `share` quantile, interpolated between its two neighbours. */
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
