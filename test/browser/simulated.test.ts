import { expect, it } from '@jest/globals'
import { startTokenService } from '../../tools/testing/index.ts'
import { describeBrowser, scriptOf, stageOfSuite } from './support/browser.ts'

describeBrowser('given the simulated service, and a page on another port', () => {
  const stage = stageOfSuite()

  it('when the page logs in, calls the API, renews and logs out, then it needs no proxy', async () => {
    const service = await startTokenService()
    try {
      const { site, context } = stage()
      await context.addInitScript(await scriptOf('simulated.mjs'))
      const page = await context.newPage()
      await page.goto(`${site.origin}/esbuild`)
      const { baseUrl, tokenEndpoint, revocationEndpoint, loginEndpoint } = service
      const addresses = JSON.stringify({ baseUrl, tokenEndpoint, revocationEndpoint, loginEndpoint })
      service.failNext('refresh', { status: 503, headers: { 'Retry-After': '1' } })
      const seen = await page.evaluate(`visit(${addresses})`)
      expect(seen).toEqual({
        statuses: [200, 401, 200],
        challenge: 'Bearer error="invalid_token"',
        date: true,
        retryAfterMs: 1_000,
        key: 'k1',
      })
      expect(service.log.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
        'login 200',
        'resource 200',
        'resource 401',
        'refresh 503',
        'refresh 200',
        'revoke 200',
      ])
    } finally {
      await service.close()
    }
  })
})
