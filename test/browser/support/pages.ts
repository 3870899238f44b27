import { afterAll, afterEach, beforeAll, beforeEach, describe } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { FLAGS } from './browser.ts'
import { type Engine, engines, type EngineTab } from './engines.mjs'
import { type People, startPeople } from './people.ts'

/** Who keeps the login: what takes the place of `tokens.ts`, and the script with it. */
export const KEEPERS = {
  'the page': { source: 'tokens.ts', script: '/tokens.js' },
  'the page, in development': { source: 'tokens.ts', script: '/tokens.js' },
  'a worker': { source: 'worker/page.ts', script: '/page.js' },
  'a session': { source: 'session/tokens.ts', script: '/session.js' },
} as const
export type Keeper = keyof typeof KEEPERS

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
    // The same pages, with other tokens.
    for (const [keeper, { source }] of Object.entries(KEEPERS))
      await build(
        join(folder, keeper),
        [{ find: '../tokens.ts', replacement: join(PAGES, source) }],
        keeper === 'the page, in development' ? 'development' : 'production',
      )
  })
  afterAll(async () => {
    await browser.close()
    await rm(folder, { recursive: true })
  })
  return { browser: () => browser, start: (keeper = 'the page') => startPeople(join(folder, keeper)) }
}

interface Site {
  readonly origin: string
  close(): Promise<void>
}

/** What each test of pages in an engine has for itself: a site of its own, and tabs. */
export interface PageStage<PagesSite extends Site = People> {
  readonly people: PagesSite
  readonly open: (path: string) => Promise<EngineTab>
}

/** Runs a suite with the example pages in each engine that the machine has: `given firefox, ${given}`. */
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
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'pages-'))
      await build(folder, [])
    })
    afterAll(() => rm(folder, { recursive: true }))

    describeEach(`given %s, ${given}`, (name, launch) => {
      let engine: Engine
      let people: PagesSite
      let opened: EngineTab[] = []
      beforeAll(async () => void (engine = await launch!()))
      afterAll(() => engine.close())
      // Each site is an origin of its own: it has no worker yet, and nothing is stored there.
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

/** As a process: Vite is ESM only, and jest loads CommonJS. @param mode Which build of the frameworks. */
async function build(
  outDir: string,
  alias: { find: string; replacement: string }[],
  mode: 'development' | 'production' = 'production',
): Promise<void> {
  const configFile = join(PAGES, 'vite.config.mjs')
  const options = { configFile, mode, logLevel: 'warn', resolve: { alias }, build: { outDir, emptyOutDir: false } }
  const program = `import { build } from 'vite'; await build(${JSON.stringify(options)})`
  const env = { ...process.env, NODE_ENV: mode }
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], { timeout: 540_000, env })
}
