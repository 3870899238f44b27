import { expect, it } from '@jest/globals'
import { click, sees, until, writeName } from './support/at-the-page.ts'
import { describePagesAt } from './support/pages.ts'
import { startRedirectSite } from './support/redirect-site.ts'

const start = (folder: string) => startRedirectSite(folder, 'transfers')

describePagesAt(start, 'a page whose API requires a second factor for some requests', (stage) => {
  async function loggedIn(path: string) {
    const tab = await stage().open(path)
    await click(tab, '#in')
    await writeName(tab, 'ada')
    await sees(tab, 'login present')
    return tab
  }
  const counts = async () => {
    const { people } = stage()
    return [await people.asked('GET /auth'), await people.asked('POST /token')]
  }
  const alert = (text: string) => `document.querySelector('[role=alert]')?.textContent === '${text}'`

  it('when the API asks for a level, then the user steps up in one redirect, comes back, and the request succeeds (F408)', async () => {
    const tab = await loggedIn('/accounts?page=2')
    await click(tab, '#pay')
    await click(tab, '[name=factor]')
    await sees(tab, 'login present')
    expect(await tab.evaluate('location.pathname + location.search')).toBe('/accounts?page=2')
    await click(tab, '#pay')
    await sees(tab, 'paid with mfa')
    // Two logins, and nothing was refreshed because of the challenge.
    expect(await counts()).toEqual([2, 2])
    expect(await tab.evaluate(`sessionStorage.getItem('asked for')`)).toBeNull()
  })

  it('when the step-up does not satisfy the API, then the page shows the error, and does not redirect again (F408)', async () => {
    const tab = await loggedIn('/accounts?never')
    await click(tab, '#pay')
    await click(tab, '[name=factor]')
    await sees(tab, 'login present')
    await click(tab, '#pay')
    await until(tab, alert('Request failed with status code 401'))
    expect(await counts()).toEqual([2, 2])
  })

  it('when the user declines the step-up, then the login stays, and the next attempt asks again (F408)', async () => {
    const tab = await loggedIn('/accounts')
    await click(tab, '#pay')
    await click(tab, '[name=no]')
    await until(tab, alert('access_denied'))
    await sees(tab, 'login present')
    await click(tab, '#pay')
    await click(tab, '[name=factor]')
    await sees(tab, 'login present')
    await click(tab, '#pay')
    await sees(tab, 'paid with mfa')
  })
})
