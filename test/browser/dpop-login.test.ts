import { afterEach, beforeEach, expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { startStrictServer, type StrictServer } from '../dpop/support/strict-server.ts'
import { describeBrowser } from './support/browser.ts'
import { pagesOfSuite } from './support/pages-of-suite.ts'

const BODIES = Array.from({ length: 20 }, (_, n) => String(n)).sort()
const OK = Array<number>(20).fill(200)

describeBrowser('given a page, and a server of another origin that binds tokens to the key of the page', () => {
  const suite = pagesOfSuite('dpop-login.mjs', 300_000)
  let server: StrictServer
  beforeEach(async () => {
    server = await startStrictServer(() => Date.now())
    server.demands.api = server.demands.token = 'latest'
  })
  afterEach(() => server.end())
  const opened = async () => {
    const page = await suite.context.newPage()
    await page.goto(suite.site.origin)
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
