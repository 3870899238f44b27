// Chromium by the DevTools protocol, and Firefox by WebDriver BiDi.
import puppeteer from 'puppeteer-core'
import { killOneOf } from './own-processes.mjs'

/** A limit against hanging. */
const LIMIT_MS = 300_000

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync']

export async function startChromium(executablePath) {
  const browser = await puppeteer.launch({ executablePath, protocolTimeout: LIMIT_MS, pipe: true, args: FLAGS })
  const [first] = await browser.pages()
  const session = await first.createCDPSession()
  const tabs = new Set()
  return {
    name: 'chromium',
    version: (await browser.version()).replace(/^.*\//, ''),
    async open(address) {
      const page = await browser.newPage()
      const own = await page.createCDPSession()
      tabs.add(page)
      await page.goto(address)
      return {
        ...commandsOf(page),
        async close() {
          tabs.delete(page)
          await page.close()
        },
        crash: async () => void own.send('Page.crash').catch(() => undefined),
        freeze: () => own.send('Page.setWebLifecycleState', { state: 'frozen' }),
        thaw: () => own.send('Page.setWebLifecycleState', { state: 'active' }),
        async stopServiceWorkers() {
          await own.send('ServiceWorker.enable')
          await own.send('ServiceWorker.stopAllWorkers')
        },
      }
    },
    offline: async (isOffline) => void (await Promise.all([...tabs].map((page) => page.setOfflineMode(isOffline)))),
    quota: (origin, bytes) =>
      session.send('Storage.overrideQuotaForOrigin', { origin, ...(bytes !== undefined && { quotaSize: bytes }) }),
    clear: (origin) => session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' }),
    close: () => browser.close(),
  }
}

export async function startFirefox(executablePath, extraPrefsFirefox = {}) {
  const options = { browser: 'firefox', executablePath, headless: true, protocolTimeout: LIMIT_MS, extraPrefsFirefox }
  const browser = await puppeteer.launch(options)
  return {
    name: 'firefox',
    version: (await browser.version()).replace(/^.*\//, ''),
    async open(address) {
      const page = await browser.newPage()
      await page.goto(address)
      // Tabs of one site share a few processes, and no command tells which tab has which.
      return { ...commandsOf(page), crash: async () => killOneOf(browser.process().pid, / tab$/) }
    },
    close: () => browser.close(),
  }
}

const commandsOf = (page) => ({
  evaluate: (expression) => page.evaluate(expression),
  reload: () => page.reload(),
  close: () => page.close(),
})
