import { afterAll, beforeAll } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { FLAGS } from './browser.ts'
import { type People, startPeople } from './people.ts'

export type Keeper = 'the page' | 'a worker'

/** Builds the example pages, and starts a browser for the tests of the current suite. */
export function pagesOfSuite(): {
  readonly browser: () => Browser
  readonly start: (keeper?: Keeper) => Promise<People>
} {
  let folder: string
  let browser: Browser
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pages-'))
    browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
    await build(join(folder, 'the page'), [])
    // The same pages, but their tokens are those of the worker.
    await build(join(folder, 'a worker'), [{ find: '../tokens.ts', replacement: join(PAGES, 'worker', 'page.ts') }])
  })
  afterAll(async () => {
    await browser.close()
    await rm(folder, { recursive: true })
  })
  return { browser: () => browser, start: (keeper = 'the page') => startPeople(join(folder, keeper)) }
}

const PAGES = join(process.cwd(), 'examples', 'pages')

/** As a process: Vite is ESM only, and jest loads CommonJS. */
async function build(outDir: string, alias: { find: string; replacement: string }[]): Promise<void> {
  const configFile = join(PAGES, 'vite.config.mjs')
  const options = { configFile, logLevel: 'warn', resolve: { alias }, build: { outDir, emptyOutDir: false } }
  const program = `import { build } from 'vite'; await build(${JSON.stringify(options)})`
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { timeout: 540_000 })
}
