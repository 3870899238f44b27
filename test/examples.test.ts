import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { existsSync, readdirSync } from 'node:fs'
import { cp, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type BuiltPackage, buildPackage } from './support/built-package.ts'
import { describeRedis } from './support/redis-server.ts'

let built: BuiltPackage
/** Pages are not programs. What is installed stays where it is. */
const NOT_COPIED = /^examples.(pages|next)$|.node_modules$/

beforeAll(async () => {
  built = await buildPackage()
  const filter = (path: string) => !NOT_COPIED.test(path)
  for (const name of ['examples', 'scripts/example.mjs', 'scripts/lib', 'tsconfig.json'])
    await cp(name, join(built.dir, name), { recursive: true, filter })
  for (const name of readdirSync('examples').map((folder) => join('examples', folder, 'node_modules')))
    if (existsSync(name) && existsSync(join(built.dir, dirname(name))))
      await symlink(resolve(name), join(built.dir, name), 'junction')
})

afterAll(() => built.remove())

const example = (name: string, args: string[] = [], env = {}) =>
  built.run([join(built.dir, 'scripts', 'example.mjs'), name, ...args], env)

describe('given an example', () => {
  it.each([
    ['existing-instance', [/^retry 1 after 503$/m, /^5 requests, 2 token requests$/m]],
    ['service-client', [/^paid: .*"EUR"/m, /^No payment was made \(ERR_CREDENTIALS_REJECTED\)$/m]],
    ['openapi', [/^GET \/wallets\/w%201 succeeded$/m]],
    ['nest', [/^response: \/wallet$/m]],
    ['several', [/^payments: 3 requests, 1 token request$/m, /: 200 and 200$/m]],
    ['accounts', [/^bakery: 3 requests, 1 token request$/m, /^garage: 3 requests, 1 token request$/m]],
    [
      'own-source',
      [/^200 200 200, with 1 token request$/m, /^ERR_CREDENTIALS_REJECTED: .* failed with 401 invalid_client$/m],
    ],
    ['mcp', [/^Unauthorized$/m, /^1 refresh, 0 reuse alarms$/m, /^1 revocation$/m]],
    ['cli', [/^Usage: my-tool login \[--device\] \| whoami \| logout$/m]],
    ['own-store', [/^the register passes \d+ checks$/m, /^3 managers hold 1 token, after 1 token request$/m]],
    [
      'oauth2',
      [
        /^200 200 200, with 1 token request$/m,
        /^ERR_LOGIN_REQUIRED$/m,
        /^logged in; 1 refresh$/m,
        /^refresh token rejected: (expiry-unknown|revoked-or-used), obtain$/m,
        /^ERR_LOGIN_REQUIRED: /m,
      ],
    ],
    [
      'observability',
      [
        /renewed: obtain \(cold\), 2 calls/,
        /^health \{"status":200/m,
        /^evergreen.token.calls \{.*"accepted"\} 1$/m,
        /^span token obtain .*503/m,
      ],
    ],
    ['testing', [/^# pass 3$/m, /^# fail 0$/m]],
    ['demo', [/held {3}every request succeeded/]],
  ])('when %s is run, then it prints what it promises, and exits with 0', async (name, lines) => {
    const { code, printed } = await example(name)
    if (code !== 0) throw new Error(`It ended with ${code}:\n${printed}`)
    for (const line of lines) expect(printed).toMatch(line)
  })

  it('when rotating-credentials is run, then the manager pauses for a minute after the rejected ones, and uses the new ones', async () => {
    const startedAt = Date.now()
    const { code, printed } = await example('rotating-credentials')
    expect([code, printed]).toEqual([0, expect.stringMatching(/with 200; the secret manager was read 2 times$/m)])
    const next = Date.parse(/^rejected; no token request before (\d{4}-.*Z)$/m.exec(printed)![1]!)
    expect(next).toBeGreaterThanOrEqual(startedAt + 60_000)
    expect(next).toBeLessThanOrEqual(Date.now() + 60_000)
  })

  it('when there is no example of that name, then the existing ones are listed', async () => {
    const { code, printed } = await example('fleets')
    expect([code, printed]).toEqual([1, expect.stringMatching(/There is no example 'fleets'[^]*\n {2}fleet\n/)])
  })
})

describe('given the example of a fleet', () => {
  it.each([
    ['REDIS_URL leads nowhere', { REDIS_URL: 'redis://127.0.0.1:1' }, 'No Redis answers at REDIS_URL'],
    ['there is no redis-server', { PATH: '' }, 'There is no redis-server on PATH'],
  ])('when %s, then it ends at once and says what to do', async (_, env, message) => {
    const { code, printed } = await example('fleet', [], { REDIS_URL: '', ...env })
    expect([code, printed]).toEqual([1, expect.stringContaining(message)])
    expect(printed).toContain('Install redis-server, or set REDIS_URL')
  })

  describeRedis('and a Redis server', () => {
    it('when it is run, then processes that share make fewer token requests, and no request fails', async () => {
      const { code, printed } = await example('fleet', ['4'])
      const sums = printed.matchAll(/(\d+) token requests in ([\d.]+) s, [1-9]\d* requests served, 0 failed/g)
      const [alone, shared, ...others] = [...sums].map(
        ([, calls, seconds]) => [Number(calls), Number(seconds)] as const,
      )
      expect([code, others]).toEqual([0, []])
      // On their own, eight processes make eight calls or more. Sharing, they make those of one: its tokens of 4 s are due after 1.6 s.
      expect(alone![0]).toBeGreaterThanOrEqual(8)
      expect(shared![0]).toBeLessThanOrEqual(2 + shared![1] / 1.6)
    })
  })
})
