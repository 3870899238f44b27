import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { EVERGREEN, renewing, shownName } from '../lib/contestants.mjs'
import { rows } from '../lib/scorecard/rows.mjs'
import { figure, reach, table } from '../lib/table.mjs'

export const name = 'scorecard'
export const title = 'Scorecard: what goes wrong in production'

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
  // The output of a library is not for our readers.
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

/** One line a row, one column a contestant. @param meanings Whether each line says what passes it, as docs/evidence/scorecard.md wants it. */
export function summary({ rows: outcomes }, { meanings = false } = {}) {
  const what = ({ title, wanted }) => (meanings ? `${title}<br>_${wanted}_` : title)
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
  return table(['package', '>KiB gzipped', '>ms to import, beyond axios'], lines)
}

export function section({ rows: outcomes }) {
  const details = Object.entries(outcomes).map(([row, of]) => {
    const cells = Object.entries(of).map(
      ([each, { tokenCalls, apiRequests, served, failed, leaked, crashes, right }]) => [
        shownName(each),
        mark({ right }),
        ...[tokenCalls, apiRequests, served, failed, leaked, crashes].map((count) => figure(count)),
      ],
    )
    const columns = [
      'contestant',
      'right',
      '>token calls',
      '>API requests',
      '>served',
      '>failed',
      '>leaked',
      '>crashes',
    ]
    return `### ${upperFirst(rows[row].title)}\n\nRight: ${rows[row].wanted}.\n\n${table(columns, cells)}`
  })
  const wrong = Object.keys(outcomes).filter((row) => !outcomes[row][EVERGREEN].right)
  return `Each row runs with each contestant in a thread of its own, over real HTTP. \`leaked\` counts the places that showed the token or the secret.
\`crashes\` counts unhandled rejections, which end a Node process.

${summary({ rows: outcomes })}

${reach(wrong.length === 0, `the right answer in every row${wrong.length > 0 ? `, but for: ${wrong.map((row) => rows[row].title).join('; ')}` : ''}.`)}

${details.join('\n\n')}`
}

function mark({ right }) {
  return right ? '✓' : '✗'
}

function upperFirst(text) {
  return text[0].toUpperCase() + text.slice(1)
}
