import { afterAll, afterEach, beforeAll, beforeEach, describe } from '@jest/globals'
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { builtOnce } from '../../support/built-once.ts'
import { FLAGS } from './browser.ts'
import { type Engine, engines, type EngineTab } from './engines.mjs'
import { type People, startPeople } from './people.ts'

/** Which component keeps the login: what replaces `tokens.ts`, and the script with it. */
export const KEEPERS = {
  'the page': { source: 'tokens.ts', script: '/tokens.js' },
  'the page, in development': { source: 'tokens.ts', script: '/tokens.js' },
  'a worker': { source: 'worker/page.ts', script: '/page.js' },
  'a session': { source: 'session/tokens.ts', script: '/session.js' },
} as const
export type Keeper = keyof typeof KEEPERS

/** Starts a browser for the tests of the current suite, which receive the example pages. */
export function pagesOfSuite(): {
  readonly browser: () => Browser
  readonly start: (keeper?: Keeper) => Promise<People>
} {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
  })
  afterAll(() => browser.close())
  return { browser: () => browser, start: async (keeper = 'the page') => startPeople(await pagesWith(keeper)) }
}

interface Site {
  readonly origin: string
  close(): Promise<void>
}

/** What each test of pages in an engine has for itself: its own site, and tabs. */
export interface PageStage<PagesSite extends Site = People> {
  readonly people: PagesSite
  readonly open: (path: string) => Promise<EngineTab>
}

/** Runs a suite with the example pages in each installed engine: `given firefox, ${given}`. */
export function describePages(given: string, suite: (stage: () => PageStage, name: string) => void): void {
  describePagesAt(startPeople, given, suite)
}

/** @param start Starts the site, given the folder with the scripts. */
export function describePagesAt<PagesSite extends Site>(
  start: (folder: string) => Promise<PagesSite>,
  given: string,
  suite: (stage: () => PageStage<PagesSite>, name: string) => void,
): void {
  const found = Object.entries(engines())
  // Without any of them the suite is skipped, and the setup prints a line.
  const describeEach = found.length > 0 ? describe.each(found) : describe.skip.each([['no engine', undefined] as const])
  describe('', () => {
    let folder: string
    beforeAll(async () => void (folder = await pagesWith('the page')))

    describeEach(`given %s, ${given}`, (name, launch) => {
      let engine: Engine
      let people: PagesSite
      let opened: EngineTab[] = []
      beforeAll(async () => void (engine = await launch!()))
      afterAll(() => engine.close())
      // Each site is a separate origin: it has no worker yet, and nothing is stored there.
      beforeEach(async () => void (people = await start(folder)))
      afterEach(async () => {
        for (const tab of opened) await tab.close().catch(() => undefined)
        opened = []
        await people.close()
      })
      const open = async (path: string) => {
        const tab = await engine.open(`${people.origin}${path}`)
        opened.push(tab)
        return tab
      }
      suite(() => ({ people, open }), name)
    })
  })
}

const PAGES = join(process.cwd(), 'examples', 'pages')

/** @returns A folder with the scripts of all pages. */
function pagesWith(keeper: Keeper): Promise<string> {
  return builtOnce(`pages, ${keeper}`, ['src', 'examples/pages', 'package-lock.json'], async (outDir) => {
    const configFile = join(PAGES, 'vite.config.mjs')
    const mode = keeper === 'the page, in development' ? 'development' : 'production'
    // The same pages, with other tokens.
    const alias = [{ find: '../tokens.ts', replacement: join(PAGES, KEEPERS[keeper].source) }]
    const built = { outDir: resolve(outDir), emptyOutDir: false }
    const options = { configFile, mode, logLevel: 'warn', resolve: { alias }, build: built }
    // As a process: Vite is ESM only, and jest loads CommonJS.
    const program = `import { build } from 'vite'; await build(${JSON.stringify(options)})`
    const env = { ...process.env, NODE_ENV: mode }
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { timeout: 540_000, env })
  })
}
