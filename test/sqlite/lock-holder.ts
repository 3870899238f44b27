import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Holder {
  /** Releases the lock, and ends. */
  letGo(): Promise<void>
}

/** Another process, which takes the write lock of the file, and holds it until told to release it. @param node Has node:sqlite. */
export async function holdLock(node: string, file: string): Promise<Holder> {
  const program = `const database = new (require('node:sqlite').DatabaseSync)(${JSON.stringify(file)})
    database.exec('PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE')
    process.stdin.once('data', () => { database.exec('ROLLBACK'); database.close(); process.exit() })
    console.log('held')`
  const child = spawn(node, ['--no-warnings', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  await once(child.stdout, 'data')
  return {
    async letGo() {
      child.stdin.end('go')
      await ended
    },
  }
}
