import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createHash, createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { OPTIONS } from '../tools/doctor/doctor-options.ts'
import { EXIT, EXIT_OF } from '../tools/doctor/report.ts'
import { type SimulatedService, startTokenService } from '../tools/testing/index.ts'
import { selfSigned } from './service/certificate.ts'
import { grantText, listening, objectText, serve } from './service/world.ts'
import { type BuiltPackage, buildPackage } from './support/built-package.ts'

const SECRET = 'a-secret-of-nobody'
const CLIENT = { EVERGREEN_CLIENT_ID: 'id-of-nobody', EVERGREEN_CLIENT_SECRET: SECRET }
const LOGIN = { EVERGREEN_LOGIN: 'login-of-nobody', EVERGREEN_PASSWORD: SECRET }
const NEVER = { EVERGREEN_CLIENT_ID: '', EVERGREEN_CLIENT_SECRET: '', EVERGREEN_LOGIN: '', EVERGREEN_PASSWORD: '' }

let built: BuiltPackage
let service: SimulatedService
beforeAll(async () => {
  built = await buildPackage()
})
afterAll(() => built.remove())

/** Runs the program as its users do, and expects none of the secrets in its output. */
async function doctor(args: string[], env: NodeJS.ProcessEnv, secrets: string[] = []) {
  const program = join(built.dir, 'node_modules', 'axios-evergreen', 'dist', 'doctor.js')
  const { code, printed } = await built.run([program, ...args], { ...NEVER, ...env })
  for (const secret of [SECRET, ...secrets]) expect(printed).not.toContain(secret)
  return { code, printed }
}

async function asJson(args: string[], env: NodeJS.ProcessEnv) {
  const { code, printed } = await doctor(['doctor', ...args, '--json'], env)
  const findings = JSON.parse(printed) as Record<string, unknown>
  expect(findings.exitCode).toBe(code)
  return findings
}

const client = () => ({
  EVERGREEN_CLIENT_ID: service.client.clientId,
  EVERGREEN_CLIENT_SECRET: service.client.clientSecret,
})
const login = () => ({ EVERGREEN_LOGIN: service.login.login, EVERGREEN_PASSWORD: service.login.password })

