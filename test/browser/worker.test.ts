import { describe, expect, it } from '@jest/globals'
import type { EngineTab } from './support/engines.mjs'
import { describePages } from './support/pages.ts'

/** What an attacker's script does that starts after the login: it reads everything that passes through the page, and everything that the page has stored. */
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

/** Which worker keeps the manager: what a page does before it loads its script. */
const KEEPERS = {
  'a shared worker': '0',
  'a service worker': 'delete globalThis.SharedWorker',
  // It replaces the port of a shared worker in the page.
  'a dedicated worker': `globalThis.SharedWorker = function (...given) { this.port = globalThis.own ??= new Worker(...given) }`,
}
type Keeper = keyof typeof KEEPERS
const keepers = Object.keys(KEEPERS) as Keeper[]

describePages("a login in a page, and an attacker's script that starts after the login", (stage, engine) => {
  /** @param keeper What keeps the manager: `the page`, or a worker that the page asks. */
  async function loaded(keeper: Keeper | 'the page'): Promise<EngineTab> {
    const tab = await stage().open('/none')
    await load(tab, keeper)
    return tab
  }
  async function load(tab: EngineTab, keeper: Keeper | 'the page'): Promise<void> {
    const [before, script] = keeper === 'the page' ? ['0', 'tokens'] : [KEEPERS[keeper], 'page']
    await tab.evaluate(`void (${before})`)
    await tab.evaluate(`import('/${script}.js').then((app) => void (globalThis.app = app))`)
  }
  async function loggedIn(keeper: Keeper | 'the page'): Promise<EngineTab> {
    const tab = await loaded(keeper)
    await tab.evaluate(`(() => {
      const form = new FormData()
      form.append('name', 'ada')
      form.append('password', 'secret')
      return app.logIn(form)
    })()`)
    return tab
  }
  const refreshTokensIn = (text: string) =>
    [...stage().people.refreshTokens].filter((token) => text.includes(token)).length
  const NAME = `app.api.get('/me').then(({ data }) => data.name)`
  /** Makes the manager refresh. @returns How many refresh tokens the attacker has read, and whether it has read an access token. */
  async function attacked(tab: EngineTab): Promise<[number, boolean]> {
    await tab.evaluate(ATTACK)
    stage().people.revokeAccess()
    expect(await tab.evaluate(NAME)).toBe('ada')
    expect(stage().people.refreshes).toBe(1)
    const token = await tab.evaluate<string>('app.tokens.getAccessToken()')
    const seen = (await tab.evaluate<string[]>('seen')).join('\n')
    return [refreshTokensIn(seen), seen.includes(token)]
  }

  it('when the page keeps the manager, then the attacker reads the next token set', async () => {
    const tab = await loggedIn('the page')
    expect(await attacked(tab)).toEqual([2, true])
    const [entries] = await tab.evaluate<[number]>(STORED)
    expect(entries).toBe(2)
  })

  describe.each(keepers)('and %s that keeps the manager', (keeper) => {
    it('when the manager refreshes, then the attacker reads access tokens only, and finds nothing stored (F325)', async () => {
      const tab = await loggedIn(keeper)
      const registered = await tab.evaluate('navigator.serviceWorker.getRegistrations().then(({ length }) => length)')
      expect(registered).toBe(keeper === 'a service worker' ? 1 : 0)
      expect(await attacked(tab)).toEqual([0, true])
      expect(stage().people.refreshTokens.size).toBe(2)
      expect(await tab.evaluate(STORED)).toEqual([0, '[[],{},{}]'])
    })

    it('when the attacker asks the worker directly, then it gets access tokens only', async () => {
      const tab = await loggedIn(keeper)
      // A page has no second connection to its dedicated worker, so the attacker receives the page's own.
      const answers = await tab.evaluate<unknown[]>(`(async () => {
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
      // It names no login, so it gets no token. It could impersonate the page, which gets one.
      expect(answers).toMatchObject([
        { error: { code: 'ERR_LOGIN_REPLACED' } },
        {},
        ...Array<object>(5).fill({ error: { name: 'TypeError' } }),
      ])
      expect(refreshTokensIn(JSON.stringify(answers))).toBe(0)
    })

    const after = keeper === 'a dedicated worker' ? 'ends with its page' : 'lives on'
    it(`when a tab is reloaded while another one is open, then the login ${after}`, async () => {
      const tab = await loggedIn(keeper)
      await loaded(keeper)
      await tab.reload()
      await load(tab, keeper)
      expect(await tab.evaluate('app.tokens.status().login')).toBe(after === 'lives on' ? 'present' : 'required')
      if (after === 'lives on') expect(await tab.evaluate(NAME)).toBe('ada')
      expect(stage().people.refreshes).toBe(0)
    })
  })

  it('when the only tab is reloaded, then a service worker still has the login', async () => {
    const tab = await loggedIn('a service worker')
    await tab.reload()
    await load(tab, 'a service worker')
    expect(await tab.evaluate('app.tokens.status().login')).toBe('present')
  })

  // Other engines have no command for it.
  if (engine === 'chromium')
    it('when the browser has stopped the service worker, then the login is lost, and the page is notified', async () => {
      const tab = await loggedIn('a service worker')
      await tab.stopServiceWorkers!()
      expect(await tab.evaluate(`app.api.get('/me').catch(({ code }) => code)`)).toBe('ERR_LOGIN_REQUIRED')
      expect(await tab.evaluate('app.tokens.status().login')).toBe('required')
    })
})
