import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { startStrictServer, type StrictServer } from '../dpop/support/strict-server.ts'
import { describeBrowser, FLAGS, scriptOf } from './support/browser.ts'
import { type Site, startSite } from './support/site.ts'

const BODIES = Array.from({ length: 20 }, (_, n) => String(n)).sort()
const OK = Array<number>(20).fill(200)

describeBrowser('given a page, and a server of another origin that binds tokens to the key of the page', () => {
  let browser: Browser
  let context: BrowserContext
  let script: string
  let site: Site
  let server: StrictServer
  beforeAll(async () => {
    script = await scriptOf('dpop-login.mjs')
    browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
    site = await startSite('.')
  })
  afterAll(async () => {
    await browser.close()
    await site.close()
  })
  beforeEach(async () => {
    server = await startStrictServer(() => Date.now())
    server.demands.api = server.demands.token = 'latest'
    context = await browser.newContext()
    context.setDefaultTimeout(300_000)
    await context.addInitScript(script)
  })
  afterEach(async () => {
    await context.close()
    await server.end()
  })
  const opened = async () => {
    const page = await context.newPage()
    await page.goto(site.origin)
    return started(page)
  }
  const started = async (page: Page) => {
    await page.evaluate(`start(${JSON.stringify({ origin: server.origin, tokenEndpoint: server.tokenEndpoint })})`)
    return page
  }
  const posted = (page: Page) => page.evaluate<number[]>('app.post()')
  const logIn = async (page: Page) => {
    const refreshToken = server.logIn(await page.evaluate<string>('app.thumbprint()'))
    await page.evaluate(`app.logIn(${JSON.stringify(refreshToken)})`)
  }
  const refreshes = () => server.tokenCalls.filter((call) => call === 'refresh_token 200').length

  it('when twenty requests of both clients are sent, also after the API rejected their token, then all succeed, with one renewal each time', async () => {
    const page = await opened()
    await logIn(page)
    expect(await posted(page)).toEqual(OK)
    expect([refreshes(), server.bodies.splice(0).sort()]).toEqual([1, BODIES])
    server.revokeAccessTokens()
    server.changeNonces()
    expect(await posted(page)).toEqual(OK)
    expect([refreshes(), server.bodies.sort()]).toEqual([2, BODIES])
    expect(server.strangers).toEqual([])
  })

  it('when it is reloaded, and another tab is opened, then both have the key and its tokens, and no user logs in', async () => {
    const page = await opened()
    await logIn(page)
    await posted(page)
    await page.reload()
    const pages = [await started(page), await opened()]
    const thumbprints = await Promise.all(pages.map((one) => one.evaluate<string>('app.thumbprint()')))
    expect(new Set(thumbprints).size).toBe(1)
    expect(await Promise.all(pages.map(posted))).toEqual([OK, OK])
    expect([refreshes(), server.strangers]).toEqual([1, []])
  })
})