describe('given a token service', () => {
  beforeAll(async () => {
    service = await startTokenService({ accessLifetimeMs: 300_000, clockOffsetMs: 30_000 })
  })
  afterAll(() => service.close())

  it('when --store names no file, then the doctor exits with 2, and sends no request', async () => {
    const before = service.log.length
    const { code, printed } = await doctor(['doctor', '--base-url', service.baseUrl, '--store', 'gone.db'], client(), [
      service.client.clientSecret,
    ])
    expect([code, printed]).toEqual([2, expect.stringMatching(/^--store: there is no file gone\.db/)])
    expect(service.log.length - before).toBe(0)
  })

  it('when its client is used, then the doctor names Variant A, the lifetime and the clock, after one call', async () => {
    const before = service.count('obtain')
    const { code, printed } = await doctor(
      ['doctor', '--base-url', service.baseUrl, '--api', `${service.baseUrl}/wallet?q=1`],
      client(),
      [service.client.clientSecret],
    )
    expect({ code, printed }).toEqual({ code: 0, printed: expect.stringMatching(/All is well\.\n$/) })
    for (const line of [
      /^speaks +Variant A/m,
      /^access token +lives 5 min$/m,
      /^refresh token +none/m,
      /^throttling +no header/m,
      /^API .*\/wallet responded with 200: accepts the token$/m,
    ])
      expect(printed).toMatch(line)
    const [, ahead, off, unit] = /^clock +the service is ([\d.]+) s ahead \(± ([\d.]+) (ms|s), by Date\)$/m.exec(
      printed,
    )!
    // Both numbers are rounded. How far the clock can be off depends on how long the call took.
    expect(Math.abs(Number(ahead) - 30)).toBeLessThanOrEqual(Number(off) / (unit === 'ms' ? 1_000 : 1) + 0.1)
    expect(service.count('obtain') - before).toBe(1)
  })

  it('when its login is used, then the doctor names Variant B, rotation, signature and clock, after two calls', async () => {
    const before = service.log.length
    const findings = await asJson(['--base-url', service.baseUrl], login())
    expect(findings).toMatchObject({
      exitCode: 0,
      speaks: 'variant-b',
      obtain: { status: 200 },
      refresh: { status: 200 },
      rotation: 'new-token',
      signature: { key: 'login + password', encoding: 'hex' },
      clock: { by: 'meta.time' },
      problems: [],
    })
    const { clock, refreshLifetimeMs } = findings as { clock: { aheadMs: number; uncertaintyMs: number } } & {
      refreshLifetimeMs: number
    }
    expect(Math.abs(clock.aheadMs - 30_000)).toBeLessThanOrEqual(clock.uncertaintyMs + 1)
    expect(refreshLifetimeMs).toBeGreaterThan(6 * 3_600_000 - 60_000)
    expect(service.log.slice(before).map(({ kind }) => kind)).toEqual(['obtain', 'refresh'])
  })

  it('when a refresh is rejected, then that is reported, and the API is called anyway', async () => {
    service.failNext('refresh', { status: 401 })
    const findings = await asJson(['--base-url', service.baseUrl, '--api', service.baseUrl], login())
    expect(findings).toMatchObject({
      exitCode: 8,
      problems: [{ step: 'refresh', code: 'ERR_REFRESH_REJECTED' }],
      api: { status: 200, takesToken: true },
    })
  })

  it.each([
    [204, { takesToken: true }, 0, []],
    [401, { takesToken: false }, 9, ['API_REFUSES_TOKEN']],
    ...[302, 400, 402, 403, 404, 405, 407, 410, 418, 429, 503].map(
      (status) => [status, {}, 10, ['API_UNCLEAR']] as const,
    ),
  ] as const)(
    'when the API responds with %i, then its words about the token are reported (F251)',
    async (status, api, exitCode, codes) => {
      service.failNext('resource', { status })
      const before = service.log.length
      const findings = await asJson(['--base-url', service.baseUrl, '--api', service.baseUrl], client())
      const problems = codes.map((code) => ({ step: 'api', code }))
      expect(findings).toMatchObject({ exitCode, api: { status, ...api }, problems })
      expect(findings.api).toHaveProperty('status')
      if (exitCode === 10) expect(findings.api).not.toHaveProperty('takesToken')
      expect(service.log.length - before).toBe(2)
    },
  )

  it('when the API returns 403, then the report says that this may concern the account or the token (F251)', async () => {
    service.failNext('resource', { status: 403 })
    const { code, printed } = await doctor(
      ['doctor', '--base-url', service.baseUrl, '--api', service.baseUrl],
      client(),
    )
    expect([code, printed]).toEqual([
      10,
      expect.stringMatching(/responded with 403: it rejects this account, or this token/),
    ])
    expect(printed).not.toContain('All is well')
  })

  it('when the API may not receive a token, then nothing is called', async () => {
    const before = service.log.length
    const args = ['doctor', '--base-url', service.baseUrl, '--api', 'http://api.example.com']
    const { code, printed } = await doctor(args, client())
    expect([code, service.log.length - before]).toEqual([2, 0])
    expect(printed).toContain('https')
  })

  it('when no key matches the tag, then the doctor says that the key is wrong', async () => {
    service.failNext('obtain', { corrupt: 'signature' })
    const findings = await asJson(['--base-url', service.baseUrl], login())
    expect(findings).toMatchObject({ exitCode: 7, signature: 'wrong', problems: [{ code: 'ERR_SIGNATURE' }] })
    expect(findings).not.toHaveProperty('refresh')
  })
})

