import { expect, it } from '@jest/globals'
import { describeBrowser, EXCHANGE_LIMIT_MS, LATER, stageOfSuite } from './support/browser.ts'
import { loneBrowser } from './support/lone-browser.ts'
import { until } from './support/site.ts'

const PAGE = `
  import '/esbuild/main.js'
  document.addEventListener('freeze', () => void navigator.sendBeacon('/api/frozen'))
  await start({ web: {}, exchangeTimeoutMs: ${EXCHANGE_LIMIT_MS} })
  await app.send({ url: '/wallet' })
`

describeBrowser('given a tab that the browser freezes during a refresh', () => {
  const stage = stageOfSuite()

  it('then another tab has a token, and the frozen one adopts it when it thaws: the refresh token is presented once (F187)', async () => {
    const { site } = stage()
    site.lifetimeMs = 10 * EXCHANGE_LIMIT_MS
    site.scripts.set('/page', PAGE)
    const browser = await loneBrowser()
    const served = () => site.received.filter(({ path }) => path === '/api/wallet').length
    const openTab = async () => {
      const before = served()
      const tab = await browser.open(`${site.origin}/page`)
      await until(() => served() > before)
      return tab
    }
    try {
      const first = await openTab()
      const second = await openTab()
      site.hold()
      await first.evaluate('void app.tokens.renew().catch(() => undefined)')
      await until(() => site.calls.length === 2)
      await first.freeze()
      await until(() => site.received.some(({ path }) => path === '/api/frozen'))
      await second.evaluate(LATER)
      const renewed = second.evaluate<number>(`app.tokens.renew().then(() => app.send({ url: '/wallet' }))`)
      await until(() => site.calls.length === 3)
      site.release()
      expect(await renewed).toBe(200)
      await first.thaw()
      expect(await first.evaluate(`app.send({ url: '/wallet' })`)).toBe(200)
      expect(site.calls.map(({ grant }) => grant)).toEqual(['session', 'refresh_token', 'session'])
      expect(site.reused).toBe(0)
      for (const tab of [first, second])
        expect(await tab.evaluate(`app.events.filter(({ name }) => name === 'suspicious').length`)).toBe(0)
    } finally {
      await browser.close()
    }
  })
})
