import { expect, it } from '@jest/globals'
import {
  describeBrowser,
  EXCHANGE_LIMIT_MS,
  LATER,
  type Stage,
  stageOfSuite,
  startedIn,
  type Tab,
} from './support/browser.ts'
import { type Site, until } from './support/site.ts'

const web = { web: {}, exchangeTimeoutMs: EXCHANGE_LIMIT_MS }

/** Expects that each refresh token was presented once at most. */
function expectOnce({ calls, reused }: Site): void {
  const presented = calls.flatMap(({ refreshToken }) => refreshToken ?? [])
  expect([reused, new Set(presented).size]).toEqual([0, presented.length])
}

const openTabs = async ({ open }: Stage, count: number, options: object = web): Promise<Tab[]> => {
  const tabs: Tab[] = []
  for (let n = 0; n < count; n += 1) tabs.push(await open(options))
  return tabs
}

describeBrowser('given several tabs', () => {
  const stage = stageOfSuite()

  it('when all start at once, and go on, then they make the token calls of one (F187)', async () => {
    const { site } = stage()
    site.lifetimeMs = 6_000
    const tabs = await openTabs(stage(), 4, { web: {}, renewal: { keepWarm: 'always' } })
    expect(await Promise.all(tabs.map(({ send }) => send('/wallet')))).toEqual(Array(4).fill(200))
    // All tabs have to renew at the same time, again and again.
    while (site.calls.length < 5) {
      const statuses = await Promise.all(tabs.map(({ send }) => send('/wallet')))
      expect(statuses).toEqual(Array(4).fill(200))
    }
    expectOnce(site)
    const told = await Promise.all(tabs.map(({ events }) => events('suspicious')))
    expect(told.flat()).toEqual([])
    const statuses = await Promise.all(tabs.map(({ status }) => status()))
    const sum = (name: string) => statuses.reduce((total, { counts }) => total + counts[name]!, 0)
    // Chance decides which tab makes a call. At least the first token is adopted by the three other tabs.
    expect([sum('obtains'), site.calls.filter(({ grant }) => grant === 'session').length]).toEqual([1, 1])
    expect(sum('adoptions')).toBeGreaterThanOrEqual(3)
  })

  it('when a tab is reloaded, then it has the token of before, without a token call', async () => {
    const { site, open } = stage()
    const { page, send } = await open(web)
    await send('/wallet')
    await page.reload()
    const again = await startedIn(page, web)
    expect(await again.send('/wallet')).toBe(200)
    expect(site.calls).toHaveLength(1)
  })

  it.each(['closed', 'crashed', 'frozen'])(
    'when a tab is %s in the middle of a refresh, then another has a token, and the refresh token is presented once (F187)',
    async (fate) => {
      const { site, context } = stage()
      site.lifetimeMs = 10 * EXCHANGE_LIMIT_MS
      const [first, second] = (await openTabs(stage(), 2)) as [Tab, Tab]
      await first.send('/wallet')
      expect(await second.send('/wallet')).toBe(200)
      site.hold()
      void first.page.evaluate('app.tokens.renew()').catch(() => undefined)
      await until(() => site.calls.length === 2)
      if (fate === 'closed') await first.page.close()
      else if (fate === 'frozen') {
        const standStill = `(() => { const at = new XMLHttpRequest(); at.open('GET', '/frozen', false); at.send() })()`
        void first.page.evaluate(standStill).catch(() => undefined)
        await until(() => site.isFrozen)
      } else {
        const crashed = new Promise((resolve) => first.page.once('crash', resolve))
        const session = await context.newCDPSession(first.page)
        void session.send('Page.crash').catch(() => undefined)
        await crashed
      }
      // The answer for the first tab is lost, or waits until that tab thaws. The second tab cannot know which.
      await second.page.evaluate(LATER)
      const renewed = second.page.evaluate(`app.tokens.renew().then(() => app.send({ url: '/wallet' }))`)
      await until(() => site.calls.length === 3)
      site.release()
      expect(await renewed).toBe(200)
      expect(site.calls.map(({ grant }) => grant)).toEqual(['session', 'refresh_token', 'session'])
      if (fate === 'frozen') {
        site.thaw()
        await first.until('!app.tokens.status().renewing')
        expect(await first.send('/wallet')).toBe(200)
      }
      expectOnce(site)
      expect(await second.events('suspicious')).toEqual([])
    },
  )

  it('when the browser comes back online, then a token comes at once, without a request (F186)', async () => {
    const { site, context, open } = stage()
    const { page, send, status, until: comes } = await open({ ...web, retry: { maxAttempts: 1 } })
    await send('/wallet')
    await context.setOffline(true)
    await page.evaluate('app.tokens.reset().catch(() => undefined)')
    expect(await send('/wallet')).toBe('ERR_TOKEN_SERVICE_UNAVAILABLE')
    expect(await status()).toMatchObject({ phase: 'cooling-down' })
    const { nextAttemptAt = 0 } = await status()
    await context.setOffline(false)
    await comes(`app.tokens.status().phase === 'fresh'`)
    const [last] = await page.evaluate<{ name: string; because: string }[]>('app.events.slice(-1)')
    expect([last, nextAttemptAt > 0]).toMatchObject([{ name: 'renewed', because: 'forced' }, true])
    expect(await send('/wallet')).toBe(200)
    expect(site.reused).toBe(0)
  })

  it('when a worker uses the store, then it has the token of the page (F187)', async () => {
    const { site, open } = stage()
    const { page, send } = await open(web)
    await send('/wallet')
    const answered = await page.evaluate(`new Promise((resolve) => {
      const worker = new Worker('/esbuild/main.js', { type: 'module' })
      worker.onmessage = ({ data }) => resolve(data)
      worker.postMessage({ web: {} })
    })`)
    expect(answered).toMatchObject([200, { obtains: 0, refreshes: 0, adoptions: 1 }])
    expect(site.calls).toHaveLength(1)
  })
})
