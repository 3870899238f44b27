import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { copyFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { type SimulatedService, startTokenService } from '../../tools/testing/index.ts'
import { type BuiltPackage, buildPackage } from '../support/built-package.ts'
import { BUNDLE, describeBrowser, FLAGS, startedIn } from './support/browser.ts'

describeBrowser('given a page that is a file, as in a window of Electron', () => {
  let built: BuiltPackage
  let browser: Browser
  let service: SimulatedService
  beforeAll(async () => {
    built = await buildPackage()
    await copyFile(resolve('test/browser/app/main.mjs'), join(built.dir, 'main.mjs'))
    await BUNDLE.esbuild(built.dir, 'iife')
    // A script of the type `module` would not load, because a file has no origin.
    await writeFile(join(built.dir, 'index.html'), '<!doctype html><script src="esbuild/main.js"></script>')
    browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
    service = await startTokenService()
  })
  afterAll(async () => {
    await service.close()
    await browser.close()
    await built.remove()
  })

  it('when a user logs in, then windows share the login, sealed, renew it once, find it again after a restart, and show its end', async () => {
    const context = await browser.newContext()
    context.setDefaultTimeout(300_000)
    const { baseUrl: baseURL, tokenEndpoint, revocationEndpoint } = service
    const options = { web: {}, seals: true, byLogin: { tokenEndpoint, revocationEndpoint }, baseURL }
    const open = async () => {
      const page = await context.newPage()
      await page.goto(pathToFileURL(resolve(built.dir, 'index.html')).href)
      return startedIn(page, options)
    }
    const [one, other] = [await open(), await open()]
    expect(await one.send('/orders')).toBe('ERR_LOGIN_REQUIRED')
    const { answer: _, ...grant } = await service.logIn('ada')
    await one.page.evaluate(`app.tokens.adopt(${JSON.stringify(grant)})`)
    await other.until(`app.tokens.status().login === 'present'`)
    await other.page.evaluate('app.tokens.renew()')
    expect([await one.send('/orders'), await other.send('/orders'), service.count('refresh')]).toEqual([200, 200, 1])

    await one.page.reload()
    const again = await startedIn(one.page, options)
    expect([await again.send('/orders'), service.count('refresh')]).toEqual([200, 1])
    for (const { events } of [again, other])
      expect([await events('anomaly'), await events('suspicious'), await events('storeUnavailable')]).toEqual([
        [],
        [],
        [],
      ])

    expect(await again.page.evaluate('app.tokens.logout()')).toEqual({ revoked: true })
    await other.until(`app.tokens.status().login === 'required'`)
    // What the service must allow by CORS.
    expect(await other.page.evaluate('self.origin')).toBe('null')
    await context.close()
  })
})
