import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { PEERS, programsOf } from '../migrating/support/programs.ts'
import { type MigrationSite, startMigrationSite } from '../migrating/support/site.ts'
import { describeBrowser, FLAGS } from './support/browser.ts'

/** Requests before the change, and after it. */
const HALF = 220

/** A limit against hanging. */
const LIMIT_MS = 300_000

const started = (page: Page) => page.waitForFunction('globalThis.app')

/** The page navigates meanwhile. */
async function canSend(page: Page): Promise<void> {
  for (const end = Date.now() + LIMIT_MS; Date.now() < end;)
    if (await page.evaluate('globalThis.app?.canSend()').catch(() => false)) return
  throw new Error(`no login: ${page.url()}`)
}

describeBrowser.each(PEERS)('given a page that uses %s, whose users log in at oidc-provider', (peer) => {
  let browser: Browser
  let context: BrowserContext
  let site: MigrationSite
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
  })
  afterAll(() => browser.close())
  beforeEach(async () => {
    site = await startMigrationSite(await programsOf(peer), peer === 'auth0-spa-js' ? '/' : '')
    context = await browser.newContext()
    context.setDefaultTimeout(LIMIT_MS)
  })
  afterEach(async () => {
    await context.close()
    await site.close()
  })

  it('when the next release uses this package instead, then the user stays logged in, no request is lost, and the old tokens are gone', async () => {
    const page = await context.newPage()
    await page.goto(site.page)
    await started(page)
    await page.evaluate('void app.logIn()')
    await canSend(page)
    const stored = async () => page.evaluate<string[]>('Object.keys(localStorage)')
    const wrong = [await page.evaluate(`app.sendAll(0, ${HALF / 2})`)]
    await page.evaluate('app.renew()')
    wrong.push(await page.evaluate(`app.sendAll(${HALF / 2}, ${HALF})`))
    const before = await site.counts()
    expect(before).toMatchObject({ logins: 1, reuseAlarms: 0, rejected: 0, served: HALF })
    expect(before.refreshes).toBeGreaterThan(0)
    expect(await stored()).not.toEqual([])

    await site.deploy()
    await page.goto(site.page)
    await started(page)
    wrong.push(await page.evaluate(`app.sendAll(${HALF}, ${1.5 * HALF})`))
    await site.expireAccess()
    // A second start finds nothing to carry over.
    await page.reload()
    await started(page)
    wrong.push(await page.evaluate(`app.sendAll(${1.5 * HALF}, ${2 * HALF})`))
    expect(wrong.flat()).toEqual([])
    const after = await site.counts()
    expect(after).toMatchObject({ logins: 1, reuseAlarms: 0, served: 2 * HALF })
    // One for the refresh token that was adopted, one for the expired access token.
    expect(after.refreshes - before.refreshes).toBe(2)
    expect(await stored()).toEqual([])
  })
})