describe('given a service that signs differently', () => {
  it.each([
    ['hex', false],
    ['base64', false],
    ['base64url', true],
  ] as const)('when tags are %s, then key and encoding are reported', async (encoding, isDigest) => {
    const secret = LOGIN.EVERGREEN_LOGIN + SECRET
    const key = isDigest ? createHash('sha256').update(secret).digest() : secret
    const server = await serve((request, reply) => {
      const now = new Date().toISOString().slice(0, -1)
      const signed = Array.from({ length: 1_000 }, (_, n) => {
        const time = `${now}${String(n).padStart(3, '0')}Z`
        return { time, sign: createHmac('sha256', key).update(`${time}refresh-1`).digest(encoding) }
      })
      // Many tags are the same text in base64 and in base64url. This tag must distinguish the two.
      const { time, sign } = signed.find((one) => encoding === 'hex' || /[-_+/]/.test(one.sign))!
      const attributes = objectText({
        access: '"issued-token"',
        refresh: '"refresh-1"',
        access_expired_at: JSON.stringify(new Date(Date.now() + 60_000).toISOString()),
        refresh_expired_at: JSON.stringify(new Date(Date.now() + 600_000).toISOString()),
      })
      const data = objectText({ type: '"auth-token"', id: '"1"', attributes })
      if (request.url?.endsWith('/refresh/')) reply.setHeader('X-RateLimit-Remaining', '13').end(data)
      else reply.end(objectText({ data, meta: JSON.stringify({ time, sign }) }))
    })
    expect(await asJson(['--base-url', server.origin], LOGIN)).toMatchObject({
      exitCode: 0,
      signature: { key: isDigest ? 'SHA-256 of login + password' : 'login + password', encoding },
      rotation: 'same-token',
      throttling: { 'x-ratelimit-remaining': '13' },
    })
  })
})

describe('given a service whose clock is off', () => {
  it.each([
    [600_000, /The clock of this machine is 10 min behind the clock of the service/],
    [-600_000, /The clock of this machine is 10 min ahead of the clock of the service/],
  ])('when it is ahead by %i ms, then the doctor says how much and which way (F253)', async (clockOffsetMs, line) => {
    service = await startTokenService({ clockOffsetMs })
    try {
      for (const env of [client(), login()]) {
        const told = await doctor(['doctor', '--base-url', service.baseUrl], env)
        expect(told).toEqual({ code: 11, printed: expect.stringMatching(line) })
        expect(told.printed).toMatch(/\nExit code 11\.\n$/)
      }
    } finally {
      await service.close()
    }
  })
})

describe('given a service whose clock is off, and an API at another origin', () => {
  it.each([
    ['this machine', 0, /The clock of the API agrees with this machine, so the clock of the service is 10 min ahead/],
    ['the service', 600_000, /The clock of the API agrees with the service: set the clock of this machine \(NTP\)/],
    ['neither', -600_000, /Compare this machine with a time server/],
  ])(
    'F432: when the clock of the API agrees with %s, then the doctor says whose is wrong',
    async (_, aheadMs, line) => {
      service = await startTokenService({ clockOffsetMs: 600_000 })
      const api = await serve((_, reply) => reply.setHeader('Date', new Date(Date.now() + aheadMs).toUTCString()).end())
      try {
        const told = await doctor(['doctor', '--base-url', service.baseUrl, '--api', api.origin], client())
        expect(told).toEqual({ code: 11, printed: expect.stringMatching(line) })
      } finally {
        await service.close()
      }
    },
  )
})

