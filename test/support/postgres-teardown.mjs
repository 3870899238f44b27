// Stops servers that an aborted test file has left running, and removes the data of all servers of the run.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export default function teardown() {
  const folder = process.env.TEST_POSTGRES_DATA
  if (folder === undefined) return
  for (const name of readdirSync(folder)) {
    const lock = join(folder, name, 'postmaster.pid')
    if (existsSync(lock)) end(Number.parseInt(readFileSync(lock, 'utf8')))
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
}

function end(server) {
  try {
    // The server ends all of its processes at once.
    process.kill(server, 'SIGQUIT')
  } catch {
    // The server has ended, and could not remove its file.
  }
}
