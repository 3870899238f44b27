import { expect, it } from '@jest/globals'
import type { EngineTab } from './support/engines.mjs'
import { describePagesAt } from './support/pages.ts'
import { startRedirectSite } from './support/redirect-site.ts'
import { asked, click, sees, until, writeName } from './support/at-the-page.ts'

const STRANGE = 'This login did not begin in this tab. Log in again.'

describePagesAt(startRedirectSite, 'a page whose people log in by redirect', (stage) => {
  const counts = async () => {
    const { people } = stage()
    return { redirects: await people.asked('GET /auth'), tokenCalls: await people.asked('POST /token') }
  }
  const ONE = { redirects: 1, tokenCalls: 1 }

  async function loggedIn(name = 'ada'): Promise<EngineTab> {
    const tab = await stage().open('/orders?page=2')
    await click(tab, '#in')
    await writeName(tab, name)
    await sees(tab, name)
    return tab
  }

  it('F284: when a user logs in, then it takes one redirect and one code, the button is never shown, and the page is where it was', async () => {
    const tab = await loggedIn()
    expect(await counts()).toEqual(ONE)
    expect(await tab.evaluate('[...shown]')).toEqual(['home'])
    expect(await tab.evaluate('location.pathname + location.search')).toBe('/orders?page=2')
    await tab.reload()
    await sees(tab, 'ada')
    expect([await tab.evaluate('[...shown]'), await counts()]).toEqual([['home'], ONE])
  })

  it('F284: when the user goes back after the login, or reloads the callback page, then no code is redeemed twice', async () => {
    const { open, people } = stage()
    const tab = await open('/')
    await click(tab, '#in')
    await writeName(tab, 'ada')
    await sees(tab, 'ada')
    // Back to the page on which the login began, past the page of the provider.
    await tab.evaluate('globalThis.isAfter = true')
    await asked(tab, 'void history.go(-2)')
    await until(tab, `!globalThis.isAfter && location.origin === '${people.origin}'`)
    await sees(tab, 'ada')
    await asked(tab, `void location.assign('/callback?code=used&state=used')`)
    await until(tab, `document.querySelector('[role=alert]')?.textContent === '${STRANGE}'`)
    await sees(tab, 'ada')
    expect(await counts()).toEqual(ONE)
  })

  it('F284: when the page is reloaded during the token request, then one click logs in without a form', async () => {
    const tab = await stage().open('/orders')
    await tab.evaluate(`sessionStorage.setItem('holds', '')`)
    await click(tab, '#in')
    await writeName(tab, 'ada')
    await until(tab, 'globalThis.isHeld')
    await tab.evaluate(`sessionStorage.removeItem('holds')`)
    await tab.reload()
    await click(tab, '#in')
    await sees(tab, 'ada')
    expect(await counts()).toEqual({ redirects: 2, tokenCalls: 2 })
    expect(await tab.evaluate('location.pathname')).toBe('/orders')
  })

  it('F284: when the state does not belong to this tab, then the code is rejected, and the user can log in', async () => {
    const tab = await stage().open('/callback?code=theirs&state=theirs')
    await until(tab, `document.querySelector('[role=alert]')?.textContent === '${STRANGE}'`)
    expect(await counts()).toEqual({ redirects: 0, tokenCalls: 0 })
    await click(tab, '#in')
    await writeName(tab, 'ada')
    await sees(tab, 'ada')
  })

  it('F284: when the user declines at the provider, then the page says so, and offers the login', async () => {
    const tab = await stage().open('/')
    await click(tab, '#in')
    await click(tab, '[name=no]')
    await until(tab, `document.querySelector('[role=alert]')?.textContent === 'access_denied'`)
    await until(tab, `document.querySelector('#in').checkVisibility()`)
    expect(await counts()).toEqual({ redirects: 1, tokenCalls: 0 })
  })

  it('F284: when two tabs log in at once, then both are logged in', async () => {
    const { open } = stage()
    const tabs = [await open('/one'), await open('/other')] as const
    for (const tab of tabs) await click(tab, '#in')
    await writeName(tabs[0], 'ada')
    await writeName(tabs[1], 'ada')
    for (const tab of tabs) await sees(tab, 'ada')
    expect([await tabs[0].evaluate('location.pathname'), await tabs[1].evaluate('location.pathname')]).toEqual([
      '/one',
      '/other',
    ])
  })

  it('F284: when the login is gone while the session at the provider is alive, then one click restores it without a form', async () => {
    const tab = await loggedIn()
    await tab.evaluate(`indexedDB.databases().then((all) => Promise.all(all.map(({ name }) => new Promise((resolve) => {
      indexedDB.deleteDatabase(name).onsuccess = () => resolve('deleted')
    }))))`)
    await tab.reload()
    await click(tab, '#in')
    await sees(tab, 'ada')
    expect(await counts()).toEqual({ redirects: 2, tokenCalls: 2 })
  })

  it('F283: when the user logs out, then the refresh token is revoked, and the session at the provider has ended', async () => {
    const tab = await loggedIn()
    await click(tab, '#logout')
    await click(tab, '[name=logout]')
    await until(tab, `document.querySelector('#in')?.checkVisibility()`)
    expect(await stage().people.asked('POST /token/revocation')).toBe(1)
    await click(tab, '#in')
    // The provider asks for the name.
    await writeName(tab, 'bob')
    await sees(tab, 'bob')
  })

  it('F284: when another user logs in, then the other tab shows that user, and nothing of the first', async () => {
    const tab = await loggedIn()
    const other = await stage().open('/')
    await sees(other, 'ada')
    await click(tab, '#other')
    await writeName(tab, 'bob')
    await sees(tab, 'bob')
    await sees(other, 'bob')
  })
})
