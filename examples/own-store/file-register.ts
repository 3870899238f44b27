import type { TokenRegister } from 'axios-evergreen/store'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lock } from 'proper-lockfile'

interface Stored {
  value: string
  until: number
}

/** Shares tokens among the processes of one machine: a file for each account, replaced under a lock. */
export async function fileRegister(folder: string): Promise<TokenRegister> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const fileOf = (key: string) => join(folder, encodeURIComponent(key))
  const stored = async (key: string) => {
    const text = await readFile(fileOf(key), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}'
      throw error // an unreadable file is no empty one: its tokens would be replaced
    })
    const { value, until = 0 } = JSON.parse(text) as Partial<Stored>
    return until > Date.now() ? value : undefined
  }
  return {
    kind: 'file',
    // All processes of one machine have one clock.
    read: async (key) => ({ value: await stored(key), now: Date.now() }),
    async replace(key, expected, value, keepMs) {
      const file = fileOf(key)
      const unlock = await lock(file, { realpath: false, retries: { retries: 500, minTimeout: 5, maxTimeout: 20 } })
      try {
        if ((await stored(key)) !== expected) return false
        const text = JSON.stringify({ value, until: Date.now() + keepMs } satisfies Stored)
        await writeFile(`${file}.new`, text, { mode: 0o600 })
        // A reader sees the old file or the new one, never half of it.
        await rename(`${file}.new`, file)
        return true
      } finally {
        await unlock()
      }
    },
  }
}
