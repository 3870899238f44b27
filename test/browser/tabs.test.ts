import { expect, it } from '@jest/globals'
import { describeBrowser, EXCHANGE_LIMIT_MS, LATER, stageOfSuite } from './support/browser.ts'
import { type App, describeEngines, type EngineStage } from './support/engine-stage.ts'
import { type Site, until } from './support/site.ts'

const LONG = { exchangeTimeoutMs: EXCHANGE_LIMIT_MS }

/** Expects that each refresh token was presented at most once. */
function expectOnce({ calls, reused }: Site): void {
  const presented = calls.flatMap(({ refreshToken }) => refreshToken ?? [])
  expect([reused, new Set(presented).size]).toEqual([0, presented.length])
}

const openTabs = async ({ open }: EngineStage, count: number, options: object = LONG): Promise<App[]> => {
  const tabs: App[] = []
  for (let n = 0; n < count; n += 1) tabs.push(await open(options))
  return tabs
}

/** What happens to a tab during its refresh. */
const FATES = {
  closed: ({ tab }: App) => tab.close(),
  crashed: ({ tab }: App) => tab.crash!(),
  async frozen({ evaluate }: App, { site }: EngineStage) {
    const still = `void setTimeout(() => { const at = new XMLHttpRequest(); at.open('GET', '/frozen', false); at.send() })`
    await evaluate(still)
    await until(() => site.isFrozen)
  },
}

describeEngines('several tabs', (stage, name) => {
  it('when all start at once, and keep running, then they make the token requests of one (F187)', async () => {
    const { site } = stage()
    site.lifetimeMs = 6_000
    const tabs = await openTabs(stage(), 4, { renewal: { keepWarm: 'always' } })
    const sendAll = () => Promise.all(tabs.map(({ send }) => send()))
    expect(await sendAll()).toEqual(Array(4).fill(200))
    // All tabs have to renew at the same time, repeatedly.
    while (site.calls.length < 5) expect(await sendAll()).toEqual(Array(4).fill(200))
    expectOnce(site)
    const told = await Promise.all(tabs.map(({ events }) => events('suspicious')))
    expect(told.flat()).toEqual([])
    const counts = await Promise.all(
      tabs.map(({ evaluate }) => evaluate<Record<string, number>>('app.tokens.status().counts')),
    )
    const sum = (of: string) => counts.reduce((total, one) => total + one[of]!, 0)
    // Chance decides which tab makes a call. At least the first token is adopted by the three other tabs.
    expect([sum('obtains'), site.calls.filter(({ grant }) => grant === 'session').length]).toEqual([1, 1])
    expect(sum('adoptions')).toBeGreaterThanOrEqual(3)
  })

  it('when a tab is reloaded, then it has the same token, without a token request', async () => {
    const { site, open } = stage()
    const page = await open(LONG)
    await page.send()
    await page.reload()
    expect([await page.send(), site.calls.length]).toEqual([200, 1])
  })

  // A process of Firefox with several tabs would crash, and the driver of WebKit ends with the first crash.
  const fates = name === 'chromium' ? (['closed', 'crashed', 'frozen'] as const) : (['closed', 'frozen'] as const)
  it.each(fates)(
    'when a tab is %s during a refresh, then another has a token, and the refresh token is presented once (F187)',
    async (fate) => {
      const { site } = stage()
      site.lifetimeMs = 10 * EXCHANGE_LIMIT_MS
      const [first, second] = (await openTabs(stage(), 2)) as [App, App]
      await first.send()
      expect(await second.send()).toBe(200)
      site.hold()
      await first.evaluate('void app.tokens.renew().catch(() => undefined)')
      await until(() => site.calls.length === 2)
      await FATES[fate](first, stage())
      // The response for the first tab is lost, or waits until that tab thaws. The second tab cannot know which.
      await second.evaluate(LATER)
      await second.evaluate(`void (globalThis.renewed = app.tokens.renew())`)
      await until(() => site.calls.length === 3)
      site.release()
      await second.evaluate('renewed')
      expect(await second.send()).toBe(200)
      expect(site.calls.map(({ grant }) => grant)).toEqual(['session', 'refresh_token', 'session'])
      if (fate === 'frozen') {
        site.thaw()
        while (await first.evaluate('app.tokens.status().renewing'));
        expect(await first.send()).toBe(200)
      }
      expectOnce(site)
      expect(await second.events('suspicious')).toEqual([])
    },
  )

  it('when a worker uses the store, then it has the token of the page (F187)', async () => {
    const { site, open } = stage()
    const { evaluate, send } = await open(LONG)
    await send()
    const answered = await evaluate(`new Promise((resolve) => {
      const worker = new Worker('/esbuild/main.js', { type: 'module' })
      worker.onmessage = ({ data }) => resolve(data)
      worker.postMessage({ web: {} })
    })`)
    expect(answered).toMatchObject([200, { obtains: 0, refreshes: 0, adoptions: 1 }])
    expect(site.calls).toHaveLength(1)
  })
})

describeBrowser('given a tab of Chromium, which can be taken offline', () => {
  const stage = stageOfSuite()

  it('when the browser comes back online, then a token arrives at once, without a request (F186)', async () => {
    const { site, context, open } = stage()
    const { page, send, status, until: comes } = await open({ web: {}, ...LONG, retry: { maxAttempts: 1 } })
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
})
