import { describe, expect, it } from '@jest/globals'
import { createHash, createPublicKey, verify } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { createTokenManager, type TokenError } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { dpopKey } from '../../src/dpop/index.ts'
import { withBearer } from '../../src/fetch/index.ts'
import { challengeOf, forResource, type OAuth2Options } from '../../src/oauth2/index.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { newKey } from '../dpop/support/keys.ts'
import { answering, failureOf } from '../service/world.ts'
import { ScriptedSource } from '../support/managed.ts'
import { exchanged, GRANT, sentBy, sourceBehind } from '../oauth2/world.ts'

/** Two identifiers and a refresh token of the examples of RFC 6749. */
const EXAMPLE = { clientId: 's6BhdRkqt3', clientSecret: '7Fjfp0ZBr1KtDRbnfVdmIw' }
const REFRESH_TOKEN = 'tGzv3JOkF0XG5Qx2TlKWIA'
const LOGIN = { grant: 'login' } as const

const members = (body: string) => [...new URLSearchParams(body)].map((pair) => pair.join('='))
const failing = (error: string, refreshToken?: string, options: Partial<OAuth2Options> = {}, status = 400) =>
  failureOf(exchanged(sourceBehind(answering(JSON.stringify({ error }), status), options), refreshToken))
const codeOf = async (error: string, refreshToken?: string) => (await failing(error, refreshToken)).code
const granted = async (response: object, refreshToken?: string, options: Partial<OAuth2Options> = {}) =>
  (await exchanged(sourceBehind(answering(JSON.stringify(response)), options), refreshToken)).grant

/** The token and the requests of one call through fetch, at an API that rejects the first one. */
async function called(challenge?: string, status = 401) {
  const tokens = createTokenManager({ source: new ScriptedSource(), clock: manualClock() })
  const sent: (string | null)[] = []
  const api = withBearer(
    (_: unknown, init?: RequestInit) => {
      sent.push(new Headers(init?.headers).get('authorization'))
      const isRejected = challenge !== undefined && sent.length === 1
      const headers = { 'WWW-Authenticate': challenge ?? '' }
      return Promise.resolve(isRejected ? new Response('', { status, headers }) : new Response('ok'))
    },
    tokens,
    { origins: ['https://api.example'] },
  )
  const response = await api('https://api.example/orders', {})
  return { sent, status: response.status, challenge: challengeOf(response) }
}
const asks = (challenge: string, status = 401) =>
  challengeOf(new Response('', { status, headers: { 'WWW-Authenticate': challenge } }))

/** A server that answers each address, and what it received. */
function serverOf(answers: Readonly<Record<string, object>>, options: Partial<OAuth2Options>) {
  const seen: string[] = []
  const source = sourceBehind(
    (config) => {
      const { href } = new URL(config.url ?? '')
      seen.push(`${(config.method ?? '').toUpperCase()} ${href}`)
      return answering(JSON.stringify(answers[href] ?? {}), answers[href] ? 200 : 404)(config)
    },
    { tokenEndpoint: undefined, ...options },
  )
  return { source, seen }
}
const ISSUER = 'https://example.com'
const TOKEN = `${ISSUER}/token`
const metadata = (issuer: string, more: object = {}) => ({ issuer, token_endpoint: TOKEN, ...more })
const CERTIFICATE = { clientSecret: undefined, clientAuthentication: 'none', transport: undefined } as const

async function revoked(status: number, body: object | string) {
  let sent = ''
  const source = sourceBehind(
    (config) => {
      sent = String(config.data)
      return answering(typeof body === 'string' ? body : JSON.stringify(body), status)(config)
    },
    { revocationEndpoint: `${ISSUER}/revoke`, ...LOGIN },
  )
  const context = { signal: new AbortController().signal, clock: manualClock() }
  const error: unknown = await Promise.resolve(source.revoke!({ refreshToken: '45ghiukldjahdnhzdauz' }, context)).catch(
    (thrown: unknown) => thrown,
  )
  return { error: error as TokenError | undefined, sent: members(sent) }
}

async function pauseFor(retryAfter: string): Promise<number | undefined> {
  const headers = { 'Retry-After': retryAfter, Date: 'Sun, 06 Nov 1994 08:49:00 GMT' }
  return (await failureOf(exchanged(sourceBehind(answering('', 503, headers))))).retryAfterMs
}

