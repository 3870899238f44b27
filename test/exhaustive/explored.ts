import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Found } from './search.ts'

/** Runs the explorer as a process, because it replaces UUIDs and hashing. */
export async function explored(...args: string[]): Promise<Found[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/explore.mjs', '--json', ...args])
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Found)
}
