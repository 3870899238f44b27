import { expect, it } from '@jest/globals'
import { describeEngines } from './support/engine-stage.ts'

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

const CLEAR = `new Promise((resolve) => (indexedDB.deleteDatabase('axios-evergreen').onsuccess = () => resolve('deleted')))`

describeEngines('stored tokens', (stage, name) => {
  const grants = () => stage().site.calls.map(({ grant }) => grant)

  it('when no key is given, then an event says that they can be read', async () => {
    const { evaluate, send, events } = await stage().open()
    await send()
    expect(await evaluate(stored())).toContain('refresh-1')
    expect(await events('anomaly')).toMatchObject([{ kind: 'tokens-unencrypted' }])
  })

  it('when they are sealed with a key of the browser, then other tabs use them, and no script can export the key', async () => {
    const { open } = stage()
    const first = await open({ seals: true })
    await first.send()
    const second = await open({ seals: true })
    expect(await second.send()).toBe(200)
    const text = await second.evaluate(stored())
    expect(text).toContain('"kid":"page"')
    expect(text).not.toMatch(/access-|refresh-/)
    expect(grants()).toEqual(['session'])
    for (const { evaluate } of [first, second])
      expect(await evaluate('app.events.map(({ name }) => name)')).toEqual(['renewed'])
  })

  it('when the user clears them, then live tokens stay in use, and the next renewal starts over', async () => {
    const { site, open } = stage()
    const { evaluate, send, events } = await open()
    await send()
    await evaluate(CLEAR)
    expect([await send(), grants()]).toEqual([200, ['session']])
    await evaluate('app.tokens.renew()')
    expect([await send(), grants()]).toEqual([200, ['session', 'session']])
    expect([site.reused, await events('suspicious')]).toEqual([0, []])
  })

  it.each([
    ['fills them with garbage', `put('garbage')`, false],
    ['is of a newer release', `put(JSON.stringify({ schema: 99 }))`, true],
  ])('when another script %s, then this tab has tokens, and one event reports it', async (_, change, isLeftAlone) => {
    const { site, open } = stage()
    const { evaluate, send, events } = await open()
    await send()
    await evaluate(stored(change))
    await evaluate('app.tokens.renew()')
    expect([await send(), grants()]).toEqual([200, ['session', 'session']])
    const told = await events('anomaly')
    expect(told.map(({ kind }) => kind)).toEqual(['tokens-unencrypted', 'stored-tokens-unusable'])
    const after = await evaluate<string>(stored())
    expect([after.includes('"schema":99'), site.reused]).toEqual([isLeftAlone, 0])
  })

  it('when the browser denies storage, then this tab has tokens, and one event says what to do', async () => {
    const deny = `void (IDBFactory.prototype.open = () => { throw new DOMException('denied', 'SecurityError') })`
    const { evaluate, send, events } = await stage().open({}, deny)
    expect(await send()).toBe(200)
    await evaluate('app.tokens.renew()')
    expect([await send(), grants()]).toEqual([200, ['session', 'refresh_token']])
    expect(await events('storeUnavailable')).toMatchObject([{ message: expect.stringContaining('allow cookies') }])
  })

  it('when one step of a previously working storage never responds, then the page works again without a reload (F356)', async () => {
    const silenceOnce = `void (() => {
      const { open } = IDBFactory.prototype
      window.silence = () => (IDBFactory.prototype.open = function (...given) {
        IDBFactory.prototype.open = open
        return {}
      })
    })()`
    const { evaluate, send, events } = await stage().open({}, silenceOnce)
    expect(await send()).toBe(200)
    await evaluate('window.silence()')
    await evaluate('app.tokens.renew().catch(() => undefined)')
    await evaluate('app.tokens.renew()')
    expect(await send()).toBe(200)
    expect([stage().site.reused, (await events('anomaly')).map(({ kind }) => kind)]).toEqual([
      0,
      ['tokens-unencrypted'],
    ])
  })

  it('when navigator.locks never responds, then the page works anyway (F357)', async () => {
    const silence = `void (LockManager.prototype.request = () => new Promise(() => undefined))`
    const { evaluate, send } = await stage().open({}, silence)
    expect(await send()).toBe(200)
    await evaluate('app.tokens.renew()')
    expect([await send(), grants()]).toEqual([200, ['session', 'refresh_token']])
  })

  // No command of the other tabs fills the storage.
  if (name !== 'chromium') return
  it('when the storage is full, then this tab has tokens, and one event says what to do; once there is space, other tabs have them', async () => {
    const { engine, site, open } = stage()
    const { origin } = site
    await engine.quota!(origin, 1)
    const { evaluate, send, events } = await open()
    expect(await send()).toBe(200)
    await evaluate('app.tokens.renew()')
    expect(await send()).toBe(200)
    expect(await events('storeUnavailable')).toMatchObject([{ message: expect.stringContaining('QuotaExceededError') }])
    expect(await evaluate(stored())).toBe('')
    await engine.quota!(origin)
    await evaluate('app.tokens.renew()')
    expect(await (await open()).send()).toBe(200)
    expect(grants()).toEqual(['session', 'refresh_token', 'session'])
    expect([site.reused, await events('storeUnavailable')]).toMatchObject([0, [{}]])
  })
})
