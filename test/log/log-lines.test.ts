import { describe, expect, it } from '@jest/globals'
import type { AxiosAdapter } from 'axios'
import { readFileSync } from 'node:fs'
import { createTokenManager, logEvents } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { answering } from '../service/world.ts'
import { settle } from '../support/watched-clock.ts'
import { outcome } from '../support/managed.ts'

type Answer = readonly [status: number, body: object]

/** One server whose responses take 60 ms, and one log for all its managers. */
function world() {
  const clock = manualClock()
  const lines: string[] = []
  const fields: object[] = []
  const script: Answer[] = []
  let issued = 0
  const grant = () => ({ access_token: `a${++issued}`, refresh_token: `r${issued}`, expires_in: 300 })
  const adapter: AxiosAdapter = async (config) => {
    await new Promise<void>((resolve) => clock.setTimer(resolve, 60))
    const [status, body] = script.shift() ?? [200, grant()]
    return answering(JSON.stringify(body), status)(config)
  }
  const at = (level: string) => (told: object, line: string) => void (lines.push(`${level} ${line}`), fields.push(told))
  const log = { info: at('info'), warn: at('warn'), error: at('error') }
  const manage = (name: string, options: Partial<OAuth2Options>, more: object = {}): LoginManager => {
    const [clientId, tokenEndpoint] = ['shop', 'https://id.example.com/token']
    const source = oauth2({ tokenEndpoint, clientId, transport: { adapter }, ...options })
    const tokens = createTokenManager({
      source,
      clock,
      random: () => 0.5,
      retry: { maxAttempts: 2 },
      ...more,
    }) as LoginManager
    logEvents(tokens, log, { name, fields: true })
    return tokens
  }
  const after = async (act: Promise<unknown>) => {
    const ended = outcome(act as Promise<string>)
    await clock.advance(1_000)
    await ended
    await settle()
  }
  return { after, clock, fields, lines, manage, script }
}

/** A course that emits each event. */
async function course() {
  const { after, clock, fields, lines, manage, script } = world()
  const bakery = manage('bakery', { clientSecret: 's', refreshTokens: 'single-use' })
  await after(bakery.getAccessToken())
  script.push([503, {}])
  await after(bakery.renew())
  await clock.advance(30_000)
  script.push([400, { error: 'invalid_grant' }])
  await after(bakery.renew())
  await clock.advance(30_000)
  script.push([401, { error: 'invalid_client' }], [401, { error: 'invalid_client' }])
  await after(bakery.renew())
  await bakery.close()
  const gone = () => Promise.reject(new TypeError('gone'))
  const store = sharedStore({ kind: 'example', read: gone, replace: gone })
  const person = manage('ada', { grant: 'login', account: 'ada' }, { store })
  await after(person.adopt({ accessToken: 'a', accessLifetimeMs: 300_000, refreshToken: 'r' }))
  await after(person.logout())
  await person.close()
  return { fields, lines }
}

describe('given docs/operations.md', () => {
  it('F308: when a course emits each event, then its lines are those of the page, each with the name of its manager', async () => {
    const { lines } = await course()
    const shown = /```text\n((?:(?:info|warn|error) axios-evergreen \(.*\n)+)```/.exec(
      readFileSync('docs/operations.md', 'utf8'),
    )?.[1]
    expect(lines).toEqual(shown?.trim().split('\n'))
  })

  it('when it shows lines, then each event is among them', () => {
    const source = readFileSync('src/log/log-events.ts', 'utf8').split('const LINES')[1]!
    const written = Array.from(source.matchAll(/^ {2}(\w+): \(/gm), ([, name]) => name)
    const page = readFileSync('docs/operations.md', 'utf8')
    const told = Array.from(
      page.matchAll(/^(?:info|warn|error) axios-evergreen \(\w+\): (\w+): /gm),
      ([, name]) => name,
    )
    expect([...new Set(told)].sort()).toEqual(written.sort())
  })

  it('F308: when fields are enabled, then they hold what applies, and no message', async () => {
    const { fields } = await course()
    expect(fields).toContainEqual({
      ...{
        event: 'retry',
        name: 'bakery',
        code: 'ERR_REFRESH_REJECTED',
        status: 400,
        serviceCode: 'invalid_grant',
        attempt: 1,
      },
    })
    expect(fields).toContainEqual({ event: 'renewed', name: 'bakery', by: 'obtain', because: 'cold', durationMs: 60 })
    expect(fields).toContainEqual({ event: 'anomaly', name: 'ada', kind: 'not-revoked' })
    expect(fields).toContainEqual({ event: 'loginChanged', name: 'ada', by: 'here' })
  })
})
