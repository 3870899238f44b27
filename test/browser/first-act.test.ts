import { beforeEach, expect, it } from '@jest/globals'
import { describeEngines } from './support/engine-stage.ts'

/** How often each row is run, each time in a freshly loaded page. `ADOPT_RUNS=20` is the full measure. */
const RUNS = Number(process.env.ADOPT_RUNS ?? 2)

/** How a page logs Bob in right after it has loaded and has started to check its store, and what an earlier page has left there. */
const SCRIPT = `
  import '/esbuild/main.js'

  const pair = async () => {
    const body = new URLSearchParams({ grant_type: 'session' })
    const { access_token, expires_in, refresh_token } = await (await fetch('/token', { method: 'POST', body })).json()
    return { accessToken: access_token, accessLifetimeMs: expires_in * 1_000, refreshToken: refresh_token }
  }
  globalThis.leave = async (held, prefix) => {
    await start({ byLogin: true, web: { prefix } })
    if (held === 'nothing') return
    const alice = await pair()
    await app.tokens.adopt(alice)
    if (held === 'an earlier logout') await app.tokens.logout()
    return alice.accessToken
  }
  globalThis.logBobIn = async (prefix, afterMs) => {
    const bob = await pair()
    start({ byLogin: true, web: { prefix } })
    if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs))
    const logins = []
    app.tokens.on('loginChanged', ({ login }) => logins.push(login))
    await app.tokens.adopt(bob)
    const answers = []
    for (let sent = 0; sent < 10; sent += 1) answers.push(await app.send({ url: '/wallet' }))
    return { bob: bob.accessToken, answers, logins }
  }
  globalThis.isReady = true`

interface Outcome {
  readonly bob: string
  readonly answers: readonly (number | string)[]
  /** The events of the page after it had called adopt(). */
  readonly logins: readonly string[]
}

describeEngines('a page that has just loaded, and adopts the tokens of Bob', (stage) => {
  beforeEach(() => void stage().site.scripts.set('/first', SCRIPT))

  async function load() {
    const { engine, site } = stage()
    const tab = await engine.open(`${site.origin}/first`)
    while (!(await tab.evaluate<boolean>('globalThis.isReady === true')));
    return tab
  }

  const left = ['the login of Alice', 'an earlier logout', 'nothing']
  it.each(left.flatMap((held) => [0, 5, 20, 50, 300].map((ms) => [held, ms] as const)))(
    'when the store holds %s, and Bob logs in after %d ms, then all requests are sent as Bob, and his login is not dropped (F268)',
    async (held, ms) => {
      const { site } = stage()
      const earlier = await load()
      const prefixes = Array.from({ length: RUNS }, (_, run) => `${ms}-${run}`)
      const alices: string[] = []
      for (const prefix of prefixes) alices.push(await earlier.evaluate(`leave('${held}', '${prefix}')`))
      await earlier.close()
      const failures = { asAnother: 0, dropped: 0 }
      for (const [run, prefix] of prefixes.entries()) {
        const page = await load()
        const before = site.received.length
        const { bob, answers, logins } = await page.evaluate<Outcome>(`logBobIn('${prefix}', ${ms})`)
        const sent = new Set(site.received.slice(before).map(({ token }) => token))
        if (sent.has(`Bearer ${alices[run]}`)) failures.asAnother += 1
        // A page that has dropped a login finds it in the store again, and refreshes it for its first request.
        else if (logins.includes('required') || answers.some((status) => status !== 200) || !sent.has(`Bearer ${bob}`))
          failures.dropped += 1
        await page.close()
      }
      expect(failures).toEqual({ asAnother: 0, dropped: 0 })
    },
  )
})
