// Chromium by the DevTools protocol, and Firefox by WebDriver BiDi.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import puppeteer from 'puppeteer-core'
import { killOneOf } from './own-processes.mjs'

/** A limit against hanging. */
const LIMIT_MS = 300_000

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync']

/** @param settings `profile`: see `PROFILES`; `discards`: whether tabs can be discarded. */
export async function startChromium(executablePath, { profile, discards = false } = {}) {
  const temporary = mkdtempSync(join(tmpdir(), 'chromium-'))
  const denied = { profile: { default_content_setting_values: { cookies: 2 } } }
  if (profile === 'denied') written(join(temporary, 'Default'), { Preferences: denied })
  const userDataDir = profile === 'denied' ? temporary : undefined
  const enableExtensions = discards && [discarder(join(temporary, 'extension'))]
  const options = { executablePath, protocolTimeout: LIMIT_MS, pipe: true, args: FLAGS, userDataDir, enableExtensions }
  const browser = await puppeteer.launch(options)
  const [first] = await browser.pages()
  const session = await first.createCDPSession()
  const window = profile === 'private' ? await browser.createBrowserContext() : browser
  const tabs = new Set()
  return {
    name: 'chromium',
    version: (await browser.version()).replace(/^.*\//, ''),
    async open(address) {
      const page = await window.newPage()
      const own = await page.createCDPSession()
      tabs.add(page)
      await page.goto(address)
      return {
        ...commandsOf(page, window),
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
    async close() {
      await browser.close()
      rmSync(temporary, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** What the user has set, by profile. In Chromium, service workers have their usual time. */
const PROFILES = {
  denied: { 'network.cookie.cookieBehavior': 2 },
  private: { 'browser.privatebrowsing.autostart': true },
  workers: { 'dom.serviceWorkers.idle_timeout': 1_000, 'dom.serviceWorkers.idle_extended_timeout': 1_000 },
}

export async function startFirefox(executablePath, { profile, discards = false } = {}) {
  const extraPrefsFirefox = PROFILES[profile] ?? {}
  const options = { browser: 'firefox', executablePath, headless: true, protocolTimeout: LIMIT_MS, extraPrefsFirefox }
  const browser = await puppeteer.launch(options)
  const temporary = mkdtempSync(join(tmpdir(), 'firefox-'))
  if (discards) await browser.installExtension(discarder(temporary))
  return {
    name: 'firefox',
    version: (await browser.version()).replace(/^.*\//, ''),
    async open(address) {
      const page = await browser.newPage()
      await page.goto(address)
      // Tabs of one site share a few processes, and no command tells which tab has which.
      return { ...commandsOf(page, browser), crash: async () => killOneOf(browser.process().pid, / tab$/) }
    },
    async close() {
      await browser.close()
      rmSync(temporary, { recursive: true, force: true })
    },
  }
}

const commandsOf = (page, window) => ({
  evaluate: (expression) => page.evaluate(expression),
  reload: () => page.reload(),
  close: () => page.close(),
  /** As the browser does it to a hidden tab if memory is short. */
  async discard() {
    const front = await window.newPage()
    await front.bringToFront()
    // It may be discarded before it responds.
    await page.evaluate(`void (document.title = 'discard')`).catch(() => undefined)
    return front
  },
})

/** An extension that discards the tabs with that title. Protocols have no command for it. */
function discarder(folder) {
  const manifest = {
    ...{ manifest_version: 3, name: 'Discards tabs', version: '1', permissions: ['tabs'] },
    ...{ host_permissions: ['http://127.0.0.1/*'] },
    background: { service_worker: 'background.js', scripts: ['background.js'] },
    browser_specific_settings: { gecko: { id: 'discards@example.com' } },
  }
  const script = `chrome.tabs.onUpdated.addListener((id, { title }) => title === 'discard' && chrome.tabs.discard(id))`
  written(folder, { 'manifest.json': manifest, 'background.js': script })
  return folder
}

function written(folder, files) {
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
}
