import { expect, it } from '@jest/globals'
import { describeBrowser, stageOfSuite } from './support/browser.ts'

describeBrowser('given a login with a refresh token', () => {
  const stage = stageOfSuite()
  const grants = () => stage().site.calls.map(({ grant }) => grant)

  it('when a renewal fails because the browser is offline, then the login continues, and its refresh token is presented once', async () => {
    const { site, context, open } = stage()
    const { page, send, events } = await open({ web: {}, byLogin: true })
    const warnings: string[] = []
    page.on('console', (line) => void (line.type() === 'warning' && warnings.push(line.text())))
    expect(await send('/wallet')).toBe('ERR_LOGIN_REQUIRED')
    await page.evaluate('app.logIn()')
    await context.setOffline(true)
    expect(await page.evaluate('app.tokens.renew().catch(({ code }) => code)')).toBe('ERR_TOKEN_SERVICE_UNAVAILABLE')
    await context.setOffline(false)
    await page.evaluate('app.tokens.renew()')
    expect(await send('/wallet')).toBe(200)
    expect([grants(), site.reused, await events('suspicious')]).toEqual([['session', 'refresh_token'], 0, []])
    // Browsers would warn if an XMLHttpRequest call requested a stream.
    expect(warnings).toEqual([])
  })

  it('when a token request is redirected with its body, then the refresh token is not sent there, and stays valid (F40)', async () => {
    const { site, foreign, open } = stage()
    const { page } = await open({ web: {}, byLogin: true })
    await page.evaluate('app.logIn()')
    site.failure = { status: 307, headers: { Location: `${foreign.origin}/token` } }
    expect(await page.evaluate('app.tokens.renew().catch(({ code }) => code)')).toBe('ERR_TOKEN_REQUEST')
    expect([grants(), foreign.calls]).toEqual([['session', 'refresh_token'], []])
  })

  it('when a user logs in in another tab, then a tab that becomes visible has the tokens', async () => {
    const { open } = stage()
    const options = { web: {}, byLogin: true }
    const [first, second] = [await open(options), await open(options)]
    expect(await second.send('/wallet')).toBe('ERR_LOGIN_REQUIRED')
    await first.page.evaluate('app.logIn()')
    // The tab checks the store once a second at most.
    await second.until(`(document.dispatchEvent(new Event('visibilitychange')), app.tokens.status().phase === 'fresh')`)
    expect([await second.send('/wallet'), grants()]).toEqual([200, ['session']])
  })
})
