const FAST = 'fails at once'
const SILENT = 'no answer'
/** Kinds with the same promise share one name; the others keep theirs. */
const KINDS = { refused: FAST, reset: FAST, 503: FAST, mixed: FAST }
/** Upper ends of the classes of length, s. The promises speak of 7 and 10. */
const CLASSES = [7, 10, 18, 60, 120, 300]
const SUMS = ['outages', 'failed', 'delayed', 'mute', 'alarms']
const MAXIMA = ['firstMinute', 'laterMinute', 'recoveryMs']

/** Adds outages up, so that two hundred thousand take no more memory than one. */
export class Tally {
  #classes = new Map()

  add({ kind, durationMs }, felt) {
    const toS = CLASSES.find((end) => durationMs / 1_000 < end) ?? CLASSES.at(-1)
    this.join([{ kind: KINDS[kind] ?? kind, toS, outages: 1, ...felt }])
  }

  /** Adds the classes of another tally. */
  join(classes) {
    for (const { kind, toS, ...felt } of classes) {
      const key = `${kind} ${toS}`
      const earlier = this.#classes.get(key)
      this.#classes.set(key, { kind, toS, ...totals(earlier ? [earlier, felt] : [felt]) })
    }
  }

  /** The outages of each kind and length: `{ kind, toS, ... }`. */
  get classes() {
    const byKind = (one, other) => one.kind.localeCompare(other.kind) || one.toS - other.toS
    return [...this.#classes.values()].sort(byKind)
  }
}

/** @returns How far the promises about outages (P4, P6) were kept, over all classes of outages. */
export function summary(classes) {
  const upTo = (kind, seconds) => totals(classes.filter((each) => each.kind === kind && each.toS <= seconds))
  return {
    fast7: upTo(FAST, 7),
    silent10: upTo(SILENT, 10),
    all: totals(classes),
    fastRecoveryMs: totals(classes.filter(({ kind }) => kind === FAST)).recoveryMs,
    otherRecoveryMs: totals(classes.filter(({ kind }) => kind !== FAST)).recoveryMs,
  }
}

function totals(all) {
  const sums = SUMS.map((name) => [name, all.reduce((sum, each) => sum + each[name], 0)])
  const maxima = MAXIMA.map((name) => [name, Math.max(0, ...all.map((each) => each[name]))])
  return Object.fromEntries([...sums, ...maxima])
}
