import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RedisServer, startRedis } from '../../scripts/lib/redis-server.mjs'
import { type People, startPeople } from '../browser/support/people.ts'

/** `npm run test:next`: two servers of the example, with one Redis. */
const EXAMPLE = join(process.cwd(), 'examples', 'next')
const NEXT = join(EXAMPLE, 'node_modules', 'next', 'dist', 'bin', 'next')

let people: People
let redis: RedisServer
let env: NodeJS.ProcessEnv
const servers: { readonly process: ChildProcess; readonly origin: string }[] = []

/** The form with a refresh token, on two servers, and the form with a session, on a third one. */
const SESSION = 2

async function startServer(more = {}): Promise<void> {
  const started = spawn(process.execPath, [NEXT, 'start', '--port', '0', '--hostname', '127.0.0.1'], {
    cwd: EXAMPLE,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  for await (const chunk of started.stdout as AsyncIterable<Buffer>) {
    said += chunk.toString()
    if (said.includes('Ready')) break
  }
  servers.push({ process: started, origin: /http:\/\/127\.0\.0\.1:\d+/.exec(said)![0] })
}

/** One browser: it has the cookie of its last login. */
class Browser {
  cookie = ''
  /** @returns What the page shows: the name of a user, or `a form`. */
  async look(server: number): Promise<string> {
    const page = await (await fetch(servers[server]!.origin, { headers: { cookie: this.cookie } })).text()
    for (const token of people.tokens) expect(page).not.toContain(token)
    return /<h1>(\w+)<\/h1>/.exec(page)?.[1] ?? (page.includes('name="password"') ? 'a form' : page)
  }
  async post(server: number, path: string, form: Record<string, string> = {}): Promise<number> {
    const { origin } = servers[server]!
    const options = { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' } as const
    const { status, headers } = await fetch(origin + path, { ...options, headers: { cookie: this.cookie, origin } })
    for (const set of headers.getSetCookie()) {
      for (const token of people.tokens) expect(set).not.toContain(token)
      this.cookie = set.split(';')[0]!
    }
    return status
  }
}
const logIn = (browser: Browser, server: number, name: string, password = 'secret') =>
  browser.post(server, '/login', { name, password })

describe('given two Next.js servers that share a store', () => {
  beforeAll(async () => {
    // Next to the framework, as in a user's project.
    for (const name of ['package.json', 'dist'])
      await cp(name, join(EXAMPLE, 'node_modules', 'axios-evergreen', name), { recursive: true })
    people = await startPeople('.')
    redis = await startRedis()
    env = {
      ...process.env,
      NODE_ENV: 'production',
      NEXT_TELEMETRY_DISABLED: '1',
      REDIS_URL: redis.url,
      TOKEN_KEY: randomBytes(32).toString('base64'),
      TOKEN_ENDPOINT: `${people.origin}/oauth/token`,
      REVOCATION_ENDPOINT: `${people.origin}/oauth/revoke`,
      LOGIN_ENDPOINT: `${people.origin}/login`,
      API_URL: `${people.origin}/api`,
    }
    await promisify(execFile)(process.execPath, [NEXT, 'build'], { cwd: EXAMPLE, env })
    await startServer()
    await startServer()
    await startServer({ SESSION_ENDPOINT: `${people.origin}/session` })
  })
  afterAll(async () => {
    for (const { process } of servers) {
      process.kill()
      await once(process, 'exit')
    }
    await redis.stop()
    await people.close()
  })

  let [ada, bob]: Browser[] = []
  beforeEach(async () => {
    ada = new Browser()
    bob = new Browser()
  })

  it('when no user has logged in, or the password is wrong, then there is a form', async () => {
    expect([await ada!.look(0), await logIn(ada!, 0, 'ada', 'wrong'), await ada!.look(0)]).toEqual([
      'a form',
      401,
      'a form',
    ])
  })

  it('when two users log in, then each sees their own page, on both servers, and no token leaves the servers', async () => {
    expect([await logIn(ada!, 0, 'ada'), await logIn(bob!, 1, 'bob')]).toEqual([303, 303])
    const seen = await Promise.all([0, 1, 0, 1].flatMap((server) => [ada!.look(server), bob!.look(server)]))
    expect(seen).toEqual(Array(4).fill(['ada', 'bob']).flat())
  })

  it('when the API rejects the token and many pages are rendered at once, then all have their data, after one refresh', async () => {
    await logIn(ada!, 0, 'ada')
    people.revokeAccess()
    const before = people.refreshes
    const seen = await Promise.all(Array.from({ length: 20 }, (_, n) => ada!.look(n % 2)))
    expect(new Set(seen)).toEqual(new Set(['ada']))
    expect(people.refreshes - before).toBe(1)
  })

  it('when a user logs out at one server, then the other one shows a form, even with the old cookie', async () => {
    await logIn(ada!, 0, 'ada')
    expect(await ada!.look(1)).toBe('ada')
    const { cookie } = ada!
    expect(await ada!.post(0, '/logout')).toBe(303)
    ada!.cookie = cookie
    expect(await ada!.look(1)).toBe('a form')
  })

  it('when another user logs in with the same browser, then nothing of the first user is shown', async () => {
    await logIn(ada!, 0, 'ada')
    await logIn(ada!, 1, 'bob')
    expect([await ada!.look(0), await ada!.look(1)]).toEqual(['bob', 'bob'])
  })
  describe('and a third one, whose login is a session at another server', () => {
    /** At that server. */
    async function begin(browser: Browser, name: string): Promise<void> {
      const form = new URLSearchParams({ name, password: 'secret' })
      const { headers } = await fetch(`${people.origin}/session`, { method: 'POST', body: form })
      browser.cookie = headers.getSetCookie()[0]!.split(';')[0]!
    }

    it('when two users log in, then each sees their own page, and a form once the session has ended', async () => {
      expect(await ada!.look(SESSION)).toBe('a form')
      await begin(ada!, 'ada')
      await begin(bob!, 'bob')
      const seen = await Promise.all([0, 1, 2, 3].flatMap(() => [ada!.look(SESSION), bob!.look(SESSION)]))
      expect(seen).toEqual(Array(4).fill(['ada', 'bob']).flat())
      people.endSessions()
      people.revokeAccess()
      expect([await ada!.look(SESSION), await bob!.look(SESSION)]).toEqual(['a form', 'a form'])
    })

    it('when the API rejects the token and many pages are rendered at once, then all have their data, after one new token of the session', async () => {
      await begin(ada!, 'ada')
      await ada!.look(SESSION)
      people.revokeAccess()
      const before = people.obtains
      const seen = await Promise.all(Array.from({ length: 20 }, () => ada!.look(SESSION)))
      expect([new Set(seen), people.obtains - before]).toEqual([new Set(['ada']), 1])
    })

    it('when a user logs out, then the session has ended, and the old cookie shows a form', async () => {
      await begin(ada!, 'ada')
      await begin(bob!, 'bob')
      expect(await ada!.look(SESSION)).toBe('ada')
      const [{ cookie }, before] = [ada!, people.sessions]
      expect(await ada!.post(SESSION, '/logout')).toBe(303)
      ada!.cookie = cookie
      expect([await ada!.look(SESSION), await bob!.look(SESSION), before - people.sessions]).toEqual([
        'a form',
        'bob',
        1,
      ])
    })
  })
})