const proofOf = async (request: { method: string; url: string; token?: string }) => {
  const key = await newKey()
  const [head = '', body = '', signature = ''] = (await key.prove(request)).split('.')
  const partOf = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>
  return {
    header: partOf(head),
    claims: partOf(body),
    signed: `${head}.${body}`,
    signature: Buffer.from(signature, 'base64url'),
  }
}
const thumbprintOf = (publicJwk: object) => dpopKey({ publicJwk: publicJwk, sign: async (data) => data }).thumbprint
const RSA_N =
  '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw'

const EXCHANGE = {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token: 'accVkjcJyb4BWCxGsndESCJQbdFMogUC5PbRDqceLTC',
  subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
}
const JWT = 'eyJhbGciOiJFUzI1NiJ9.eyJpc3Mi.J9l-ZhwP'

/** A login with tokens for two resources, and the resources that each refresh named. */
async function resourcesOf(resource: string | readonly string[]) {
  const sent: string[][] = []
  const source = sourceBehind((config) => {
    sent.push(new URLSearchParams(String(config.data)).getAll('resource'))
    return answering(JSON.stringify({ ...GRANT, refresh_token: `next-${sent.length}` }))(config)
  }, LOGIN)
  const tokens = createTokenManager({ source, clock: manualClock() }) as LoginManager
  await tokens.adopt({ refreshToken: 'r' })
  const one = forResource(tokens, { resource })
  await one.getAccessToken()
  await tokens.close()
  return sent.at(-1)
}

