import { setTimeout as pause } from 'node:timers/promises'

const STEPS = ['granted', 'exchange sent', 'exchange sent', 'answered', 'settle sent', 'settled']
/** Between the write of a record and its commit, with the lock of the file. */
const STEPS_ON_FILE = [...STEPS, 'in a step', 'in a step']
/** Between the two steps of a lease request: the second one may reach a store that was promoted meanwhile. */
const STEPS_AT_PROMOTION = [...STEPS, 'read', 'read']
const ROUNDS_WITHOUT_TROUBLE = 10
/** The share of rounds in which the replica receives none of the writes around the fall. */
const CHANCE_OF_LOSS = 0.7
const LONGEST_LAG_MS = 8_000
/** The number of processes that die with the primary. Their successors know only the record. */
const DIE_WITH_PRIMARY = 3

/**
 * What happens to a store around the falls: `before(round)`, and `after(fleet)`, which gives reports. `steps`: where a process may fall; `falls`: how many
 * processes fall in a round; `promises()`: what else must be kept; `leastEpochs` that the history must contain.
 *
 * @param store A place (`places.mjs`).
 */
export function courseOf(store, { count, dice }) {
  return store.promote ? promotions(store, { count, dice }) : restarts(store)
}

/** A store that may lose nothing is killed, or restarted, before every tenth fall. A file is left alone. */
function restarts({ kind, trouble }) {
  return {
    steps: kind === 'sqlite' ? STEPS_ON_FILE : STEPS,
    leastLifetimeMs: 3_000,
    leastEpochs: 1,
    falls: 1,
    async before(round) {
      if (round % ROUNDS_WITHOUT_TROUBLE === 0) await trouble?.()
    },
    after: async () => [],
    promises: () => [],
  }
}

/** After each fall the primary is killed, and its asynchronous replica is promoted. */
function promotions({ part, promote }, { count, dice }) {
  let losses = 0
  return {
    steps: STEPS_AT_PROMOTION,
    // A promotion takes longer than 3 s. Then all processes would have tokens of their own, and none would need the record.
    leastLifetimeMs: 10_000,
    leastEpochs: count + 1,
    falls: 1 + DIE_WITH_PRIMARY,
    async before() {
      if (dice.happens(CHANCE_OF_LOSS)) await part()
    },
    async after(fleet) {
      // By then another process may have replaced the fallen one.
      await pause(dice.oneOf([0, 0, dice.whole(1, LONGEST_LAG_MS)]))
      if (await promote()) losses += 1
      const met = await fleet.reports()
      if (dice.happens(0.5)) fleet.thaw()
      await fleet.restart(DIE_WITH_PRIMARY)
      return met
    },
    promises: () => [[true, `${count} promotions, ${losses} of them lost acknowledged writes`]],
  }
}
