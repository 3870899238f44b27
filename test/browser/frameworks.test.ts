import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { BrowserContext, Page } from 'playwright-core'
import { part } from '../support/part.ts'
import { describeBrowser } from './support/browser.ts'
import { KEEPERS, pagesOfSuite } from './support/pages.ts'
import type { People } from './support/people.ts'

const suite = describeBrowser === describe ? pagesOfSuite : undefined

describeBrowser('given the example pages', () => {
  const pages = suite?.()
  const kinds = [
    ...['react', 'vue', 'svelte', 'angular'].map((framework) => ({ framework, keeper: 'the page' as const })),
    // The pages differ only in their imports.
    ...part(['react', 'vue', 'svelte', 'angular'], ['react']).map((framework) => ({
      framework,
      keeper: 'a session' as const,
    })),
    { framework: 'react', keeper: 'a worker' as const },
  ]

  describe.each(kinds)('and that of $framework, with the login in $keeper (F246)', ({ framework, keeper }) => {
    const { script } = KEEPERS[keeper]
    let people: People
    let context: BrowserContext
    const complaints: string[] = []
    beforeEach(async () => {
      people = await pages!.start(keeper)
      context = await pages!.browser().newContext()
      // A limit against hanging: the machine may be very slow.
      context.setDefaultTimeout(300_000)
    })
    afterEach(async () => {
      await context.close()
      await people.close()
      expect(complaints.splice(0)).toEqual([])
    })

    async function open(): Promise<Page> {
      const page = await context.newPage()
      page.on('pageerror', ({ message }) => complaints.push(message))
      await page.goto(`${people.origin}/${framework}`)
      return page
    }
    async function logIn(page: Page, name: string, password = 'secret'): Promise<void> {
      await page.fill('[name=name]', name)
      await page.fill('[name=password]', password)
      await page.click('form button')
    }
    /** What the page does without showing it. */
    async function until(isTrue: () => boolean): Promise<void> {
      while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10))
    }
    const sees = (page: Page, name: string) => page.waitForSelector(`h1:text-is("${name}")`)

    it('when no user has logged in, then there is a form, which reports a wrong password', async () => {
      const page = await open()
      await logIn(page, 'ada', 'wrong')
      await page.waitForSelector('[role=alert]:text-is("Wrong name or password. Try again.")')
      await logIn(page, 'ada')
      await sees(page, 'ada')
      expect(people.served).toEqual(['ada'])
    })

    it('when a user logs in and out in one tab, then the other tab shows it', async () => {
      const [one, other] = [await open(), await open()]
      await other.waitForSelector('form')
      await logIn(one, 'ada')
      await sees(other, 'ada')
      await other.click('text=Log out')
      for (const page of [one, other]) await page.waitForSelector('form')
      expect(await one.locator('h1').count()).toBe(0)
      await until(() => people.sessions === 0)
    })

    it('when a tab opens after a login, then it shows no form, not even for a moment', async () => {
      const one = await open()
      await logIn(one, 'ada')
      await sees(one, 'ada')
      await context.addInitScript(`new MutationObserver(() => {
        if (document.querySelector('form')) globalThis.hadForm = true
      }).observe(document, { childList: true, subtree: true })`)
      const other = await open()
      await sees(other, 'ada')
      expect(await other.evaluate('globalThis.hadForm')).toBeUndefined()
    })

    it('when another user logs in elsewhere, then nothing of the first user is left', async () => {
      const [one, other] = [await open(), await open()]
      await logIn(one, 'ada')
      await sees(other, 'ada')
      // Without a logout: the login of another user replaces that of the first.
      await other.evaluate(`import('${script}').then(({ logIn }) => {
        const form = new FormData()
        form.append('name', 'bob')
        form.append('password', 'secret')
        return logIn(form)
      })`)
      for (const page of [one, other]) await sees(page, 'bob')
      // The session of the first user has ended, and no other.
      await until(() => people.sessions === (keeper === 'a session' ? 1 : 0))
    })

    it('when the API rejects the token, then the page continues after one renewal', async () => {
      const page = await open()
      await logIn(page, 'ada')
      await sees(page, 'ada')
      people.revokeAccess()
      await page.evaluate(`import('${script}').then(({ api }) => api.get('/me'))`)
      const renewals = keeper === 'a session' ? people.obtains - 1 : people.refreshes
      expect([people.served, renewals]).toEqual([['ada', 'ada'], 1])
    })
  })
  /** React runs each effect of a development build twice in StrictMode. */
  const MOUNTS = { react: 2, vue: 1, svelte: 1 }
  it.each(Object.entries(MOUNTS))(
    'when the components of %s in development mount, unmount and mount again, also during a request, then the console is quiet, and no rejection is unhandled',
    async (framework, mounts) => {
      const people = await pages!.start('the page, in development')
      const context = await pages!.browser().newContext()
      context.setDefaultTimeout(300_000)
      const page = await context.newPage()
      const told: string[] = []
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) told.push(message.text())
      })
      page.on('pageerror', ({ message }) => told.push(message))
      const logIn = async (name: string) => {
        await page.fill('[name=name]', name)
        await page.fill('[name=password]', 'secret')
        await page.click('form button')
        await page.waitForSelector(`h1:text-is("${name}")`)
      }
      await page.goto(`${people.origin}/${framework}`)
      await page.evaluate(`import('/tokens.js').then(({ api }) => {
        globalThis.asked = 0
        api.interceptors.request.use((config) => (globalThis.asked++, config))
      })`)
      await logIn('ada')
      expect(await page.evaluate('asked')).toBe(mounts)
      // There is no response: the component unmounts while it waits.
      await page.route('**/api/me', () => undefined)
      await page.reload()
      await page.click('text=Log out')
      await page.waitForSelector('form')
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await logIn('bob')
      expect(told).toEqual([])
      await context.close()
      await people.close()
    },
  )
})
