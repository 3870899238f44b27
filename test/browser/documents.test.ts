import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { part } from '../support/part.ts'
import { describeBrowser, FLAGS } from './support/browser.ts'

const WIDTHS = [1_280, 360]
/** As text, because the types of a page are not those of Node. */
const LOOK = `({
  isTooWide: document.documentElement.scrollWidth > innerWidth,
  scrolls: [...document.querySelectorAll('table')].some((table) => table.scrollWidth > table.clientWidth),
})`
/** What readers with a problem, or in the night, search for, by the page that they need. */
const WORDS = {
  bff: ['cookie'],
  doctor: ['429', 'certificate', 'proxy'],
  errors: ['milliseconds', 'none-yet', 'replaced'],
  failover: ['failover', 'READONLY', 'restored', 'prefix', 'store-restored'],
  fleet: ['redis', 'MISCONF'],
  frameworks: ['session', 'vue'],
  logins: ['logins', 'logout', 'log in again'],
  managers: ['managers'],
  'migrating_auth0-spa-js': ['auth0'],
  'migrating_keycloak-js': ['keycloak'],
  migrating_msal: ['msal'],
  'migrating_oidc-client-ts': ['oidc-client'],
  migrating_supabase: ['supabase'],
  oauth2: ['invalid_grant'],
  operations: ['ENOTFOUND', 'readiness'],
  places: ['electron', 'graphql'],
  renewal: ['clock', 'unexpected-lifetime'],
  resources: ['audience', 'forResource', 'resources', 'scope'],
  serverless: ['lambda'],
  suspicious: ['fingerprint', 'theft'],
  'works-with': ['nest'],
  'your-tests': ['jest'],
}
const TYPEDOC = 'scripts/site/node_modules/typedoc/bin/typedoc'

/** @returns A folder of its own. The gate has a site already, and passes its folder as `SITE`. */
function built(): string {
  const site = mkdtempSync(join(tmpdir(), 'evergreen-site-'))
  execFileSync(process.execPath, ['scripts/lib/installed.mjs', 'scripts/site'], { stdio: 'ignore' })
  execFileSync(process.execPath, [TYPEDOC, '--out', site], { stdio: 'ignore' })
  return site
}

/** Pages of the API are made from one template. The gate opens some of each kind. */
const isOpened = (name: string, n: number) =>
  part(true, !/^(classes|functions|interfaces|types|variables)\//.test(name) || n % 5 === 0)

describeBrowser('given the site of the documents', () => {
  let site: string
  let browser: Browser
  beforeAll(async () => {
    site = process.env.SITE ?? built()
    browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
  })
  afterAll(async () => {
    await browser.close()
    if (process.env.SITE === undefined) rmSync(site, { recursive: true })
  })

  /** Opens each page once, several at a time. @returns the pages that are wider than a screen, and those with a scrolling table, as `page at width` */
  async function lookedAt(): Promise<{ tooWide: string[]; scrolling: string[] }> {
    const all = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(?<!^play)\.html$/.test(name),
    )
    expect(all.length).toBeGreaterThan(100)
    const names = all.sort().filter(isOpened)
    const found = { tooWide: [] as string[], scrolling: [] as string[] }
    const lookAtSome = async () => {
      const page = await browser.newPage()
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        await page.goto(pathToFileURL(join(site, name)).href)
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 })
          const { isTooWide, scrolls } = await page.evaluate<{ isTooWide: boolean; scrolls: boolean }>(LOOK)
          if (isTooWide) found.tooWide.push(`${name} at ${width}`)
          if (scrolls) found.scrolling.push(`${name} at ${width}`)
        }
      }
      await page.close()
    }
    await Promise.all(Array.from({ length: 4 }, lookAtSome))
    return found
  }

  it('when its pages are opened on a desktop and on a phone, then none is wider than the screen, and a wide table scrolls inside itself', async () => {
    const { tooWide, scrolling } = await lookedAt()
    expect(tooWide).toEqual([])
    expect(scrolling.filter((one) => one.endsWith('360'))).not.toEqual([])
  })

  it('when readers search for their words, then the page that they need is among the first three', async () => {
    const page = await browser.newPage()
    await page.goto(pathToFileURL(join(site, 'index.html')).href)
    await page.click('#tsd-search-trigger')
    const found = page.locator('#tsd-search-results a[href*="documents/"]')
    const missed: string[] = []
    for (const [name, words] of Object.entries(WORDS))
      for (const word of words) {
        await page.fill('#tsd-search-input', '')
        await found.first().waitFor({ state: 'detached' })
        await page.fill('#tsd-search-input', word)
        await found.first().waitFor()
        const addresses = await Promise.all((await found.all()).slice(0, 3).map((one) => one.getAttribute('href')))
        if (!addresses.some((one) => one?.endsWith(`/docs_${name}.html`))) missed.push(`${word}: ${addresses.join()}`)
      }
    expect(missed).toEqual([])
    await page.close()
  })

  it('when a page is opened, then it has an icon', async () => {
    const page = await browser.newPage()
    await page.goto(pathToFileURL(join(site, 'index.html')).href)
    const href = await page.evaluate<string>(`document.querySelector('link[rel="icon"]').href`)
    expect(new URL(href).pathname).toMatch(/\.svg$/)
    await page.close()
  })
})
