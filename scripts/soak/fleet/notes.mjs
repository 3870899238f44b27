import { createHash, randomUUID } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'

/** The check of histories only needs to tell texts apart. */
const nameOf = (text) => text && createHash('sha256').update(text).digest('base64url').slice(0, 16)

/** The monotonic clock, which all processes of one machine share, ms. */
export const monotonicNow = () => Number(process.hrtime.bigint()) / 1e6

/**
 * Notes the steps of this process in a file. Each note is written at once: the next moment may kill the process.
 *
 * @returns A function that notes the beginning of a step (`Step` of `tools/testing/history.ts`), and returns a function that notes its response.
 */
export function notesIn(file) {
  const out = openSync(file, 'a')
  process.once('exit', () => closeSync(out))
  const write = (step) => writeSync(out, `${JSON.stringify(step)}\n`)
  return (step, begunAt = monotonicNow()) => {
    const { value, expected } = step
    // A step that Redis did not execute, because it did not know the script, is sent again with the same text.
    const id = step.does === 'replace' ? nameOf(value) : randomUUID()
    const begun = { ...step, id, begunAt, value: nameOf(value), expected: nameOf(expected) }
    if (step.does === 'replace') write(begun)
    return (answer) =>
      write({
        ...begun,
        endedAt: monotonicNow(),
        ...answer,
        ...('value' in answer && { value: nameOf(answer.value) }),
      })
  }
}

/** The step of a command of the Redis store. `told` reads its reply. */
export function redisStep([, , , key, ...argv]) {
  if (argv.length < 2)
    return { key, does: 'read', told: ([value, , , epoch]) => ({ value: value ?? undefined, epoch }) }
  const [value, , named, expected] = argv
  // The step that completes a lease names no epoch: its text was computed in the epoch of the lease.
  const epoch = named || claimedIn.get(key)
  claimedIn.set(key, epoch)
  return { key, does: 'replace', value, expected, epoch, told: (put) => ({ replaced: Number(put) === 1 }) }
}

/** By key: the epoch that the last replace of this process named. */
const claimedIn = new Map()

/** The step that a statement of the PostgreSQL store is. */
export function postgresStep(statement, [key, value, , ...rest]) {
  if (value === undefined)
    return { key, does: 'read', told: ({ rows: [row] }) => ({ value: row.value ?? undefined, epoch: row.epoch }) }
  const [expected, epoch] = statement.startsWith('UPDATE') ? rest : [undefined, ...rest]
  return { key, does: 'replace', value, expected, epoch, told: ({ rows }) => ({ replaced: rows.length > 0 }) }
}
