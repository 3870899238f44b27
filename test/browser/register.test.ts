import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { tokenRegisterChecks } from '../../tools/testing/index.ts'
import type { TokenRegister } from '../../src/store/index.ts'
import { describeBrowser, FLAGS, scriptOf } from './support/browser.ts'
import { type Site, startSite } from './support/site.ts'

describeBrowser('given the browser register, in four tabs', () => {
  let browser: Browser
  let context: BrowserContext
  let site: Site
  const pages: Page[] = []
  beforeAll(async () => {
    site = await startSite('.')
    browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
    context = await browser.newContext()
    await context.addInitScript(await scriptOf('register.mjs'))
    for (let n = 0; n < 4; n += 1) {
      const page = await context.newPage()
      await page.goto(site.origin)
      pages.push(page)
    }
  })
  afterAll(async () => {
    await browser.close()
    await site.close()
  })

  let opened = 0
  /** A register whose methods run in a tab. */
  const create = async () => {
    const page = pages[(opened += 1) % pages.length]!
    const call = (method: string, ...args: unknown[]) =>
      page.evaluate(
        ([method, args]) =>
          (globalThis as unknown as { register: Record<string, (...args: unknown[]) => unknown> }).register[method]!(
            ...args.map((arg) => arg ?? undefined),
          ),
        [method, args] as const,
      )
    const register = {
      kind: 'web',
      read: (key: string) => call('read', key),
      replace: (...args: Parameters<TokenRegister['replace']>) => call('replace', ...args),
    }
    return { register: register as TokenRegister }
  }

  it.each(tokenRegisterChecks(create))('then $name (F187)', ({ run }) => run())

  it('then watchers are notified of a change in another tab, and no longer after they have stopped', async () => {
    const [here, there] = pages as [Page, Page]
    // `evaluate` awaits the result, so the result must not be a promise that waits for the next step.
    const run = (steps: string) => here.evaluate(`(() => { ${steps} })()`)
    await run('globalThis.heard = new Promise((heard) => { globalThis.stop = register.watch(heard) })')
    await there.evaluate(`register.replace('watched', undefined, 'a', 60_000)`)
    await here.evaluate('heard')
    await run('stop(); register.watch(() => { globalThis.other = true })')
    await run('globalThis.again = false; register.watch(() => { again = true })()')
    await there.evaluate(`register.replace('watched', 'a', 'b', 60_000)`)
    await here.waitForFunction('globalThis.other')
    expect(await here.evaluate('again')).toBe(false)
  })

  it('then expired values are deleted, and what another script stored there counts as absent', async () => {
    const [page] = pages as [Page]
    const stored = `new Promise((resolve) => {
      const request = indexedDB.open('axios-evergreen', 1)
      request.onsuccess = () => {
        const records = request.result.transaction('records', 'readwrite').objectStore('records')
        records.put(42, 'number'); records.put({ value: 'x' }, 'endless'); records.put({ value: 'a', until: 1 }, 'ended')
        records.getAllKeys().onsuccess = ({ target }) => { request.result.close(); resolve(target.result) }
      }
    })`
    expect(await page.evaluate(stored)).toEqual(expect.arrayContaining(['ended', 'number', 'endless']))
    expect(await page.evaluate(`register.read('number').then(({ value }) => value)`)).toBeUndefined()
    expect(await page.evaluate(`register.read('ended').then(({ value }) => value)`)).toBeUndefined()
    await page.evaluate(`register.replace('living', undefined, 'a', 60_000)`)
    expect(await page.evaluate(stored.replace(/records\.put.*\n/, '\n'))).not.toEqual(expect.arrayContaining(['ended']))
  })
})
