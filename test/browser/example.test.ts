import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { type BuiltPackage, buildPackage } from '../support/built-package.ts'
import { findingsIn } from './support/axe.ts'
import { describeBrowser, FLAGS } from './support/browser.ts'

describeBrowser('given the example of a single-page application', () => {
  let built: BuiltPackage
  let browser: Browser
  let example: ChildProcess
  let address: string
  beforeAll(async () => {
    built = await buildPackage()
    await cp('examples/spa', join(built.dir, 'examples', 'spa'), { recursive: true })
    browser = await chromium.launch({ executablePath: process.env.TEST_CHROMIUM!, args: FLAGS })
    const script = join(built.dir, 'examples', 'spa', 'spa.mjs')
    example = spawn(process.execPath, [script, '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [printed] = (await once(example.stdout!, 'data')) as [Buffer]
    address = /http:\S+/.exec(printed.toString())![0]
  })
  afterAll(async () => {
    await browser.close()
    example.kill()
    await once(example, 'exit')
    await built.remove()
  })

  it('when a user logs in, opens a second tab, and logs out, then both tabs show the login, and then the logout', async () => {
    const context = await browser.newContext()
    context.setDefaultTimeout(300_000)
    const [first, second] = [await context.newPage(), await context.newPage()]
    const complaints: string[] = []
    for (const page of [first, second]) page.on('pageerror', ({ message }) => complaints.push(message))
    await first.goto(address)
    await first.waitForSelector('#login:not([hidden])')
    expect(await findingsIn(first)).toEqual([])
    await first.fill('[name=password]', 'wrong')
    await first.click('#login button')
    await first.waitForSelector('#wrong:not(:empty)')
    expect(await first.inputValue('[name=password]')).toBe('')
    await first.fill('[name=password]', 'lovelace')
    await first.click('#login button')
    await first.waitForSelector('#inside:not([hidden])')
    expect(await findingsIn(first)).toEqual([])
    await second.goto(address)
    await second.waitForSelector('#inside:not([hidden])')
    expect(await second.textContent('#user')).toBe('ada')
    expect(await second.textContent('#events')).toContain('login changed: login present, by store')
    const revoked = second.waitForRequest(/\/revoke$/)
    await second.click('#logout')
    expect((await revoked).postData()).toMatch(/^token=[\w-]+&token_type_hint=refresh_token/)
    await second.waitForSelector('#login:not([hidden])')
    await first.waitForSelector('#login:not([hidden])')
    expect(complaints).toEqual([])
    await context.close()
  })

  // The service throttles or fails for 10 s, so these two come last.
  it.each([
    ['revoke', '#events [title="sent again"]', /renewed: .*because refused/],
    ['steal', '#login:not([hidden])', /suspicious: .*evidence (unexplained|revoked-or-used)/],
    ['throttle', '#events [title="tried again"]', /tried again: .*responded with 429/],
    ['fail', '#events [title="tried again"]', /tried again: .*responded with 503/],
  ])('when a user makes the service %s, then the panel shows what the page says', async (name, shown, said) => {
    const context = await browser.newContext()
    context.setDefaultTimeout(300_000)
    const page = await context.newPage()
    await page.goto(address)
    await page.fill('[name=password]', 'lovelace')
    await page.click('#login button')
    await page.waitForSelector('#events [title="answered"]', { state: 'attached' })
    await page.click(`#trouble [name=${name}]`)
    await page.waitForSelector(shown, { state: 'attached' })
    expect(await page.textContent('#events')).toMatch(said)
    await context.close()
  })
})
