import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { BrowserContext, Page } from 'playwright-core'
import { describeBrowser } from './support/browser.ts'
import { pagesOfSuite } from './support/pages.ts'
import type { People } from './support/people.ts'

const suite = describeBrowser === describe ? pagesOfSuite : undefined

/** What a script of an attacker does that comes after the login: it reads all that passes through the page, and all that the page has stored. */
const ATTACK = `(() => {
  const seen = (globalThis.seen = [])
  const note = (what) => seen.push(typeof what === 'string' ? what : JSON.stringify(what) ?? '')
  const { fetch } = globalThis
  globalThis.fetch = async (...given) => {
    const request = new Request(...given)
    note(await request.clone().text())
    const response = await fetch(request)
    note(await response.clone().text())
    return response
  }
  const { send } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.send = function (body) {
    note(String(body))
    this.addEventListener('load', () => note(this.responseText))
    return send.call(this, body)
  }
  for (const Port of [MessagePort, BroadcastChannel]) {
    const { set } = Object.getOwnPropertyDescriptor(Port.prototype, 'onmessage')
    Object.defineProperty(Port.prototype, 'onmessage', {
      set(heard) {
        set.call(this, (event) => (note(event.data), heard(event)))
      },
    })
  }
  const { addEventListener } = MessagePort.prototype
  MessagePort.prototype.addEventListener = function (type, heard) {
    return addEventListener.call(this, type, (event) => (note(event.data), heard(event)))
  }
})()`

/** The sealed tokens too: no script can read the key, but each can use it. */
const STORED = `(async () => {
  const asked = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const all = []
  for (const { name } of await indexedDB.databases()) {
    const database = await asked(indexedDB.open(name))
    for (const store of database.objectStoreNames)
      all.push(...(await asked(database.transaction(store).objectStore(store).getAll())))
    database.close()
  }
  return [all.length, JSON.stringify([all, { ...localStorage }, { ...sessionStorage }])]
})()`

describeBrowser('given a login in a page, and a script of an attacker that comes after the login', () => {
  const pages = suite?.()
  let people: People
  let context: BrowserContext
  beforeEach(async () => {
    people = await pages!.start()
    context = await pages!.browser().newContext()
    context.setDefaultTimeout(300_000)
  })
  afterEach(async () => {
    await context.close()
    await people.close()
  })

  /** @param script What the page loads: the manager itself, or what asks the worker. */
  async function loggedIn(script: 'tokens' | 'page'): Promise<Page> {
    const page = await context.newPage()
    await page.goto(`${people.origin}/${script}`)
    await page.evaluate(`import('/${script}.js').then(async (app) => {
      globalThis.app = app
      const form = new FormData()
      form.append('name', 'ada')
      form.append('password', 'secret')
      await app.logIn(form)
    })`)
    return page
  }
  const refreshTokensIn = (text: string) => [...people.refreshTokens].filter((token) => text.includes(token)).length
  /** Lets the manager refresh. @returns How many refresh tokens the attacker has read, and whether it has read an access token. */
  async function attacked(page: Page): Promise<[number, boolean]> {
    await page.evaluate(ATTACK)
    people.revokeAccess()
    expect(await page.evaluate(`app.api.get('/me').then(({ data }) => data.name)`)).toBe('ada')
    expect(people.refreshes).toBe(1)
    const token = await page.evaluate<string>('app.tokens.getAccessToken()')
    const seen = (await page.evaluate<string[]>('seen')).join('\n')
    return [refreshTokensIn(seen), seen.includes(token)]
  }

  it('when the page keeps the manager, then the attacker reads the next pair', async () => {
    const page = await loggedIn('tokens')
    expect(await attacked(page)).toEqual([2, true])
    const [entries] = await page.evaluate<[number]>(STORED)
    expect(entries).toBe(2)
  })

  describe.each(['shared worker', 'service worker'])('and a %s that keeps the manager', (kind) => {
    beforeEach(async () => {
      if (kind === 'service worker') await context.addInitScript('delete globalThis.SharedWorker')
    })

    it('when the manager refreshes, then the attacker reads access tokens only, and finds nothing stored (F325)', async () => {
      const page = await loggedIn('page')
      expect(context.serviceWorkers()).toHaveLength(kind === 'service worker' ? 1 : 0)
      expect(await attacked(page)).toEqual([0, true])
      expect(people.refreshTokens.size).toBe(2)
      expect(await page.evaluate(STORED)).toEqual([0, '[[],{},{}]'])
    })

    it('when the attacker asks the worker itself, then it gets access tokens only', async () => {
      const page = await loggedIn('page')
      const answers = await page.evaluate<unknown[]>(`(async () => {
        const worker = globalThis.SharedWorker
          ? new SharedWorker('/worker.js', { type: 'module' }).port
          : (await navigator.serviceWorker.ready).active
        const ask = (name) => new Promise((resolve) => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = ({ data }) => resolve(data)
          worker.postMessage({ 'axios-evergreen': { name, page: 'attacker' } }, [port2])
        })
        return Promise.all(['get', 'look', 'refresh', 'status', 'constructor', '__proto__', 'toString'].map(ask))
      })()`)
      // It names no login, so it gets no token. It could take the place of the page, which gets one.
      expect(answers).toMatchObject([
        { error: { code: 'ERR_LOGIN_REQUIRED' } },
        {},
        ...Array<object>(5).fill({ error: { name: 'TypeError' } }),
      ])
      expect(refreshTokensIn(JSON.stringify(answers))).toBe(0)
    })

    it('when a tab is reloaded while another one is open, then the login lives on', async () => {
      const page = await loggedIn('page')
      const other = await context.newPage()
      await other.goto(`${people.origin}/page`)
      await page.reload()
      const name = await page.evaluate(
        `import('/page.js').then(({ api }) => api.get('/me')).then(({ data }) => data.name)`,
      )
      expect([name, people.refreshes]).toEqual(['ada', 0])
    })
  })

  it('when the only tab is loaded again, then a service worker still has the login', async () => {
    await context.addInitScript('delete globalThis.SharedWorker')
    const page = await loggedIn('page')
    await page.reload()
    expect(await page.evaluate(`import('/page.js').then(({ tokens }) => tokens.status().login)`)).toBe('present')
  })

  it('when the browser has stopped the service worker, then the login is lost, and the page learns of it', async () => {
    await context.addInitScript('delete globalThis.SharedWorker')
    const page = await loggedIn('page')
    const session = await context.newCDPSession(page)
    await session.send('ServiceWorker.enable')
    await session.send('ServiceWorker.stopAllWorkers')
    const code = await page.evaluate(`app.api.get('/me').catch(({ code }) => code)`)
    expect(code).toBe('ERR_LOGIN_REQUIRED')
    await page.waitForFunction(`app.tokens.status().login === 'required'`)
  })
})
