import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { describeBrowser, FLAGS } from './support/browser.ts'

const TYPEDOC = 'scripts/site/node_modules/typedoc/bin/typedoc'

describeBrowser('given the site of the documents', () => {
  let site: string
  let browser: Browser
  beforeAll(async () => {
    site = mkdtempSync(join(tmpdir(), 'evergreen-site-'))
    execFileSync(process.execPath, ['scripts/lib/installed.mjs', 'scripts/site'], { stdio: 'ignore' })
    execFileSync(process.execPath, [TYPEDOC, '--out', site], { stdio: 'ignore' })
    browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
  })
  afterAll(async () => {
    await browser.close()
    rmSync(site, { recursive: true })
  })

  /** Opens each page, and gives what `look` says of it, if anything. */
  async function lookedAt(width: number, look: (page: Page) => Promise<unknown>): Promise<Record<string, unknown>> {
    const page = await browser.newPage({ viewport: { width, height: 800 } })
    const found: Record<string, unknown> = {}
    for (const name of readdirSync(site, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.html')) continue
      await page.goto(pathToFileURL(join(site, name)).href)
      const seen = await look(page)
      if (seen !== undefined) found[name] = seen
    }
    await page.close()
    return found
  }

  it.each([1_280, 390])('when its pages are opened %i px wide, then none is wider than the screen', async (width) => {
    // As a text: the types of a page are not those of Node.
    const tooWide =
      'document.documentElement.scrollWidth > innerWidth ? document.documentElement.scrollWidth : undefined'
    expect(await lookedAt(width, (page) => page.evaluate(tooWide))).toEqual({})
  })

  it('when a table does not fit a narrow screen, then it scrolls inside itself', async () => {
    const scrolling = `[...document.querySelectorAll('table')].some((table) => table.scrollWidth > table.clientWidth) || undefined`
    expect(Object.keys(await lookedAt(390, (page) => page.evaluate(scrolling)))).not.toEqual([])
  })

  it('when a page is opened, then it has an icon', async () => {
    const page = await browser.newPage()
    await page.goto(pathToFileURL(join(site, 'index.html')).href)
    const href = await page.evaluate<string>(`document.querySelector('link[rel="icon"]').href`)
    expect(new URL(href).pathname).toMatch(/\.svg$/)
    await page.close()
  })
})
