import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { FLAGS, scriptOf } from './browser.ts'
import { type Site, startSite } from './site.ts'

/** One browser and one site for the suite. Each test has an empty profile, whose pages run the script. */
export function pagesOfSuite(
  name: string,
  timeoutMs?: number,
): { readonly site: Site; readonly context: BrowserContext } {
  const suite = {} as { browser: Browser; context: BrowserContext; script: string; site: Site }
  beforeAll(async () => {
    suite.script = await scriptOf(name)
    suite.browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
    suite.site = await startSite('.')
  })
  afterAll(async () => {
    await suite.browser.close()
    await suite.site.close()
  })
  beforeEach(async () => {
    suite.context = await suite.browser.newContext()
    if (timeoutMs !== undefined) suite.context.setDefaultTimeout(timeoutMs)
    await suite.context.addInitScript(suite.script)
  })
  afterEach(() => suite.context.close())
  return suite
}
