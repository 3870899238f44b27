import { expect, it } from '@jest/globals'
import type { Page } from 'playwright-core'
import { startThread } from '../oauth2/support/oidc-server.ts'
import { serve } from '../service/world.ts'
import { describeBrowser } from './support/browser.ts'
import { pagesOfSuite } from './support/pages-of-suite.ts'

const OK = Array<number>(20).fill(200)
const CORS = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'authorization' }

/** An API that accepts tokens for it alone. `tokens`: all that it has received; of `rejected` it accepts none. */
async function startApi() {
  const tokens = new Set<string>()
  const strangers: string[] = []
  const rejected = new Set<string>()
  const api = await serve(({ method, headers }, reply) => {
    if (method === 'OPTIONS') return void reply.writeHead(204, CORS).end()
    const token = headers.authorization?.split(' ')[1] ?? ''
    const { aud } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}') as {
      aud?: string
    }
    if (aud === api.origin) tokens.add(token)
    else strangers.push(token)
    reply.writeHead(aud === api.origin && !rejected.has(token) ? 200 : 401, CORS).end()
  })
  return { resource: api.origin, tokens, strangers, rejectAll: () => tokens.forEach((token) => rejected.add(token)) }
}

describeBrowser('given a single-page application with two APIs, whose login is from oidc-provider', () => {
  const suite = pagesOfSuite('resources.mjs', 300_000)

  it('when two tabs use both at once, also after the APIs rejected their tokens, then each request has a token for its API, and each refresh token is presented once (F418, F425)', async () => {
    const apis = [await startApi(), await startApi()]
    const resources = apis.map(({ resource }) => resource)
    const { call, end } = startThread('api-provider.mjs', { apis: resources, accessLifetimeS: 600 })
    const issuer = await call<string>('start')
    const started = async (page: Page) => {
      await page.goto(suite.site.origin)
      await page.evaluate(`start(${JSON.stringify({ issuer, apis: resources })})`)
      return page
    }
    const [one, other] = [await started(await suite.context.newPage()), await started(await suite.context.newPage())]
    const code = await call<Record<string, string>>('logIn', ['app', 'ada'])
    const body = new URLSearchParams({ grant_type: 'authorization_code', client_id: 'app', ...code })
    const response = (await (await fetch(`${issuer}/token`, { method: 'POST', body })).json()) as object
    await one.evaluate(`app.logIn(${JSON.stringify(response)})`)
    await other.waitForFunction(`app.login() === 'present'`)
    const sendAll = () => Promise.all([one, other].map((page) => page.evaluate<number[]>('app.send()')))

    expect(await sendAll()).toEqual([OK, OK])
    for (const { rejectAll } of apis) rejectAll()
    expect(await sendAll()).toEqual([OK, OK])
    await started(other)
    expect(await sendAll()).toEqual([OK, OK])
    expect(apis.map(({ tokens, strangers }) => [tokens.size, strangers.length])).toEqual([
      [2, 0],
      [2, 0],
    ])
    expect(await call('counts')).toEqual({ refreshes: 4, reuses: 0 })
    await end()
  })
})
