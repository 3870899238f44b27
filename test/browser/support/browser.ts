import { afterAll, afterEach, beforeAll, beforeEach, describe } from '@jest/globals'
import { execFile } from 'node:child_process'
import { copyFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { type BuiltPackage, buildPackage } from '../../support/built-package.ts'
import { type Site, startSite } from './site.ts'

/** Without a browser the suite is skipped, and the setup prints a line. */
export const describeBrowser = process.env.TEST_CHROMIUM ? describe : describe.skip

export const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update', '--host-resolver-rules=MAP *.test 127.0.0.1'],
]

/** What each test has for itself: a site, another site, and a profile with its tabs. */
export interface Stage {
  readonly site: Site
  readonly foreign: Site
  readonly context: BrowserContext
  /** Opens a tab with the app in it. `at`: where, if not at the site. */
  readonly open: (options?: object, at?: string) => Promise<Tab>
}

export interface Tab {
  readonly page: Page
  /** @returns The status of the response, or the code of the error. */
  readonly send: (url: string, config?: object) => Promise<number | string>
  readonly events: (name?: string) => Promise<Record<string, unknown>[]>
  readonly status: () => Promise<{ phase: string; counts: Record<string, number>; nextAttemptAt?: number }>
  /** Waits in the page until the condition holds. */
  readonly until: (condition: string) => Promise<void>
}

/** Builds and bundles once for the current suite, and makes a stage for each of its tests. */
export function stageOfSuite(bundlers: ('vite' | 'esbuild')[] = ['esbuild']): () => Stage {
  let built: BuiltPackage
  let browser: Browser
  let stage: Stage
  beforeAll(async () => {
    built = await buildPackage()
    await copyFile(join(app, 'main.mjs'), join(built.dir, 'main.mjs'))
    for (const bundler of bundlers) await BUNDLE[bundler](built.dir)
    browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
  })
  afterAll(async () => {
    await browser.close()
    await built.remove()
  })
  beforeEach(async () => {
    const foreign = await startSite(built.dir)
    const site = await startSite(built.dir, foreign)
    const context = await browser.newContext()
    // A limit against hanging: the machine may be very slow.
    context.setDefaultTimeout(300_000)
    stage = {
      site,
      foreign,
      context,
      open: (options, at) => opened(context, `${at ?? site.origin}/${bundlers[0]}`, options),
    }
  })
  afterEach(async () => {
    await stage.context.close()
    await stage.site.close()
    await stage.foreign.close()
  })
  return () => stage
}

async function opened(context: BrowserContext, address: string, options: object = {}): Promise<Tab> {
  const page = await context.newPage()
  await page.goto(address)
  return startedIn(page, options)
}

/** Starts the app in a page that has loaded. */
export async function startedIn(page: Page, options: object = {}): Promise<Tab> {
  await page.waitForFunction('globalThis.start')
  await page.evaluate('start')
  await page.evaluate(`start(${JSON.stringify(options)})`)
  return {
    page,
    send: (url, config = {}) => page.evaluate(`app.send(${JSON.stringify({ url, ...config })})`),
    events: (name) => page.evaluate(`app.events.filter(({ name }) => ${name === undefined} || name === '${name}')`),
    status: () => page.evaluate('app.tokens.status()'),
    until: async (condition) => void (await page.waitForFunction(condition, undefined, { polling: 20 })),
  }
}

/** If a token request takes longer than this, the other tabs assume that its tab is gone. No machine is that slow. */
export const EXCHANGE_LIMIT_MS = 300_000
/** In one tab, all of that time has passed, by both of its clocks. */
export const LATER = `[Date, performance].forEach((clock) => {
  const now = clock.now.bind(clock)
  clock.now = () => now() + ${2 * EXCHANGE_LIMIT_MS}
})`

const app = resolve('test/browser/app')
const node = (args: string[], cwd: string) => promisify(execFile)(process.execPath, args, { cwd, timeout: 540_000 })
const esbuild = resolve('node_modules', 'esbuild', 'bin', 'esbuild')
const vite = resolve('node_modules', 'vite', 'bin', 'vite.js')

/** Bundlers run as processes, because they are ESM only, or native. They run in the folder of the built package, where the app finds its imports. */
export const BUNDLE = {
  esbuild: (dir: string, format = 'esm') =>
    node([esbuild, 'main.mjs', '--bundle', `--format=${format}`, '--outfile=esbuild/main.js'], dir),
  async vite(dir: string) {
    const rollupOptions = { input: 'main.mjs', output: { entryFileNames: 'main.js' } }
    const config = { build: { outDir: 'vite', rollupOptions }, logLevel: 'error' }
    await writeFile(join(dir, 'vite.config.mjs'), `export default ${JSON.stringify(config)}`)
    await node([vite, 'build'], dir)
  },
}

/** One file of the app for a page, with the sources that it imports. */
export async function scriptOf(file: string): Promise<string> {
  return (await node([esbuild, join(app, file), '--bundle', '--format=iife'], '.')).stdout
}
