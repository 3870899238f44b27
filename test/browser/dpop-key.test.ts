import { expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { sha256, verified } from '../dpop/support/verifier.ts'
import { describeBrowser } from './support/browser.ts'
import { pagesOfSuite } from './support/pages-of-suite.ts'

interface Proved {
  readonly thumbprint: string
  readonly proof: string
}

const proved = (page: Page, name?: string) => page.evaluate<Proved>(`proved(${JSON.stringify(name)})`)

/** What a script of the page can read of the keys. */
const STORED = `new Promise((resolve, reject) => {
  const request = indexedDB.open('axios-evergreen.dpop')
  request.onerror = () => reject(request.error)
  request.onsuccess = () => {
    const all = request.result.transaction('records').objectStore('records').getAll()
    all.onsuccess = async () => {
      request.result.close()
      const said = (key) => crypto.subtle.exportKey('jwk', key).then(() => 'read', ({ name }) => name)
      resolve(await Promise.all(all.result.map(({ privateKey }) => said(privateKey))))
    }
  }
})`

describeBrowser('given the key of a page', () => {
  const suite = pagesOfSuite('dpop.mjs')
  const opened = async (at = suite.site.origin) => {
    const page = await suite.context.newPage()
    await page.goto(at)
    return page
  }

  it('when six tabs request it at once, then all have the same key, and no script can read it', async () => {
    const pages = await Promise.all(Array.from({ length: 6 }, () => opened()))
    const [first, ...others] = await Promise.all(pages.map((page) => proved(page)))
    const { header, claims, thumbprint } = verified(first!.proof)
    expect([header.alg, claims.htu, claims.ath]).toEqual(['ES256', 'https://api.example/orders', sha256('token')])
    for (const other of others)
      expect([other.thumbprint, verified(other.proof).thumbprint]).toEqual(Array(2).fill(thumbprint))
    expect(await pages[0]!.evaluate(STORED)).toEqual(['InvalidAccessError'])
  })

  it('when the page is reloaded, then it has the same key', async () => {
    const page = await opened()
    const { thumbprint } = await proved(page)
    await page.reload()
    expect(await proved(page)).toMatchObject({ thumbprint })
    expect(await proved(await opened())).toMatchObject({ thumbprint })
  })

  it('when another name is given, then the key is different', async () => {
    const page = await opened()
    const names = ['default', 'of the bakery', 'of the garage']
    const keys = await Promise.all(names.map((name) => proved(page, name)))
    expect(new Set(keys.map(({ thumbprint }) => thumbprint)).size).toBe(3)
    expect(await proved(page)).toMatchObject({ thumbprint: keys[0]!.thumbprint })
  })

  it('when the browser denies storage, then the page has its own key, and one warning explains the consequences', async () => {
    await suite.context.addInitScript(
      `IDBFactory.prototype.open = () => { throw new DOMException('denied', 'SecurityError') }`,
    )
    const page = await opened()
    const told: string[] = []
    page.on('console', (message) => told.push(message.text()))
    const [one, other] = [await proved(page), await proved(page, 'other')]
    expect(verified(one.proof).thumbprint).not.toBe(verified(other.proof).thumbprint)
    expect(told).toEqual([expect.stringMatching(/The DPoP key default .*allow cookies[^]*its own login/)])
  })

  it('when another script has stored something else there, then the error names what is wrong', async () => {
    const page = await opened()
    await proved(page)
    await page.evaluate(`new Promise((resolve) => {
      const request = indexedDB.open('axios-evergreen.dpop')
      request.onsuccess = () => {
        const transaction = request.result.transaction('records', 'readwrite')
        transaction.objectStore('records').put({ publicKey: 7 }, 'default')
        transaction.oncomplete = () => { request.result.close(); resolve() }
      }
    })`)
    expect(await page.evaluate('failed()')).toMatch(/^TypeError: publicKey must be an object/)
  })

  it('when the page uses plain http, then the error says so', async () => {
    const page = await opened(`http://app.test:${suite.site.port}/`)
    expect(await page.evaluate('failed()')).toMatch(/^TypeError: webKey needs WebCrypto.*https/)
  })
})
