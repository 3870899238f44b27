// WebKitGTK, by the WebDriver protocol, in its own frame buffer. Its driver ends the session if a page crashes, so no tab has `crash`.
import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

/** A limit against hanging. */
const LIMIT_MS = 300_000
const BINARY = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser'
const RUN =
  'const done = arguments[1]; Promise.resolve((0, eval)(arguments[0])).then(v => done({ v }), e => done({ e: String(e) }))'

export async function startWebKit() {
  const port = 20_000 + (process.pid % 20_000)
  const driver = spawn('xvfb-run', ['-a', '/usr/bin/WebKitWebDriver', `--port=${port}`], {
    stdio: 'ignore',
    detached: true,
    // Its sandbox needs rights that a container does not give.
    env: { ...process.env, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', LIBGL_ALWAYS_SOFTWARE: '1' },
  })
  const call = caller(port)
  await ready(call)
  const wanted = { 'webkitgtk:browserOptions': { binary: BINARY, args: ['--automation'] } }
  const { sessionId, capabilities } = await call('POST', '/session', { capabilities: { alwaysMatch: wanted } })
  const at = `/session/${sessionId}`
  await call('POST', `${at}/timeouts`, { script: LIMIT_MS, pageLoad: LIMIT_MS })
  const base = await call('GET', `${at}/window`)
  const inTurn = oneAfterAnother()
  const inTab = (handle, step) =>
    inTurn(async () => {
      await call('POST', `${at}/window`, { handle })
      return step()
    })
  return {
    name: 'webkit',
    version: capabilities.browserVersion,
    async open(address) {
      // From the first window, because the current one may be closed.
      const { handle } = await inTab(base, () => call('POST', `${at}/window/new`, { type: 'tab' }))
      await inTab(handle, () => call('POST', `${at}/url`, { url: address }))
      return {
        async evaluate(expression) {
          const asked = { script: RUN, args: [expression] }
          const { v, e } = await inTab(handle, () => call('POST', `${at}/execute/async`, asked))
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

const caller = (port) => async (method, path, body) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    ...(method === 'POST' && { body: JSON.stringify(body ?? {}), headers: { 'Content-Type': 'application/json' } }),
  })
  const { value } = await answer.json()
  if (value?.error) throw new Error(`${value.error}: ${value.message}`)
  return value
}

async function ready(call) {
  for (let n = 0; n < 600; n += 1) {
    const isReady = await call('GET', '/status').then(
      () => true,
      () => false,
    )
    if (isReady) return
    await pause(50)
  }
}

/** WebDriver has one current window: commands for several tabs must not mix. */
function oneAfterAnother() {
  let last = Promise.resolve()
  return (step) => {
    const ended = last.then(step)
    last = ended.catch(() => undefined)
    return ended
  }
}