describe('given a service with unexpected headers', () => {
  const NASTY = `1 (${SECRET})`
  it.each([
    ['Retry-After', NASTY],
    ['X-RateLimit-Reset', `${SECRET} 1`],
    ['RateLimit-Reset', '\u009b31m1'],
    [`X-RateLimit-${SECRET}`, '1'],
    ['Date', NASTY],
  ])('when the header %s is %j, then nothing of it is shown (F252)', async (name, value) => {
    const server = await serve((_, reply) => {
      reply.setHeader(name, value)
      reply.writeHead(429).end()
    })
    for (const more of [[], ['--json']]) {
      const { code, printed } = await doctor(['doctor', '--base-url', server.origin, ...more], CLIENT)
      expect(code).toBe(5)
      expect(printed).not.toMatch(/(?!\n)\p{Cc}/u)
    }
  })

  it('when limits are digits and dates, then they are shown (F252)', async () => {
    const date = 'Sun, 22 Nov 2026 10:00:00 GMT'
    const server = await serve((_, reply) =>
      reply.writeHead(429, { 'Retry-After': date, 'X-RateLimit-Limit-Minute': '15' }).end(),
    )
    const findings = await asJson(['--base-url', server.origin], CLIENT)
    expect(findings.throttling).toEqual({ 'retry-after': date, 'x-ratelimit-limit-minute': '15' })
  })
})

describe('given a proxy in the environment', () => {
  it('when no proxy is listening there, then the doctor names it and the variable (F225)', async () => {
    const env = { ...CLIENT, HTTP_PROXY: `http://me:${SECRET}@127.0.0.1:1`, http_proxy: '', NO_PROXY: '', no_proxy: '' }
    const { code, printed } = await doctor(['doctor', '--base-url', 'http://localhost:3'], env)
    expect(code).toBe(3)
    expect(printed).toMatch(/^proxy +127\.0\.0\.1:1, from HTTP_PROXY$/m)
    expect(printed).toContain('The call went to the proxy that HTTP_PROXY names, and not to the service.')
  })
})