const CHECKS: readonly (readonly [section: string, check: () => unknown])[] = [
  [
    'RFC 6749, 2.3.1',
    async () => {
      const { headers } = await sentBy(EXAMPLE)
      expect(headers.authorization).toBe('Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3')
    },
  ],
  [
    'RFC 6749, 2.3.1',
    async () => {
      const { body } = await sentBy({ ...EXAMPLE, clientAuthentication: 'post' })
      expect(members(body)).toEqual(
        expect.arrayContaining(['client_id=s6BhdRkqt3', 'client_secret=7Fjfp0ZBr1KtDRbnfVdmIw']),
      )
    },
  ],
  [
    'RFC 6749, appendix B',
    async () => {
      const { body } = await sentBy({ parameters: { value: ' %&+£€' } })
      expect(body).toContain('value=+%25%26%2B%C2%A3%E2%82%AC')
    },
  ],
  [
    'RFC 6749, 4.4.2',
    async () => {
      const { body, method, headers } = await sentBy(EXAMPLE)
      expect([method, body, headers['Content-Type']]).toEqual([
        'post',
        'grant_type=client_credentials',
        'application/x-www-form-urlencoded',
      ])
    },
  ],
  [
    'RFC 6749, 5.1',
    async () => {
      const response = {
        access_token: '2YotnFZFEjr1zCsicMWpAA',
        token_type: 'example',
        expires_in: 3600,
        example_parameter: 'example_value',
      }
      expect(await granted({ ...response, token_type: 'Bearer' })).toEqual({
        accessToken: '2YotnFZFEjr1zCsicMWpAA',
        accessLifetimeMs: 3_600_000,
      })
    },
  ],
  ['RFC 6749, 5.2', async () => expect(await codeOf('invalid_request')).toBe('ERR_TOKEN_REQUEST')],
  [
    'RFC 6749, 5.2',
    async () => {
      expect(await codeOf('invalid_client')).toBe('ERR_CREDENTIALS_REJECTED')
      expect((await failing('invalid_client', 'r', LOGIN, 401)).refreshToken).toBe('kept')
    },
  ],
  [
    'RFC 6749, 5.2',
    async () => {
      expect(await failing('invalid_grant', 'r')).toMatchObject({
        code: 'ERR_REFRESH_REJECTED',
        refreshToken: 'refused',
      })
    },
  ],
  ['RFC 6749, 5.2', async () => expect(await codeOf('unauthorized_client')).toBe('ERR_CREDENTIALS_REJECTED')],
  ['RFC 6749, 5.2', async () => expect(await codeOf('unsupported_grant_type')).toBe('ERR_TOKEN_REQUEST')],
  [
    'RFC 6749, 5.2',
    async () => {
      expect(await codeOf('invalid_scope')).toBe('ERR_TOKEN_REQUEST')
      const sent: string[] = []
      const source = sourceBehind(
        (config) => {
          sent.push(String(config.data))
          const isRejected = String(config.data).includes('scope=')
          return answering(
            JSON.stringify(isRejected ? { error: 'invalid_scope' } : GRANT),
            isRejected ? 400 : 200,
          )(config)
        },
        { ...LOGIN, scope: 'read' },
      )
      await exchanged(source, 'r')
      expect(sent).toHaveLength(2)
    },
  ],
  [
    'RFC 6749, 6',
    async () => {
      const { body, headers } = await sentBy({ ...EXAMPLE, ...LOGIN }, REFRESH_TOKEN)
      expect([body, headers.authorization]).toEqual([
        `grant_type=refresh_token&refresh_token=${REFRESH_TOKEN}`,
        'Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3',
      ])
    },
  ],
  [
    'RFC 6749, 6',
    async () => {
      const presented: (string | null)[] = []
      const source = sourceBehind((config) => {
        presented.push(new URLSearchParams(String(config.data)).get('refresh_token'))
        return answering(JSON.stringify(GRANT))(config)
      }, LOGIN)
      const tokens = createTokenManager({ source, clock: manualClock() }) as LoginManager
      await tokens.adopt({ refreshToken: REFRESH_TOKEN })
      await tokens.getAccessToken()
      await tokens.renew()
      expect(presented).toEqual([REFRESH_TOKEN, REFRESH_TOKEN])
      await tokens.close()
    },
  ],
  [
    'RFC 6749, 7.1',
    async () => {
      const failure = await failureOf(granted({ ...GRANT, token_type: 'mac' }))
      expect(failure.code).toBe('ERR_TOKEN_RESPONSE')
    },
  ],
  ['RFC 6750, 2.1', async () => expect((await called()).sent).toEqual([expect.stringMatching(/^Bearer \S+$/)])],
  [
    'RFC 6750, 3',
    async () => {
      const { sent, status } = await called('Bearer realm="example"')
      expect([new Set(sent).size, status]).toEqual([2, 200])
    },
  ],
  [
    'RFC 6750, 3.1',
    async () => {
      const { sent, status } = await called(
        'Bearer realm="example", error="invalid_token", error_description="The access token expired"',
      )
      expect([new Set(sent).size, status]).toEqual([2, 200])
    },
  ],
  [
    'RFC 6750, 3.1',
    async () => {
      const { sent, challenge } = await called('Bearer error="insufficient_scope", scope="openid profile email"', 403)
      expect([sent.length, challenge]).toEqual([1, { error: 'insufficient_scope', scope: 'openid profile email' }])
    },
  ],
  [
    'RFC 7009, 2.1',
    async () => {
      expect((await revoked(200, '')).sent).toEqual(['token=45ghiukldjahdnhzdauz', 'token_type_hint=refresh_token'])
    },
  ],
  ['RFC 7009, 2.2', async () => expect((await revoked(200, '')).error).toBeUndefined()],
  [
    'RFC 7009, 2.2.1',
    async () => {
      expect((await revoked(400, { error: 'unsupported_token_type' })).error).toMatchObject({
        serviceCode: 'unsupported_token_type',
      })
    },
  ],
  [
    'RFC 7515, appendix A.3',
    async () => {
      const { header, signed, signature } = await proofOf({ method: 'POST', url: TOKEN })
      expect(signature).toHaveLength(64)
      const key = createPublicKey({ key: header.jwk as never, format: 'jwk' })
      expect(verify('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true)
    },
  ],
  [
    'RFC 7523, 2.1',
    async () => {
      const grant = () => ({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: JWT })
      expect(members((await sentBy({ grant })).body)).toEqual([
        'grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer',
        `assertion=${JWT}`,
      ])
    },
  ],
  [
    'RFC 7523, 2.2',
    async () => {
      const { body, headers } = await sentBy({
        clientSecret: undefined,
        clientAuthentication: (_, __, body) => {
          body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
          body.set('client_assertion', JWT)
        },
      })
      expect(members(body)).toContain(`client_assertion=${JWT}`)
      expect(headers).not.toHaveProperty('authorization')
    },
  ],
  [
    'RFC 7638, 3.1',
    async () => {
      const key = { kty: 'RSA', alg: 'RS256', e: 'AQAB', n: RSA_N, kid: '2011-04-29' }
      expect(await thumbprintOf(key)).toBe('NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs')
    },
  ],
  [
    'RFC 8037, appendix A.3',
    async () => {
      const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
      expect(await thumbprintOf(key)).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
    },
  ],
  [
    'RFC 8414, 3.1',
    async () => {
      const address = `${ISSUER}/.well-known/oauth-authorization-server`
      const { source, seen } = serverOf({ [address]: metadata(ISSUER), [TOKEN]: GRANT }, { issuer: ISSUER })
      await exchanged(source)
      expect(seen).toEqual([`GET ${address}`, `POST ${TOKEN}`])
    },
  ],
  [
    'RFC 8414, 3.1',
    async () => {
      const [issuer, address] = [`${ISSUER}/issuer1`, `${ISSUER}/.well-known/oauth-authorization-server/issuer1`]
      const { source, seen } = serverOf({ [address]: metadata(issuer), [TOKEN]: GRANT }, { issuer })
      await exchanged(source)
      expect(seen).toEqual([`GET ${address}`, `POST ${TOKEN}`])
    },
  ],
  [
    'RFC 8414, 3.3',
    async () => {
      const address = `${ISSUER}/.well-known/oauth-authorization-server`
      const { source, seen } = serverOf({ [address]: metadata('https://attacker.example') }, { issuer: ISSUER })
      expect((await failureOf(exchanged(source))).outcome).toBe('not-sent')
      expect(seen.filter((one) => one.startsWith('POST'))).toEqual([])
    },
  ],
  [
    'RFC 8693, 2.3',
    async () => {
      const { body } = await sentBy({
        grant: () => EXCHANGE,
        parameters: { resource: 'https://backend.example.com/api' },
      })
      expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
        ...EXCHANGE,
        resource: 'https://backend.example.com/api',
      })
    },
  ],
  [
    'RFC 8693, 2.2.1',
    async () => {
      const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token'
      expect((await granted({ ...GRANT, token_type: 'N_A', issued_token_type })).accessToken).toBe('issued-token')
    },
  ],
  [
    'RFC 8705, 2',
    async () => {
      const { body, headers } = await sentBy({ clientSecret: undefined, clientAuthentication: 'none' })
      expect(members(body)).toEqual(['grant_type=client_credentials', 'client_id=client-of-nobody'])
      expect(headers).not.toHaveProperty('authorization')
    },
  ],
  [
    'RFC 8705, 5',
    async () => {
      const address = `${ISSUER}/.well-known/oauth-authorization-server`
      const alias = 'https://mtls.example.com/token'
      const answers = {
        [address]: metadata(ISSUER, { mtls_endpoint_aliases: { token_endpoint: alias } }),
        [alias]: GRANT,
      }
      const seen: string[] = []
      const { grant } = await exchanged(certified(answers, seen))
      expect([grant.accessToken, seen.at(-1)]).toEqual(['issued-token', alias])
    },
  ],
  [
    'RFC 8707, 2',
    async () => {
      expect(members((await sentBy({ parameters: { resource: 'https://cal.example.com/' } })).body)).toContain(
        'resource=https://cal.example.com/',
      )
      expect(await resourcesOf('https://cal.example.com/')).toEqual(['https://cal.example.com/'])
    },
  ],
  [
    'RFC 8707, 2',
    async () => {
      const both = ['https://cal.example.com/', 'https://contacts.example.com/']
      expect(await resourcesOf(both)).toEqual(both)
    },
  ],
  ['RFC 8707, 2', async () => expect(await codeOf('invalid_target')).toBe('ERR_TOKEN_REQUEST')],
  ['RFC 9110, 5.6.7', async () => expect(await pauseFor('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(37_000)],
  ['RFC 9110, 5.6.7', async () => expect(await pauseFor('Sunday, 06-Nov-94 08:49:37 GMT')).toBe(37_000)],
  ['RFC 9110, 5.6.7', async () => expect(await pauseFor('Sun Nov  6 08:49:37 1994')).toBe(37_000)],
  [
    'RFC 9110, 11.6.1',
    () => {
      const both =
        'Basic realm="simple", Newauth realm="apps", type=1, title="Login to \\"apps\\"", Bearer error="insufficient_scope", scope="write"'
      expect(asks(both, 403)).toEqual({ error: 'insufficient_scope', scope: 'write' })
    },
  ],
  [
    'RFC 9449, 6.1',
    async () => {
      const key = {
        kty: 'EC',
        crv: 'P-256',
        x: 'l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs',
        y: '9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA',
      }
      expect(await thumbprintOf(key)).toBe('0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I')
    },
  ],
  [
    'RFC 9449, 7.1',
    async () => {
      const token = 'Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU'
      const { claims } = await proofOf({ method: 'GET', url: 'https://resource.example.org/protectedresource', token })
      expect(claims).toMatchObject({ htm: 'GET', htu: 'https://resource.example.org/protectedresource' })
      expect([claims.ath, createHash('sha256').update(token).digest('base64url')]).toEqual(
        Array(2).fill('fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo'),
      )
    },
  ],
  [
    'RFC 9449, 8',
    async () => {
      const nonces: unknown[] = []
      const source = sourceBehind(
        (config) => {
          const [, body = ''] = String(config.headers.get('DPoP')).split('.')
          nonces.push((JSON.parse(Buffer.from(body, 'base64url').toString()) as { nonce?: string }).nonce)
          const isFirst = nonces.length === 1
          const response = isFirst ? { error: 'use_dpop_nonce' } : { ...GRANT, token_type: 'DPoP' }
          return answering(JSON.stringify(response), isFirst ? 400 : 200, { 'DPoP-Nonce': 'eyJ7S_zG.eyJH0-Z.HX4w-7v' })(
            config,
          )
        },
        { dpop: await newKey() },
      )
      await exchanged(source)
      expect(nonces).toEqual([undefined, 'eyJ7S_zG.eyJH0-Z.HX4w-7v'])
    },
  ],
  [
    'RFC 9470, 3',
    async () => {
      const { sent, challenge } = await called(
        'Bearer error="insufficient_user_authentication", error_description="A different authentication level is required", acr_values="myACR"',
      )
      expect([sent.length, challenge?.acrValues]).toEqual([1, ['myACR']])
    },
  ],
  [
    'RFC 9470, 3',
    () => {
      expect(
        asks(
          'Bearer error="insufficient_user_authentication", error_description="More recent authentication is required", max_age="5"',
        )?.maxAgeS,
      ).toBe(5)
    },
  ],
  [
    'RFC 9728, 5.1',
    () => {
      const resource_metadata = 'https://resource.example.com/.well-known/oauth-protected-resource'
      expect(asks(`Bearer error="insufficient_scope", resource_metadata="${resource_metadata}"`, 403)).toMatchObject({
        resourceMetadata: resource_metadata,
      })
    },
  ],
  [
    'RFC 9728, 5.1',
    () => {
      expect(
        asks('Bearer resource_metadata="https://a.example/", error="insufficient_scope", scope="a b"', 403),
      ).toEqual({
        error: 'insufficient_scope',
        scope: 'a b',
        resourceMetadata: 'https://a.example/',
      })
    },
  ],
]

/** A client with a certificate. Its agent is read, and the requests end in a function. */
function certified(answers: Readonly<Record<string, object>>, seen: string[]) {
  const adapter: Parameters<typeof sourceBehind>[0] = (config) => {
    const { url = '' } = config
    seen.push(url)
    return answering(JSON.stringify(answers[url] ?? {}), answers[url] ? 200 : 404)(config)
  }
  const transport = { adapter, httpsAgent: new Agent({ cert: 'certificate-of-nobody' }) }
  return sourceBehind(adapter, { ...CERTIFICATE, tokenEndpoint: undefined, issuer: ISSUER, transport })
}

interface Table {
  readonly rows: readonly (readonly [string, string, string])[]
  readonly text: string
}
const script =
  "const { ROWS: rows, rfcsTable } = await import('./test/rfcs/table.mjs'); console.log(JSON.stringify({ rows, text: rfcsTable() }))"
const made = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
const table = JSON.parse(made) as Table

describe('given what the RFCs say', () => {
  it('when the table of the page is read, then it is that of the checks (node scripts/show-files.mjs writes it)', () => {
    const page = readFileSync('docs/rfcs.md', 'utf8')
    const [, shown = ''] = /<!-- table: rfcs -->\n(.*?)<!-- \/table: rfcs -->/s.exec(page) ?? []
    const cells = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => line.split('|').map((cell) => cell.trim().replace(/^-+$/, '-')))
    expect(cells(shown)).toEqual(cells(table.text))
    expect(CHECKS.map(([section]) => section)).toEqual(table.rows.map(([section]) => section))
    expect(CHECKS).toHaveLength(47)
  })

  it.each(table.rows.map(([section, what, weDo], n) => ({ section, what, weDo, check: CHECKS[n]![1] })))(
    '$section: $what: $weDo',
    async ({ check }) => {
      await check()
    },
  )
})
