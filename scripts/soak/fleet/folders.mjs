import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folders = new Set()
// A server that has just been killed may still write.
process.once('exit', () => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 9 })))

/** A folder for the data of a store. It is removed at the latest when this process ends. */
export function newFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'evergreen-soak-'))
  folders.add(folder)
  return folder
}