describe('given a peer that is not such a service (F372)', () => {
  const answering = (status: number, body: string, headers: Record<string, string> = {}) =>
    serve((_, reply) => reply.writeHead(status, headers).end(body))

  it.each([
    ['a wrong path', 404, '{}', {}, 6, /check baseUrl/],
    ['a web page', 200, '<!doctype html><p>Welcome', { 'Content-Type': 'text/html' }, 6, /The response is a web page/],
    ['a firewall (F372)', 403, '<p>No', { 'Content-Type': 'text/html' }, 6, /something in front of the service/],
    ['a redirect', 302, '', { Location: 'https://login.example.com/' }, 6, /a redirect to another origin/],
    ['an OAuth 2.0 server', 200, `{"access_token":"${SECRET}","expires_in":60}`, {}, 6, /^speaks +OAuth 2\.0/m],
    ['OAuth 2.0 that refuses', 400, '{"error":"invalid_request"}', {}, 6, /use oauth2\(\{ tokenEndpoint/],
    ['the other variant', 200, grantText().replace('issued', SECRET), {}, 6, /^speaks +Variant A/m],
    ['wrong credentials', 401, `{"detail":"${SECRET}"}`, {}, 4, /Compare the environment variables/],
    ['throttling', 429, '', { 'Retry-After': '17', 'RateLimit-Limit': '15' }, 5, /Wait 17 s/],
    ['throttling headers', 429, '', { 'X-RateLimit-Limit': `15 ${SECRET}` }, 5, /x-ratelimit-limit: \(not shown\)/],
    ['a service that fails', 503, SECRET, {}, 3, /try again later/],
    ['garbage', 200, SECRET, {}, 6, /not JSON/],
  ] as const)(
    'when it finds %s, then the doctor says what it received and what to do',
    async (_, status, body, headers, code, line) => {
      const server = await answering(status, body, headers)
      const told = await doctor(['doctor', '--base-url', server.origin], LOGIN, ['issued-token'])
      expect(told).toEqual({ code, printed: expect.stringMatching(line) })
      expect(told.printed).toContain(`responded with ${status}`)
      expect(server.seen).toHaveLength(1)
    },
  )

  it('when no server is listening, then it says so', async () => {
    const told = await doctor(['doctor', '--base-url', 'http://127.0.0.1:1'], CLIENT)
    expect(told).toEqual({ code: 3, printed: expect.stringMatching(/ECONNREFUSED[^]*There was no response/) })
  })

  it('when the host is unknown, then it says so', async () => {
    const told = await doctor(['doctor', '--base-url', 'https://no-such-host.invalid'], {
      ...CLIENT,
      HTTPS_PROXY: '',
      https_proxy: '',
      // Without a network the resolver would try for longer than the doctor waits.
      RES_OPTIONS: 'timeout:1 attempts:1',
    })
    expect(told).toEqual({ code: 3, printed: expect.stringMatching(/(ENOTFOUND|EAI_AGAIN)[^]*unknown host/) })
  })

  it('when its certificate is not trusted, then it says so; when it is, then it works', async () => {
    const { key, cert } = selfSigned('localhost')
    const server = createServer({ key, cert }, (_, reply) => reply.end(grantText()))
    const baseUrl = `https://localhost:${(await listening(server)).split(':')[1]}`
    const trusted = join(built.dir, 'authority.pem')
    writeFileSync(trusted, cert)
    const env = { ...CLIENT, NODE_EXTRA_CA_CERTS: trusted }
    expect(await doctor(['doctor', '--base-url', baseUrl], env, ['issued-token'])).toMatchObject({ code: 0 })
    const told = await doctor(['doctor', '--base-url', baseUrl], CLIENT)
    expect(told).toEqual({
      code: 6,
      printed: expect.stringMatching(/does not trust the certificate[^]*NODE_EXTRA_CA_CERTS/),
    })
  })

  it('when its certificate has expired, then it says so, and does not claim that there was no response', async () => {
    const { key, cert } = selfSigned('localhost', [-3, -2])
    const server = createServer({ key, cert })
    const baseUrl = `https://localhost:${(await listening(server)).split(':')[1]}`
    const trusted = join(built.dir, 'expired.pem')
    writeFileSync(trusted, cert)
    const told = await doctor(['doctor', '--base-url', baseUrl], { ...CLIENT, NODE_EXTRA_CA_CERTS: trusted })
    expect(told).toEqual({ code: 3, printed: expect.stringMatching(/CERT_HAS_EXPIRED[^]*not valid now/) })
    expect(told.printed).not.toContain('There was no response')
  })
})

describe('given an invalid call of the doctor', () => {
  const BASE = ['--base-url', 'https://payments.example.com/api']
  it.each([
    [['doctor', ...BASE, '--client-secret', SECRET], CLIENT, /Do not pass credentials as arguments/],
    [['doctor', ...BASE, `--password=${SECRET}`], LOGIN, /Do not pass credentials as arguments/],
    [['doctor', ...BASE, '-u', SECRET], LOGIN, /Do not pass credentials as arguments/],
    [['doctor', ...BASE, SECRET], LOGIN, /argument without an option/],
    [['doctor', ...BASE, '--verbose'], LOGIN, /^There is no option --verbose\.$/m],
    [['doctor', '--baseurl', SECRET], LOGIN, /^There is no option --baseurl: did you mean --base-url\?$/m],
    [['doctor', '--baseUrl', SECRET], LOGIN, /^There is no such option: did you mean --base-url\?$/m],
    [['doctor', ...BASE, '--user', SECRET], LOGIN, /Do not pass credentials as arguments/],
    [['doctor'], CLIENT, /--base-url must be given/],
    [['doctor', '--base-url'], CLIENT, /--base-url must be given/],
    [['doctor', '--base-url', SECRET], CLIENT, /^--base-url must be an absolute.* not shown/],
    [['doctor', '--base-url', `https:${SECRET}`], CLIENT, /^--base-url must be an absolute.* not shown/],
    [
      ['doctor', '--base-url', `https://me:${SECRET}@payments.example.com`],
      CLIENT,
      /must not carry a user or password/,
    ],
    [
      ['doctor', '--base-url', 'http://payments.example.com'],
      CLIENT,
      /^--base-url must be https.* pass --allow-insecure-http/,
    ],
    [
      ['doctor', '--base-url', 'http://payments.example.com', '--allow-insecure-http=false'],
      CLIENT,
      /^--allow-insecure-http takes no value/,
    ],
    [['doctor', ...BASE, '--api'], CLIENT, /--api must be given/],
    [['doctor', ...BASE, '--api', '/wallet'], CLIENT, /--api must be an absolute/],
    [['doctor', ...BASE], {}, /Set EVERGREEN_CLIENT_ID and EVERGREEN_CLIENT_SECRET/],
    [['doctor', ...BASE], { EVERGREEN_LOGIN: 'me' }, /EVERGREEN_PASSWORD must be set, too/],
    [['doctor', ...BASE], { ...CLIENT, ...LOGIN }, /not both/],
    [
      ['doctor', ...BASE],
      { ...CLIENT, EVERGREEN_CLIENT_SECRET: `${SECRET}\n` },
      /^EVERGREEN_CLIENT_SECRET must have no line break/,
    ],
    [['doctor', ...BASE], { ...CLIENT, EVERGREEN_CLIENT_ID: 'null' }, /^EVERGREEN_CLIENT_ID must be.*variable set\?$/m],
    [['doctor', ...BASE], { ...LOGIN, EVERGREEN_LOGIN: 'me\n' }, /^EVERGREEN_LOGIN must have no line break/],
    [
      ['doctor', ...BASE],
      { ...LOGIN, EVERGREEN_PASSWORD: `${SECRET}\n` },
      /^EVERGREEN_PASSWORD must have no line break/,
    ],
    [['doctors', ...BASE], CLIENT, /The commands are doctor and token/],
  ])('when it is called with %j, then it says what to do, and calls nothing', async (args, env, message) => {
    const told = await doctor(args, env)
    expect(told).toEqual({ code: 2, printed: expect.stringMatching(message) })
    // The sentence is what a user of a shell sees: no usage pushes it off the screen.
    expect(told.printed).toMatch(/^.+[.?]\nFor the options, run: npx axios-evergreen doctor --help\n$/)
  })

  it.each([[['--help']], [['doctor', '-h']]])('when help is requested with %j, then it is printed', async (args) => {
    expect(await doctor(args, {})).toEqual({ code: 0, printed: expect.stringContaining('--base-url URL') })
  })

  it.each([[['--version']], [['doctor', '-v']]])(
    'when the version is requested with %j, then it is printed',
    async (args) => {
      const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
      expect(await doctor(args, {})).toEqual({ code: 0, printed: `${version}\n` })
    },
  )
})

describe('given the page of the doctor', () => {
  it('when its options are read, then they are those of the program, and its help lists them', async () => {
    const page = readFileSync('docs/doctor.md', 'utf8')
    const told = Array.from(page.matchAll(/^- `(--[a-z-]+)/gm), ([, name]) => name)
    expect(told).toEqual(Object.keys(OPTIONS).map((name) => `--${name}`))
    const { printed } = await doctor(['--help'], {})
    for (const name of told) expect(printed).toMatch(new RegExp(`^ +(-., )?${name}`, 'm'))
  })

  it('when its example of a wrong secret is read, then the program prints this problem', async () => {
    const [example] = /^PROBLEM [^]*?(?=\n```)/m.exec(readFileSync('docs/doctor.md', 'utf8'))!
    const { origin } = await serve((_, reply) => reply.writeHead(400).end('{}'))
    const { printed } = await doctor(['doctor', '--base-url', `${origin}/api`], CLIENT)
    const shown = printed
      .replaceAll(origin, 'https://payments.example.com')
      .replace(/^ {2}Compare .*$/m, '  Compare […]')
    expect(shown).toContain(example)
  })

  it('when its exit codes are read, then they are those of the program', () => {
    const [, list] = readFileSync('docs/doctor.md', 'utf8').split('## Exit codes')
    const told = Array.from(list!.matchAll(/^- \*\*(\d+)\*\*:/gm), ([, code]) => Number(code))
    const used = new Set([...Object.values(EXIT), ...Object.values(EXIT_OF)])
    expect(told).toEqual([...used].sort((one, other) => one - other))
  })
})
