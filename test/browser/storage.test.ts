import { expect, it } from '@jest/globals'
import { describeBrowser, stageOfSuite, startedIn } from './support/browser.ts'

/** Reads all values in the database. @param change Code that runs for each entry, with `value` and `put(value)`. */
const stored = (change = '') => `new Promise((resolve, reject) => {
  const request = indexedDB.open('axios-evergreen', 1)
  request.onerror = () => reject(request.error)
  request.onsuccess = () => {
    const records = request.result.transaction('records', 'readwrite').objectStore('records')
    const found = []
    records.openCursor().onsuccess = ({ target: { result: at } }) => {
      if (!at) { request.result.close(); return resolve(found.join()) }
      const { value, until } = at.value
      const put = (changed) => at.update({ value: changed, until })
      found.push(value)
      ${change}
      at.continue()
    }
  }
})`

describeBrowser('given stored tokens', () => {
  const stage = stageOfSuite()

  it('when no key is given, then that they can be read is told', async () => {
    const { page, send, events } = await stage().open({ web: {} })
    await send('/wallet')
    expect(await page.evaluate(stored())).toContain('refresh-1')
    expect(await events('anomaly')).toMatchObject([{ kind: 'stored-tokens-readable' }])
  })

  it('when they are sealed with a key of the browser, then other tabs use them, and nobody reads them', async () => {
    const { site, open } = stage()
    const first = await open({ web: {}, seals: true })
    await first.send('/wallet')
    const second = await open({ web: {}, seals: true })
    expect(await second.send('/wallet')).toBe(200)
    const text = await second.page.evaluate(stored())
    expect(text).toContain('"kid":"page"')
    expect(text).not.toMatch(/access-|refresh-/)
    expect(site.calls).toHaveLength(1)
    expect([...(await first.events()), ...(await second.events())].map(({ name }) => name)).toEqual([
      'renewed',
      'renewed',
    ])
  })

  it('when the user clears them, then what lives goes on, and the next renewal begins anew', async () => {
    const { site, context, open } = stage()
    const { page, send, events } = await open({ web: {} })
    await send('/wallet')
    const session = await context.newCDPSession(page)
    await session.send('Storage.clearDataForOrigin', { origin: site.origin, storageTypes: 'all' })
    expect(await send('/wallet')).toBe(200)
    expect(site.calls).toHaveLength(1)
    await page.evaluate('app.tokens.renew()')
    expect(await send('/wallet')).toBe(200)
    expect(site.calls.map(({ grant }) => grant)).toEqual(['session', 'session'])
    expect([site.reused, await events('suspicious')]).toEqual([0, []])
  })

  it.each([
    ['fills them with garbage', `put('garbage')`, 'session,session', false],
    ['is of a newer release', `put(JSON.stringify({ schema: 99 }))`, 'session,session', true],
  ])('when another script %s, then this tab has tokens, and is told once', async (_, change, grants, isLeftAlone) => {
    const { site, open } = stage()
    const { page, send, events } = await open({ web: {} })
    await send('/wallet')
    await page.evaluate(stored(change))
    await page.evaluate('app.tokens.renew()')
    expect(await send('/wallet')).toBe(200)
    expect(site.calls.map(({ grant }) => grant).join()).toBe(grants)
    const told = await events('anomaly')
    expect(told.map(({ kind }) => kind)).toEqual(['stored-tokens-readable', 'stored-tokens-unusable'])
    const after = await page.evaluate<string>(stored())
    expect(after.includes('"schema":99')).toBe(isLeftAlone)
    expect(site.reused).toBe(0)
  })

  it('when the storage is full, then this tab has tokens, and is told once what to do; once there is space, other tabs have them', async () => {
    const { site, context, open } = stage()
    const { page, send, events } = await open()
    const session = await context.newCDPSession(page)
    const { origin } = site
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 })
    await startedIn(page, { web: {} })
    expect(await send('/wallet')).toBe(200)
    await page.evaluate('app.tokens.renew()')
    expect(await send('/wallet')).toBe(200)
    expect(await events('storeUnavailable')).toMatchObject([{ message: expect.stringContaining('QuotaExceededError') }])
    expect(await page.evaluate(stored())).toBe('')
    await session.send('Storage.overrideQuotaForOrigin', { origin })
    await page.evaluate('app.tokens.renew()')
    const second = await open({ web: {} })
    expect(await second.send('/wallet')).toBe(200)
    expect(site.calls.map(({ grant }) => grant)).toEqual(['session', 'refresh_token', 'session'])
    expect([site.reused, await events('storeUnavailable')]).toMatchObject([0, [{}]])
  })

  it('when the browser denies storage, then this tab has tokens, and is told once what to do', async () => {
    const { context, open, site } = stage()
    await context.addInitScript(
      `IDBFactory.prototype.open = () => { throw new DOMException('denied', 'SecurityError') }`,
    )
    const { page, send, events } = await open({ web: {} })
    expect(await send('/wallet')).toBe(200)
    await page.evaluate('app.tokens.renew()')
    expect(await send('/wallet')).toBe(200)
    expect(await events('storeUnavailable')).toMatchObject([{ message: expect.stringContaining('allow cookies') }])
    expect(site.calls.map(({ grant }) => grant)).toEqual(['session', 'refresh_token'])
  })
})
