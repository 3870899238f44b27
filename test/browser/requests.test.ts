import { expect, it } from '@jest/globals'
import { describeBrowser, stageOfSuite } from './support/browser.ts'

describeBrowser.each(['vite', 'esbuild'] as const)('given a page that was bundled by %s', (bundler) => {
  const stage = stageOfSuite([bundler])

  it.each(['xhr', 'fetch'])(
    'when it sends requests with %s, then addresses are resolved against the page (F183)',
    async (adapter) => {
      const { site, open } = stage()
      const { send, status } = await open({ adapter })
      const sent = [await send('/wallet'), await send('/api/wallet', { baseURL: '' }), await send('//127.0.0.1:1/')]
      expect(sent).toEqual([200, 200, 'ERR_NETWORK'])
      expect(site.received.map(({ token }) => token)).toEqual(['Bearer access-1', 'Bearer access-1'])
      expect((await status()).counts).toMatchObject({ obtains: 1, failures: 0 })
    },
  )

  it.each(['xhr', 'fetch'])('when the API rejects its token (%s), then the request is replayed', async (adapter) => {
    const { site, open } = stage()
    const { send } = await open({ adapter })
    await send('/wallet')
    site.revokeAccess()
    expect(await send('/wallet', { method: 'post', data: { a: 1 }, params: { q: 'ä b' } })).toBe(200)
    expect(site.received.map(({ token }) => token)).toEqual(['Bearer access-1', 'Bearer access-1', 'Bearer access-2'])
  })
})

describeBrowser.each(['xhr', 'fetch'])('given redirects (%s)', (adapter) => {
  const stage = stageOfSuite()

  it('when they lead to another origin, then its 401 renews nothing, and that origin receives no token (F185)', async () => {
    const { site, foreign, open } = stage()
    const { send } = await open({ adapter })
    expect(await send('/away')).toBe(401)
    expect([site.calls.length, site.received.length]).toEqual([1, 1])
    expect(foreign.received).toEqual([{ method: 'GET', path: '/api/refused', token: undefined }])
  })

  it('when a POST becomes a GET that is rejected, then the POST is not sent again (F185)', async () => {
    const { site, open } = stage()
    const { send } = await open({ adapter })
    expect(await send('/acts', { method: 'post', data: 'pay' })).toBe(401)
    expect(site.received.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /api/acts', 'GET /api/refused'])
  })

  it('when a GET is redirected to another path and is rejected, then it is replayed (F185)', async () => {
    const { site, open } = stage()
    const { send } = await open({ adapter })
    await send('/wallet')
    site.revokeAccess()
    expect(await send('/moved')).toBe(200)
    expect(site.calls).toHaveLength(2)
  })
})

describeBrowser('given a header other than Authorization', () => {
  const stage = stageOfSuite()

  it('when the adapter is xhr, then attaching throws and says what to do (F185)', async () => {
    const { open } = stage()
    await expect(open({ header: 'X-Api-Token' })).rejects.toThrow(/X-Api-Token with the xhr adapter.*adapter: 'fetch'/)
  })

  it('when the adapter is fetch, then the token is sent, but not along a redirect (F185)', async () => {
    const { site, foreign, open } = stage()
    const { send } = await open({ header: 'X-Api-Token', adapter: 'fetch' })
    expect([await send('/wallet'), await send('/away'), await send('/moved')]).toEqual([
      200,
      'ERR_FR_TOO_MANY_REDIRECTS',
      'ERR_FR_TOO_MANY_REDIRECTS',
    ])
    expect(site.received.map(({ path }) => path)).toEqual(['/api/wallet', '/api/away', '/api/moved'])
    expect(foreign.received).toEqual([])
  })
})

describeBrowser('given a page that is not a secure context', () => {
  const stage = stageOfSuite()

  it('when it allows insecure http, then it has tokens, and an event says that no other tab has them (F184)', async () => {
    const { site, open } = stage()
    const at = `http://app.test:${site.port}`
    await expect(open({}, at)).rejects.toThrow(/baseURL of the instance must be https.*allowInsecureHttp/)
    const { page, send, until, events } = await open({ allowInsecureHttp: true, web: {} }, at)
    expect(await page.evaluate('[isSecureContext, typeof crypto.randomUUID, typeof crypto.subtle]')).toEqual([
      false,
      'undefined',
      'undefined',
    ])
    expect(await send('/wallet')).toBe(200)
    await page.evaluate('app.tokens.renew()')
    expect(await send('/wallet')).toBe(200)
    expect(site.calls.map(({ grant }) => grant)).toEqual(['session', 'refresh_token'])
    await until(`app.events.some(({ name }) => name === 'storeUnavailable')`)
    expect(await events('storeUnavailable')).toMatchObject([{ message: expect.stringMatching(/serve it over https/) }])
  })
})
