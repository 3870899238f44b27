import { beforeEach, expect, it } from '@jest/globals'
import { describeEngines } from './support/engine-stage.ts'

/** How often each row is run, each time in a page that has just loaded. `ADOPT_RUNS=20` is the full measure. */
const RUNS = Number(process.env.ADOPT_RUNS ?? 2)

/** How a page logs Bob in right after it has loaded and has begun to look into its store, and what an earlier page has left there. */
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
    await app.tokens.adopt(await pair())
    if (held === 'an earlier logout') await app.tokens.logout()
  }
  globalThis.logBobIn = async (prefix, afterMs) => {
    const bob = await pair()
    start({ byLogin: true, web: { prefix } })
    if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs))
    await app.tokens.adopt(bob)
    const answers = []
    for (let sent = 0; sent < 10; sent += 1) answers.push(await app.send({ url: '/wallet' }))
    return { token: bob.accessToken, answers, login: app.tokens.status().login }
  }
  globalThis.isReady = true`

interface Outcome {
  readonly token: string
  readonly answers: readonly (number | string)[]
  readonly login: string
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
    'when the store holds %s, and Bob logs in after %d ms, then all requests go out as Bob, and his login is not dropped (F268)',
    async (held, ms) => {
      const { site } = stage()
      const earlier = await load()
      const prefixes = Array.from({ length: RUNS }, (_, run) => `${ms}-${run}`)
      for (const prefix of prefixes) await earlier.evaluate(`leave('${held}', '${prefix}')`)
      await earlier.close()
      const failures = { asAnother: 0, dropped: 0 }
      for (const prefix of prefixes) {
        const page = await load()
        const before = site.received.length
        const { token, answers, login } = await page.evaluate<Outcome>(`logBobIn('${prefix}', ${ms})`)
        if (site.received.slice(before).some((request) => request.token !== `Bearer ${token}`)) failures.asAnother += 1
        if (login !== 'present' || answers.includes('ERR_LOGIN_REQUIRED')) failures.dropped += 1
        await page.close()
      }
      expect(failures).toEqual({ asAnother: 0, dropped: 0 })
    },
  )
})
