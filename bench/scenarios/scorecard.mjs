import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { EVERGREEN, others, renewing, shownName } from '../lib/contestants.mjs'
import { rows } from '../lib/scorecard/rows.mjs'
import { figure, range, table } from '../lib/table.mjs'

export const name = 'scorecard'
export const title = 'Scorecard: what goes wrong in production'
/** The scorecard has a page of its own. */
export const isApart = true

/** No row takes as long, not even on a busy machine. */
const PATIENCE_MS = 180_000

const names = renewing.map((each) => each.name)

export async function run({ quick }) {
  const outcomes = {}
  const playAll = async (row) => {
    outcomes[row] = Object.fromEntries(
      await Promise.all(names.map(async (contestant) => [contestant, await played({ row, contestant, quick })])),
    )
  }
  // The long rows run at the same time, while the short rows are played one after the other.
  const isLong = (row) => rows[row].lasts !== undefined
  const ids = Object.keys(rows)
  const long = ids.filter(isLong).map(playAll)
  for (const row of ids.filter((each) => !isLong(each))) await playAll(row)
  await Promise.all(long)
  return { rows: Object.fromEntries(ids.map((row) => [row, outcomes[row]])) }
}

/** @returns The counts of one row with one contestant. */
async function played(workerData) {
  const file = new URL('../lib/scorecard/thread.mjs', import.meta.url)
  // The output of a library must not reach the terminal.
  const thread = new Worker(file, { workerData, stdout: true, stderr: true })
  const patience = setTimeout(() => void thread.terminate(), PATIENCE_MS)
  try {
    const [outcome] = await Promise.race([once(thread, 'message'), exit(thread)])
    return { ...outcome, right: rows[workerData.row].right(outcome) }
  } finally {
    clearTimeout(patience)
    await thread.terminate()
  }
}

async function exit(thread) {
  await once(thread, 'exit')
  throw new Error('A contestant ended without an outcome')
}

export function ratios({ rows: outcomes }) {
  const wrong = Object.values(outcomes).filter((of) => !of[EVERGREEN].right).length
  return { 'rows without the right answer': { value: wrong, tolerance: 1 } }
}

/** One line per row, with what passes it, and one column per contestant. */
export function summary({ rows: outcomes }) {
  const what = ({ title, wanted }) => `${title}<br>_${wanted}_`
  const lines = Object.entries(outcomes).map(([row, of]) => [what(rows[row]), ...names.map((each) => mark(of[each]))])
  return table(['what happens', ...names.map(shownName)], lines)
}

/** What others cost less: the results of the scenarios `size` and `start`. */
export function cheaper({ ours, others }, { imports }) {
  const sizes = { [EVERGREEN]: ours['Variant A'], ...others }
  const lines = Object.entries(sizes).map(([each, { gzipped }]) => [
    shownName(each),
    figure(gzipped / 1024, 1),
    figure(imports[each]?.ms.median, 1),
  ])
  return table(['package', '>KiB gzipped', '>import time in ms, beyond axios'], lines)
}

/** The figure of this scenario on the page: what it is, ours, and what it is compared with. */
export function figureOf({ rows: outcomes }) {
  const right = (each) => Object.values(outcomes).filter((of) => of[each].right).length
  const most = Object.keys(outcomes).length
  return [
    `right answers in ${most} situations ([scorecard](scorecard.md))`,
    figure(right(EVERGREEN)),
    `others ${range(others.map(right)).join(' to ')}`,
  ]
}

function mark({ right }) {
  return right ? '✓' : '✗'
}
