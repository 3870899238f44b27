import type * as Fs from 'node:fs'
import { quietly } from '../core/thrown.ts'
import { builtin } from './builtin.ts'

/**
 * What tells a file from a copy of it: its inode, and the ms of its birth, as `inode.birth`. A part is empty where the system does not tell it.
 *
 * @param path '': the database is in memory.
 * @returns undefined if there is no such file.
 */
export function markOf(path: string): string | undefined {
  const fs = builtin('node:fs') as typeof Fs | undefined
  if (path === '' || !fs) return UNKNOWN
  const found = quietly(() => [fs.statSync(path, { bigint: true, throwIfNoEntry: false })])
  // The folder is closed to this process now: that says nothing of the file.
  if (!found) return UNKNOWN
  const [stat] = found
  if (!stat) return undefined
  const { ino, birthtimeNs, ctimeNs } = stat
  // Where the system does not know the birth, runtimes answer 0, or the instant of the last change.
  const birth = birthtimeNs > 0n && birthtimeNs < ctimeNs ? birthtimeNs / 1_000_000n : ''
  return `${ino || ''}.${birth}`
}

/** Whether two marks are certainly of two files. */
export function isOther(mark: string, than: string): boolean {
  const parts = than.split('.')
  return mark.split('.').some((part, index) => part !== '' && parts[index] !== '' && part !== parts[index])
}

const UNKNOWN = '.'

/**
 * The epoch of a table. It tells the file that the table was made in. In a copy of that file the epoch is another one, and the same for all processes:
 * what was written after the copy was made is lost.
 *
 * @param made `id.inode.birth`, as the table holds it; `id` alone: it does not tell its file.
 * @param here The mark of the file that was opened.
 */
export function epochIn(made: string, here: string): string {
  const [, ...mark] = made.split('.')
  return mark.length === 2 && isOther(mark.join('.'), here) ? `${made}/${here}` : made
}
