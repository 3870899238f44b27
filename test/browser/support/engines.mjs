// Real browsers beside Chromium, with the few commands that tests of several engines need.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import puppeteer from 'puppeteer-core'

/** A limit against hanging. */
const LIMIT_MS = 300_000

/** @returns The browsers that this machine has, by name: functions that start one. */
export function engines() {
  const found = {}
  const firefox = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((file) => existsSync(file))
  if (firefox) found.firefox = (preferences) => startFirefox(firefox, preferences)
  if (existsSync('/usr/bin/WebKitWebDriver') && existsSync('/usr/bin/xvfb-run')) found.webkit = startWebKit
  return found
}

/** By WebDriver BiDi. */
async function startFirefox(executablePath, extraPrefsFirefox = {}) {
  const options = { browser: 'firefox', executablePath, headless: true, protocolTimeout: LIMIT_MS, extraPrefsFirefox }
  const browser = await puppeteer.launch(options)
  return {
    name: 'firefox',
    version: await browser.version(),
    async open(address) {
      const page = await browser.newPage()
      await page.goto(address)
      return {
        evaluate: (expression) => page.evaluate(expression),
        reload: () => page.reload(),
        close: () => page.close(),
      }
    },
    close: () => browser.close(),
  }
}

/** WebKitGTK, by the WebDriver protocol, in a frame buffer of its own. */
async function startWebKit() {
  const port = 20_000 + (process.pid % 20_000)
  const driver = spawn('xvfb-run', ['-a', '/usr/bin/WebKitWebDriver', `--port=${port}`], {
    stdio: 'ignore',
    detached: true,
    // Its sandbox needs rights that a container does not give.
    env: { ...process.env, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', LIBGL_ALWAYS_SOFTWARE: '1' },
  })
  const call = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(method === 'POST' && { body: JSON.stringify(body ?? {}), headers: { 'Content-Type': 'application/json' } }),
    })
    const { value } = await answer.json()
    if (value?.error) throw new Error(`${value.error}: ${value.message}`)
    return value
  }
  let ready = false
  for (let n = 0; n < 600 && !ready; n += 1) {
    ready = await call('GET', '/status').then(
      () => true,
      () => false,
    )
    if (!ready) await pause(50)
  }
  const binary = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser'
  const wanted = { 'webkitgtk:browserOptions': { binary, args: ['--automation'] } }
  const { sessionId, capabilities } = await call('POST', '/session', { capabilities: { alwaysMatch: wanted } })
  const at = `/session/${sessionId}`
  await call('POST', `${at}/timeouts`, { script: LIMIT_MS, pageLoad: LIMIT_MS })
  const base = await call('GET', `${at}/window`)
  // WebDriver has one current window: commands for several tabs must not mix.
  let last = Promise.resolve()
  const inTurn = (step) => {
    const ended = last.then(step)
    last = ended.catch(() => undefined)
    return ended
  }
  const inTab = (handle, step) =>
    inTurn(async () => {
      await call('POST', `${at}/window`, { handle })
      return step()
    })
  const run =
    'const done = arguments[1]; Promise.resolve((0, eval)(arguments[0])).then(v => done({ v }), e => done({ e: String(e) }))'
  return {
    name: 'webkit',
    version: `${capabilities.browserName} ${capabilities.browserVersion}`,
    async open(address) {
      // From the first window, because the current one may be closed.
      const { handle } = await inTab(base, () => call('POST', `${at}/window/new`, { type: 'tab' }))
      await inTab(handle, () => call('POST', `${at}/url`, { url: address }))
      return {
        async evaluate(expression) {
          const { v, e } = await inTab(handle, () =>
            call('POST', `${at}/execute/async`, { script: run, args: [expression] }),
          )
          if (e) throw new Error(e)
          return v ?? undefined
        },
        reload: () => inTab(handle, () => call('POST', `${at}/refresh`)),
        close: () => inTab(handle, () => call('DELETE', `${at}/window`)),
      }
    },
    async close() {
      await inTurn(() => call('DELETE', at)).catch(() => undefined)
      process.kill(-driver.pid, 'SIGTERM')
    },
  }
}
