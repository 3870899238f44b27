/** The quantile of a contestant's laps that counts: those that no other process has slowed down. */
const QUIET = 0.1

/**
 * Measures contestants in turn, in a new random order in each round: a slowdown of the machine meets all of them alike.
 *
 * @param contestants Names.
 * @param laps How often each contestant has its turn in a round. The figures of a round are the means of its laps, and `laps` has the figures of each lap.
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
      taken.push(
        Object.fromEntries(
          Object.entries(turns).map(([name, figures]) => [name, { ...means(figures), laps: figures }]),
        ),
      )
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

/**
 * Compares the fastest laps: a low quantile of a contestant's laps over that of the reference's laps. Other work of the machine makes a lap longer
 * and never shorter, so this figure is steadier than a median.
 *
 * @param runs The rounds of each process.
 * @returns For each contestant the median of the processes, and the least and greatest of them as `low` and `high`.
 */
export function compareQuiet(runs, figure, reference) {
  const ratio = (rounds, name) => quiet(rounds, name, figure) / quiet(rounds, reference, figure)
  return inEachRun(runs, ratio)
}

/** Like `compareQuiet`, for what each contestant adds to the reference, as a multiple of what `unit` adds to it. `value`: what it adds, the median. */
export function compareAdded(runs, figure, reference, unit) {
  const added = (rounds, name) => quiet(rounds, name, figure) - quiet(rounds, reference, figure)
  const ratios = inEachRun(runs, (rounds, name) => added(rounds, name) / added(rounds, unit))
  const values = inEachRun(runs, added)
  return Object.fromEntries(
    Object.entries(ratios).map(([name, each]) => [name, { ...each, value: values[name].median }]),
  )
}

function quiet(rounds, name, figure) {
  const laps = rounds.flatMap((round) => round[name].laps.map((lap) => lap[figure]))
  return quantile(laps, QUIET)
}

function inEachRun(runs, figureOf) {
  const extent = (values) => ({ median: median(values), low: Math.min(...values), high: Math.max(...values) })
  const names = Object.keys(runs[0][0])
  return Object.fromEntries(names.map((name) => [name, extent(runs.map((rounds) => figureOf(rounds, name)))]))
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
