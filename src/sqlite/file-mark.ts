import type * as Fs from 'node:fs'
import { quietly } from '../core/thrown.ts'
import { builtin } from './builtin.ts'

/**
 * Identifies a file, as opposed to a copy of it: its inode and its birth time in ms, as `inode.birth`. A part is empty where the system does not report it.
 *
 * @param path '': the database is in memory.
 * @returns undefined if there is no such file.
 */
export function markOf(path: string): string | undefined {
  const fs = builtin('node:fs') as typeof Fs | undefined
  if (path === '' || !fs) return UNKNOWN
  const found = quietly(() => [fs.statSync(path, { bigint: true, throwIfNoEntry: false })])
  // The folder is currently not accessible to this process, which says nothing about the file.
  if (!found) return UNKNOWN
  const [stat] = found
  if (!stat) return undefined
  const { ino, birthtimeNs, ctimeNs } = stat
  // Where the system does not know the birth time, runtimes return 0, or the time of the last change.
  const birth = birthtimeNs > 0n && birthtimeNs < ctimeNs ? birthtimeNs / 1_000_000n : ''
  return `${ino || ''}.${birth}`
}

/** Whether two marks certainly belong to different files. */
export function isOther(mark: string, than: string): boolean {
  const parts = than.split('.')
  return mark.split('.').some((part, index) => part !== '' && parts[index] !== '' && part !== parts[index])
}

const UNKNOWN = '.'

/**
 * The epoch of a table. It includes the mark of the file in which the table was created. A copy of that file has another epoch, the same for all processes,
 * because it lacks what was written after the copy was made.
 *
 * @param made `id.inode.birth`, as stored in the table; `id` alone: the mark is not included.
 * @param here The mark of the opened file.
 */
export function epochIn(made: string, here: string): string {
  const [, ...mark] = made.split('.')
  return mark.length === 2 && isOther(mark.join('.'), here) ? `${made}/${here}` : made
}
