import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type BuiltPackage, buildPackage } from '../support/built-package.ts'
import { BUNDLE, EXCHANGE_LIMIT_MS } from './support/browser.ts'
import { type Engine, engines, type EngineTab } from './support/engines.mjs'
import { type Site, startSite, until } from './support/site.ts'

const start = (options: object) => `start(${JSON.stringify({ web: {}, ...options })})`
const ask = `app.send({ url: '/wallet' })`

const started = Object.entries(engines())
// Without any of them the suite is skipped, and the setup prints a line.
const describeEngines = started.length > 0 ? describe.each(started) : describe.skip.each([['no engine', undefined]])

describeEngines('given %s', (_, launch) => {
  let built: BuiltPackage
  let engine: Engine
  let site: Site
  beforeAll(async () => {
    built = await buildPackage()
    await copyFile(resolve('test/browser/app/main.mjs'), join(built.dir, 'main.mjs'))
    await BUNDLE.esbuild(built.dir)
    engine = await launch!()
  })
  afterAll(async () => {
    await engine.close()
    await built.remove()
  })
  beforeEach(async () => void (site = await startSite(built.dir)))
  afterEach(() => site.close())

  async function startedTab(options: object, before = 'undefined'): Promise<EngineTab> {
    const tab = await engine.open(`${site.origin}/esbuild`)
    await startedIn(tab, options, before)
    return tab
  }
  async function startedIn(tab: EngineTab, options: object, before = 'undefined'): Promise<void> {
    while (!(await tab.evaluate<boolean>(`typeof start === 'function'`)));
    await tab.evaluate(before)
    await tab.evaluate(start(options))
  }

  it('when a person logs in, then other tabs have the login, sealed with the same key of the browser, and renew it once', async () => {
    const [one, other] = [
      await startedTab({ byLogin: true, seals: true }),
      await startedTab({ byLogin: true, seals: true }),
    ]
    expect(await one.evaluate(ask)).toBe('ERR_LOGIN_REQUIRED')
    await one.evaluate('app.logIn()')
    expect([await one.evaluate(ask), await other.evaluate(ask)]).toEqual([200, 200])
    await Promise.all([one, other].map((tab) => tab.evaluate('app.tokens.renew()')))
    expect([await one.evaluate(ask), await other.evaluate(ask), site.reused]).toEqual([200, 200, 0])
    expect(await other.evaluate(`app.events.filter(({ name }) => name === 'anomaly')`)).toEqual([])
  })

  it('when a tab is reloaded in the middle of a refresh, then the next page does not wait for it (F245)', async () => {
    site.lifetimeMs = 10 * EXCHANGE_LIMIT_MS
    const tab = await startedTab({ exchangeTimeoutMs: EXCHANGE_LIMIT_MS })
    expect(await tab.evaluate(ask)).toBe(200)
    site.hold()
    await tab.evaluate('void app.tokens.renew().catch(() => undefined)')
    await until(() => site.calls.length === 2)
    await tab.reload()
    site.release()
    await startedIn(tab, { exchangeTimeoutMs: EXCHANGE_LIMIT_MS })
    // Without the lock of the page that is gone, this would take as long as its claim: more than the limit of this test.
    await tab.evaluate('app.tokens.renew()')
    expect([await tab.evaluate(ask), site.reused]).toEqual([200, 0])
  })

  it('when the browser denies storage, then a person can log in, and the page is told once (F243)', async () => {
    const deny = `void (IDBFactory.prototype.open = () => { throw new DOMException('denied', 'SecurityError') })`
    const tab = await startedTab({ byLogin: true, seals: true }, deny)
    expect(await tab.evaluate(ask)).toBe('ERR_LOGIN_REQUIRED')
    await tab.evaluate('app.logIn()')
    await tab.evaluate('app.tokens.renew()')
    expect(await tab.evaluate(ask)).toBe(200)
    const told = await tab.evaluate<{ kind: string }[]>(`app.events.filter(({ name }) => name === 'anomaly')`)
    expect(told.map(({ kind }) => kind)).toEqual(['storage-denied'])
  })

  it('when a service worker makes the refresh, then the page has its tokens (F241)', async () => {
    const tab = await startedTab({ byLogin: true })
    await tab.evaluate('app.logIn()')
    const outcome = await tab.evaluate<[string]>(`(async () => {
      const answered = new Promise((resolve) => (navigator.serviceWorker.onmessage = ({ data }) => resolve(data)))
      const { installing, waiting, active } = await navigator.serviceWorker.register('/esbuild/main.js')
      const worker = installing ?? waiting ?? active
      worker.postMessage({ web: {}, byLogin: true, renews: true })
      return answered
    })()`)
    expect(outcome[0]).toBe('renewed')
    expect([await tab.evaluate(ask), site.reused]).toEqual([200, 0])
    expect(site.calls.map(({ grant }) => grant)).toEqual(['session', 'refresh_token'])
  })

  it('when the token endpoint answers 401 with a Basic challenge, then no dialog is in the way (F242)', async () => {
    const tab = await startedTab({ byLogin: true, retry: { maxAttempts: 1 } })
    await tab.evaluate('app.logIn()')
    site.failure = { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="x"' } }
    const ended = await tab.evaluate(`app.tokens.renew().then(() => 'renewed', ({ code }) => code)`)
    expect(ended).toBe('ERR_CREDENTIALS_REJECTED')
  })
})
