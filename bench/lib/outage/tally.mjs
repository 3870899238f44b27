/** Kinds with the same promise share one name; the others keep theirs. */
const KINDS = { refused: 'fails at once', reset: 'fails at once', 503: 'fails at once', mixed: 'fails at once' }
/** Upper ends of the classes of length, s. The promises speak of 7, 10 and 18. */
const CLASSES = [7, 10, 18, 60, 120, 300]
/** Outages up to this length, s, are also counted second by second. */
const FINE_S = 40
const BUCKET_MS = 100

/** Adds outages up, so that two hundred thousand take no more memory than one. */
export class Tally {
  #groups = new Map()

  add({ kind, durationMs }, felt) {
    const name = KINDS[kind] ?? kind
    const seconds = durationMs / 1_000
    add(this.#group(name, 'class', CLASSES.find((end) => seconds < end) ?? CLASSES.at(-1)), felt)
    if (seconds < FINE_S) add(this.#group(name, 'second', Math.floor(seconds)), felt)
  }

  /** Adds the groups of another tally. */
  join(groups) {
    for (const { kind, by, at, ...sums } of groups) merge(this.#group(kind, by, at), sums)
  }

  get groups() {
    return [...this.#groups.values()]
  }

  #group(kind, by, at) {
    const key = `${kind} ${by} ${at}`
    const group = this.#groups.get(key) ?? { kind, by, at, ...nothing() }
    this.#groups.set(key, group)
    return group
  }
}

/** @returns The outages of each class of length: `{ kind, fromS, toS, ... }`, in the order of the page. */
export function classes(groups) {
  return groups
    .filter(({ by }) => by === 'class')
    .sort((one, other) => one.kind.localeCompare(other.kind) || one.at - other.at)
    .map(({ kind, at, recoveries, firstMinuteCalls, sums, most }) => ({
      kind,
      fromS: CLASSES[CLASSES.indexOf(at) - 1] ?? 0,
      toS: at,
      ...sums,
      ...most,
      meanFirstMinute: firstMinuteCalls / sums.outages,
      recoveryMedianMs: quantile(recoveries, 0.5),
      recoveryP99Ms: quantile(recoveries, 0.99),
    }))
}

function nothing() {
  return {
    sums: { outages: 0, outagesFailed: 0, outagesFelt: 0, calls: 0, failed: 0, delayed: 0, mute: 0, alarms: 0 },
    most: { longestWaitMs: 0, firstMinute: 0, laterMinute: 0, recoveryMs: 0 },
    firstMinuteCalls: 0,
    /** How many of the outages felt after their end took this many tenths of a second to recover, by index. */
    recoveries: [],
  }
}

function add(group, felt) {
  const recoveries = []
  if (felt.recoveryMs > 0) recoveries[Math.floor(felt.recoveryMs / BUCKET_MS)] = 1
  const isFelt = felt.failed + felt.delayed > 0
  const sums = { ...felt, outages: 1, outagesFailed: felt.failed > 0 ? 1 : 0, outagesFelt: isFelt ? 1 : 0 }
  merge(group, { sums, most: felt, firstMinuteCalls: felt.firstMinute, recoveries })
}

function merge(group, { sums, most, firstMinuteCalls, recoveries }) {
  for (const name of Object.keys(group.sums)) group.sums[name] += sums[name]
  for (const name of Object.keys(group.most)) group.most[name] = Math.max(group.most[name], most[name])
  group.firstMinuteCalls += firstMinuteCalls
  recoveries.forEach((count, bucket) => (group.recoveries[bucket] = (group.recoveries[bucket] ?? 0) + count))
}

function quantile(buckets, share) {
  const all = buckets.reduce((sum, count) => sum + (count ?? 0), 0)
  let left = all * share
  const bucket = buckets.findIndex((count) => (left -= count ?? 0) <= 0)
  return all === 0 ? null : bucket * BUCKET_MS
}
