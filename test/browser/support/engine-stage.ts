import { afterAll, afterEach, beforeAll, beforeEach, describe } from '@jest/globals'
import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type BuiltPackage, buildPackage } from '../../support/built-package.ts'
import { BUNDLE } from './browser.ts'
import { type Engine, engines, type EngineTab } from './engines.mjs'
import { type Site, startSite } from './site.ts'

/** What each test in an engine has for itself: a site, and tabs. */
export interface EngineStage {
  readonly engine: Engine
  readonly site: Site
  /** Opens a tab with the app in it. `before`: runs in the page before the app starts. */
  readonly open: (options?: object, before?: string) => Promise<App>
}

/** The app in a tab. */
export interface App {
  readonly tab: EngineTab
  /** @returns The status of the response, or the code of the error. */
  readonly send: () => Promise<number | string>
  readonly evaluate: EngineTab['evaluate']
  readonly events: (name: string) => Promise<Record<string, unknown>[]>
  /** Reloads the page, and starts the app. */
  readonly reload: () => Promise<void>
}

/** Runs a suite in each installed engine: `given firefox, ${given}`. */
export function describeEngines(given: string, suite: (stage: () => EngineStage, name: string) => void): void {
  const found = Object.entries(engines())
  // Without any of them the suite is skipped, and the setup prints a line.
  const describeEach = found.length > 0 ? describe.each(found) : describe.skip.each([['no engine', undefined] as const])
  describe('', () => {
    let built: BuiltPackage
    beforeAll(async () => {
      built = await buildPackage()
      await copyFile(resolve('test/browser/app/main.mjs'), join(built.dir, 'main.mjs'))
      await BUNDLE.esbuild(built.dir)
    })
    afterAll(() => built.remove())

    describeEach(`given %s, ${given}`, (name, launch) => {
      let engine: Engine
      let site: Site
      let opened: EngineTab[] = []
      beforeAll(async () => void (engine = await launch!()))
      afterAll(() => engine.close())
      beforeEach(async () => void (site = await startSite(built.dir)))
      afterEach(async () => {
        // Some are closed already, or have crashed.
        for (const tab of opened) await tab.close().catch(() => undefined)
        opened = []
        await site.close()
      })
      const open = async (options: object = {}, before?: string) => {
        const tab = await engine.open(`${site.origin}/esbuild`)
        opened.push(tab)
        return started(tab, options, before)
      }
      suite(() => ({ engine, site, open }), name)
    })
  })
}

async function started(tab: EngineTab, options: object, before = 'undefined'): Promise<App> {
  const begin = async () => {
    while (!(await tab.evaluate<boolean>(`typeof start === 'function'`)));
    await tab.evaluate(before)
    await tab.evaluate(`start(${JSON.stringify({ web: {}, ...options })})`)
  }
  await begin()
  return {
    tab,
    send: () => tab.evaluate(`app.send({ url: '/wallet' })`),
    evaluate: (expression) => tab.evaluate(expression),
    events: (name) => tab.evaluate(`app.events.filter(({ name }) => name === '${name}')`),
    async reload() {
      await tab.reload()
      await begin()
    },
  }
}
