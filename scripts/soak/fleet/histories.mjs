import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { unexplainedIn } from '../../lib/history.mjs'

/** A file for the notes of all processes of a fleet. */
export const newHistory = () => join(mkdtempSync(join(tmpdir(), 'evergreen-history-')), 'steps')

/**
 * Removes the notes.
 *
 * @param leastEpochs After each promotion the steps must be of another epoch.
 * @returns A promise, with whether it was kept: there is an order of all steps that a register without concurrency explains.
 */
export function explained(history, leastEpochs = 1) {
  const notes = readNotes(history)
  rmSync(dirname(history), { recursive: true })
  const flaw = unexplainedIn(notes)
  const epochs = new Set(notes.flatMap(({ epoch }) => epoch ?? [])).size
  return [
    flaw === undefined && epochs >= leastEpochs,
    `${notes.length} notes of steps in ${epochs} epochs: ${flaw ?? 'there is an order that explains them all'}`,
  ]
}

/** @returns All notes of a file. A process that was killed may have left half a line. */
function readNotes(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line)]
      } catch {
        return []
      }
    })
}
