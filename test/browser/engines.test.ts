import { expect, it } from '@jest/globals'
import { EXCHANGE_LIMIT_MS } from './support/browser.ts'
import { describeEngines } from './support/engine-stage.ts'
import { until } from './support/site.ts'

describeEngines('a page with a login', (stage) => {
  const grants = () => stage().site.calls.map(({ grant }) => grant)

  it('when a user logs in, then other tabs have the login, sealed with the same key of the browser, and renew it once', async () => {
    const { site, open } = stage()
    const [one, other] = [await open({ byLogin: true, seals: true }), await open({ byLogin: true, seals: true })]
    expect(await one.send()).toBe('ERR_LOGIN_REQUIRED')
    await one.evaluate('app.logIn()')
    expect([await one.send(), await other.send()]).toEqual([200, 200])
    await Promise.all([one, other].map(({ evaluate }) => evaluate('app.tokens.renew()')))
    expect([await one.send(), await other.send(), site.reused]).toEqual([200, 200, 0])
    expect(await other.events('anomaly')).toEqual([])
  })

  it.each([
    ['the service has not acted yet', 'unread', 0],
    ['the service has acted, and accepts a used refresh token for a while', undefined, EXCHANGE_LIMIT_MS],
  ] as const)(
    'when a tab is reloaded during a refresh, and %s, then the login continues, and the next page does not wait for the lease of the previous page (F245)',
    async (_, unread, reuseGraceMs) => {
      const { site, open } = stage()
      site.lifetimeMs = 10 * EXCHANGE_LIMIT_MS
      site.isForgiving = reuseGraceMs > 0
      const page = await open({ byLogin: { reuseGraceMs }, exchangeTimeoutMs: EXCHANGE_LIMIT_MS })
      await page.evaluate('app.logIn()')
      site.hold(unread)
      await page.evaluate('void app.tokens.renew().catch(() => undefined)')
      await until(() => site.calls.length === 2)
      await page.reload()
      site.release()
      // Without the lock of the previous page, this would take as long as its lease: more than a command may take.
      await page.evaluate('app.tokens.renew()')
      expect([await page.send(), site.reused, grants()]).toEqual([
        200,
        0,
        ['session', 'refresh_token', 'refresh_token'],
      ])
      expect(await page.events('suspicious')).toEqual([])
    },
  )

  it('when the browser denies storage, then a user can log in, and one event tells the page (F243)', async () => {
    const deny = `void (IDBFactory.prototype.open = () => { throw new DOMException('denied', 'SecurityError') })`
    const page = await stage().open({ byLogin: true, seals: true }, deny)
    expect(await page.send()).toBe('ERR_LOGIN_REQUIRED')
    await page.evaluate('app.logIn()')
    await page.evaluate('app.tokens.renew()')
    expect(await page.send()).toBe(200)
    expect(await page.events('anomaly')).toMatchObject([{ kind: 'storage-denied' }])
  })

  it('when a service worker makes the refresh, then the page has its tokens (F241)', async () => {
    const { site, open } = stage()
    const page = await open({ byLogin: true })
    await page.evaluate('app.logIn()')
    const outcome = await page.evaluate<[string]>(`(async () => {
      const answered = new Promise((resolve) => (navigator.serviceWorker.onmessage = ({ data }) => resolve(data)))
      const { installing, waiting, active } = await navigator.serviceWorker.register('/esbuild/main.js')
      const worker = installing ?? waiting ?? active
      worker.postMessage({ web: {}, byLogin: true, renews: true })
      return answered
    })()`)
    expect(outcome[0]).toBe('renewed')
    expect([await page.send(), site.reused]).toEqual([200, 0])
    expect(grants()).toEqual(['session', 'refresh_token'])
  })

  it('when the token endpoint returns 401 with a Basic challenge, then the browser shows no dialog (F242)', async () => {
    const { site, open } = stage()
    const page = await open({ byLogin: true, retry: { maxAttempts: 1 } })
    await page.evaluate('app.logIn()')
    site.failure = { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="x"' } }
    const ended = await page.evaluate(`app.tokens.renew().then(() => 'renewed', ({ code }) => code)`)
    // A page has no secret that could be wrong (F406).
    expect(ended).toBe('ERR_TOKEN_REQUEST')
  })
})
