import { expect, it } from '@jest/globals'
import { describeBrowser, stageOfSuite } from './support/browser.ts'
import { loneBrowser } from './support/lone-browser.ts'
import { until } from './support/site.ts'

/**
 * Starts the app, sends one request, and leaves. Restored, it reports its phase when the next token has arrived. A page that is
 * not restored but reloaded does all this again.
 */
const PAGE = `
  import '/esbuild/main.js'
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    const { phase } = app.tokens.status()
    app.tokens.on('renewed', () => fetch('/api/restored/' + phase))
  })
  await start({ web: {}, renewal: { keepWarm: 'never' } })
  await app.send({ url: '/wallet' })
  setTimeout(() => { location.href = '/elsewhere' }, 100)
`
/** Goes back after the token has expired. */
const ELSEWHERE = `setTimeout(() => history.back(), 1_500)`

describeBrowser('given a page in the back/forward cache', () => {
  const stage = stageOfSuite()

  it('when it is restored after its token has expired, then a new token arrives at once, without a request (F186)', async () => {
    const { site } = stage()
    site.lifetimeMs = 1_000
    site.scripts.set('/page', PAGE).set('/elsewhere', ELSEWHERE)
    const browser = await loneBrowser()
    const restored = () => site.received.filter(({ path }) => path.startsWith('/api/restored/'))
    try {
      await browser.open(`${site.origin}/page`)
      await until(() => restored().length > 0)
    } finally {
      await browser.close()
    }
    // The page sent nothing else, so no request caused this token request.
    expect(site.received.at(-1)).toMatchObject({ path: '/api/restored/expired' })
    expect(site.calls.at(-1)).toMatchObject({ grant: 'refresh_token' })
    expect(site.reused).toBe(0)
  })
})
