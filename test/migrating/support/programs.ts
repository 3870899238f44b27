import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { builtOnce } from '../../support/built-once.ts'

const EXAMPLES = join('examples', 'migrating')

/** Libraries for pages. That for Node: msal-node.test.ts. */
export const PEERS = readdirSync(EXAMPLES).filter(
  (name) => name !== 'msal-node' && existsSync(join(EXAMPLES, name, 'before.ts')),
)

/** For packages in CommonJS. */
const REQUIRE = `--banner:js=import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`

/** Gives a page or a process what the test calls. */
const DRIVER = (program: string) => `
import * as program from ${JSON.stringify(program)}
const send = (n) => program.api.get('/wallet', { params: { n } }).then(({ status }) => status, (error) => String(error))
export const app = globalThis.app = {
  ...program,
  canSend: async () => (await program.api.get('/wallet', { validateStatus: null }).catch(() => ({}))).status === 200,
  /** Twenty at a time. @returns what did not succeed */
  async sendAll(from, to) {
    const wrong = []
    for (let n = from; n < to; n += 20) {
      const batch = Array.from({ length: Math.min(20, to - n) }, (_, more) => send(n + more))
      wrong.push(...(await Promise.all(batch)).filter((status) => status !== 200))
    }
    return wrong
  },
}
`

/** @returns A folder with `before/main.js` and `after/main.js`, bundled with the sources of this package. */
export function programsOf(peer: string, platform = 'browser'): Promise<string> {
  return builtOnce(
    `migrating ${peer}`,
    ['src', join(EXAMPLES, peer), join(EXAMPLES, 'package-lock.json')],
    async (dir) => {
      for (const name of ['before', 'after']) {
        await mkdir(join(dir, name))
        const entry = join(dir, name, 'entry.mjs')
        await writeFile(entry, DRIVER(resolve(EXAMPLES, peer, `${name}.ts`)))
        // As a process: esbuild is native, and jest replaces its globals.
        const options = [
          '--bundle',
          '--format=esm',
          `--platform=${platform}`,
          ...(platform === 'node' ? [REQUIRE] : []),
          `--outfile=${join(dir, name, 'main.js')}`,
          '--log-level=error',
        ]
        await promisify(execFile)(process.execPath, [resolve('node_modules/esbuild/bin/esbuild'), entry, ...options])
      }
    },
  )
}
