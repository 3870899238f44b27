import { describe, expect, it } from '@jest/globals'
import { AxiosError } from 'axios'
import type { TokenError } from '../../src/index.ts'
import type { OAuth2Options } from '../../src/oauth2/index.ts'
import { answering, failureOf } from '../service/world.ts'
import { client, ENDPOINT, exchanged, sourceBehind } from './world.ts'

const refused = (
  status: number,
  body: unknown,
  { refreshToken, headers, ...options }: Partial<OAuth2Options> & { refreshToken?: string; headers?: object } = {},
): Promise<TokenError> => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const source = sourceBehind(answering(text, status, headers as Record<string, string>), options)
  return failureOf(exchanged(source, refreshToken))
}
const word = (error: string) => ({ error, error_description: 'hidden-value' })

const [credentials, request, refresh, unavailable, throttled] = [
  'ERR_CREDENTIALS_REJECTED',
  'ERR_TOKEN_REQUEST',
  'ERR_REFRESH_REJECTED',
  'ERR_TOKEN_SERVICE_UNAVAILABLE',
  'ERR_THROTTLED',
]

/** The code of each rejection: on an obtain, and on a refresh of a client and of a login, with the refresh token's fate. */
const TABLE: [status: number, body: unknown, obtain: string, client: string, login: string, advice: string][] = [
  [
    400,
    word('invalid_grant'),
    credentials,
    `${refresh} refused`,
    `${refresh} refused`,
    'the refresh token was rejected',
  ],
  [
    403,
    word('invalid_grant'),
    credentials,
    `${refresh} refused`,
    `${refresh} refused`,
    'the refresh token was rejected',
  ],
  [401, word('invalid_client'), credentials, `${credentials} kept`, `${credentials} kept`, 'clientAuthentication'],
  [400, word('invalid_client'), credentials, `${credentials} kept`, `${credentials} kept`, 'clientAuthentication'],
  [
    400,
    word('unauthorized_client'),
    credentials,
    `${refresh} kept`,
    `${credentials} kept`,
    'this grant to this client',
  ],
  [400, word('unsupported_grant_type'), request, `${refresh} kept`, request, 'does not support this grant'],
  [400, word('invalid_scope'), request, `${refresh} kept`, `${unavailable} kept`, 'check scope'],
  [400, word('invalid_target'), request, `${refresh} kept`, request, 'check audience and resource'],
  [400, word('invalid_request'), request, `${request} kept`, request, 'check parameters'],
  // Error codes that servers use beside those of the RFC.
  [
    400,
    word('interaction_required'),
    credentials,
    `${refresh} unusable`,
    `${refresh} refused interaction`,
    'refresh token was rejected',
  ],
  [
    400,
    word('temporarily_unavailable'),
    unavailable,
    `${unavailable} kept`,
    `${unavailable} kept`,
    'the token service failed',
  ],
  [400, word('server_error'), unavailable, `${unavailable} kept`, `${unavailable} kept`, 'the token service failed'],
  [200, word('general_error'), unavailable, `${unavailable} kept`, `${unavailable} kept`, 'the token service failed'],
  [200, word('ratelimited'), throttled, `${throttled} kept`, `${throttled} kept`, 'too many token requests'],
  [400, word('use_dpop_nonce'), unavailable, `${unavailable} kept`, `${unavailable} kept`, 'set dpop'],
  [400, { message: 'hidden-value' }, credentials, `${refresh} unusable`, credentials, ''],
  [400, word('hidden-value'), credentials, `${refresh} unusable`, credentials, ''],
  // Responses that the token service itself would not send.
  [
    400,
    '<html>hidden-value</html>',
    request,
    `${request} kept`,
    `${request} kept`,
    'something in front of the service',
  ],
  [401, ' <?xml version="1.0"?>', request, `${request} kept`, `${request} kept`, 'something in front of the service'],
  [401, '', credentials, `${credentials} kept`, `${credentials} kept`, 'check tokenEndpoint, and the client'],
  // A firewall in front of the service (F291, F372, F432).
  [403, '<html>', request, `${request} kept`, `${request} kept`, 'a web page from something in front of the service'],
  [404, '', request, request, request, 'check tokenEndpoint'],
  [405, '', request, request, request, 'check tokenEndpoint'],
  [407, '', request, request, `${request} kept`, 'a proxy requires credentials'],
  [302, '', request, request, `${request} kept`, 'a redirect without a valid target; check tokenEndpoint'],
  [408, word('invalid_grant'), unavailable, unavailable, unavailable, 'the token service did not complete the request'],
  [429, word('invalid_grant'), throttled, throttled, throttled, 'too many token requests'],
  [429, '<html>', throttled, throttled, throttled, 'a web page from something in front of the service'],
  [500, word('invalid_grant'), unavailable, unavailable, unavailable, 'the token service failed'],
  [503, { errors: [{}] }, unavailable, unavailable, `${unavailable} kept`, 'the token service failed'],
  [425, '', unavailable, unavailable, `${unavailable} kept`, 'the token service did not complete the request'],
  [502, '', unavailable, unavailable, unavailable, 'the token service failed'],
]

/** What servers send instead of an error of RFC 6749, and which one they mean. */
const DIALECTS: [status: number, body: object, error: string][] = [
  // RFC 6749 has 401 for a rejected client only.
  [401, word('access_denied'), 'invalid_client'], // Auth0
  [401, word('unauthorized_client'), 'invalid_client'], // Keycloak
  [401, word('deleted_client'), 'invalid_client'], // Google
  [401, word('invalid_token'), 'invalid_grant'], // Spring Security, Cloud Foundry
  [401, word('invalid_grant'), 'invalid_grant'],
  [401, word('invalid_scope'), 'invalid_scope'],
  [401, word('invalid_request'), 'invalid_request'],
  [401, word('temporarily_unavailable'), 'temporarily_unavailable'],
  [400, word('invalid_resource'), 'invalid_target'], // Microsoft Entra
  // GitHub, Slack and Zoho respond to every error with 200.
  [200, word('bad_refresh_token'), 'invalid_grant'],
  [200, word('incorrect_client_credentials'), 'invalid_client'],
  [200, word('invalid_client'), 'invalid_client'],
  [200, word('invalid_grant'), 'invalid_grant'],
  [200, word('invalid_code'), 'invalid_grant'],
  [200, { ok: false, error: 'invalid_refresh_token' }, 'invalid_grant'],
  [200, { access_token: 'hidden-value', error: 'server_error' }, 'server_error'],
]

describe('given a response that rejects (F291)', () => {
  it.each(TABLE)(
    'when it is %i %j, then an obtain is reported as %s, a refresh as %s, that of a login as %s',
    async (...row) => {
      const [status, body, obtain, ofClient, ofLogin, advice] = row
      const told = (error: TokenError) => [error.code, error.refreshToken, error.loginReason].filter(Boolean).join(' ')
      const errors = [
        await refused(status, body),
        await refused(status, body, { refreshToken: 'r' }),
        await refused(status, body, { refreshToken: 'r', grant: 'login', scope: 'read' }),
      ]
      expect(errors.map(told)).toEqual([obtain, ofClient, ofLogin])
      for (const error of errors) {
        expect(error).toMatchObject({ status })
        expect(error.message.startsWith(`${ENDPOINT} responded with ${status}: `)).toBe(true)
        expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('hidden-value')
      }
      expect(errors[1]!.message).toContain(advice)
    },
  )

  it.each(DIALECTS)('when it is %i %j, then it means %s', async (status, body, error) => {
    const told = ({ code, outcome, refreshToken, retryable }: TokenError) => ({
      code,
      outcome,
      refreshToken,
      retryable,
    })
    for (const options of [{}, { refreshToken: 'r' }, { refreshToken: 'r', grant: 'login' as const }]) {
      const [given, meant] = [await refused(status, body, options), await refused(400, word(error), options)]
      expect(told(given)).toEqual(told(meant))
      expect(given).toMatchObject({ status, serviceCode: (body as { error: string }).error })
    }
  })

  it('when it requires the user of a login, then the message states it', async () => {
    const error = await refused(400, word('interaction_required'), { refreshToken: 'r', grant: 'login' })
    expect(error.message).toContain('interaction_required: the server requires the user to log in')
  })

  it('when it reports under 200 an error of two words that the option `errors` defines, then it means what is defined (F203)', async () => {
    const options = { refreshToken: 'r', grant: 'login' as const, errors: { 'session over': 'invalid_grant' as const } }
    const error = await refused(200, word('session over'), options)
    expect(error).toMatchObject({ code: refresh, refreshToken: 'refused', serviceCode: 'session over' })
  })

  it('when its error has the name of a member of every object, then it is an unknown error, and not quoted (F222)', async () => {
    const error = await refused(403, word('constructor'), { refreshToken: 'r', grant: 'login' })
    expect(error).toMatchObject({ code: credentials, outcome: 'rejected' })
    expect(error.message).not.toContain('constructor')
    expect(error.serviceCode).toBeUndefined()
  })

  it('when it rejects the credentials of an obtain with invalid_grant, then the message does not mention a refresh token', async () => {
    expect((await refused(400, word('invalid_grant'))).message).not.toContain('refresh token')
  })

  it.each([429, 503])('when %i has Retry-After, then that is read', async (status) => {
    expect(await refused(status, '', { headers: { 'Retry-After': '7' } })).toMatchObject({ retryAfterMs: 7_000 })
  })

  it('when it has a known error, then that is its service code; an unknown word may be a secret (F222)', async () => {
    expect(await refused(400, word('invalid_grant'))).toMatchObject({ serviceCode: 'invalid_grant' })
    for (const echo of [client.clientId, client.clientSecret, 'refresh-of-nobody']) {
      for (const clientAuthentication of ['basic', 'post'] as const) {
        const error = await refused(400, word(echo), { clientAuthentication, refreshToken: 'refresh-of-nobody' })
        expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('of-nobody')
      }
    }
    expect((await refused(400, word('two words'))).serviceCode).toBeUndefined()
  })

  it('when it is that of the specification, then the error names the source for it (F194)', async () => {
    const error = await refused(415, { errors: [{ status: '415', detail: 'hidden-value' }] })
    expect(error.message).toBe(
      `${ENDPOINT} responded with 415: it is not OAuth 2.0 (errors): use clientCredentials() or loginPassword() of axios-evergreen if this is their service`,
    )
  })
})

describe('given the refresh of a login, and a response that reveals nothing of the refresh token (F289)', () => {
  const login = { refreshToken: 'r', grant: 'login' } as const
  const later =
    'If the server returns the same for ten minutes, a login is required. The option errors of oauth2 maps its error codes'

  it('when its error code is unknown, then the message states that, what follows, and how to define it', async () => {
    const error = await refused(400, word('hidden-value'), login)
    const unknown = 'the refresh token was rejected with an unknown error code'
    expect(error.message).toBe(`${ENDPOINT} responded with 400: ${unknown}. ${later}`)
  })

  it('when its error code is known and reveals nothing of the token, then the message states what follows too', async () => {
    const error = await refused(400, word('unsupported_grant_type'), login)
    expect(error.message).toContain('the server does not support this grant')
    expect(error.message).toContain(later)
  })

  it.each([
    ['a response under 200 without a token', 200, { code: 7 }],
    ['a response of the specification', 400, { errors: [{ detail: 'hidden-value' }] }],
  ])('when it is %s, then the message states what follows', async (_, status, body) => {
    expect((await refused(status, body, login)).message).toContain(later)
  })

  it.each([
    ['a page under 200', 200, '<html>'],
    ['a page of a firewall', 403, '<html>'],
    ['a rejected client', 401, word('invalid_client')],
    ['a server that fails', 500, word('hidden-value')],
  ])('when it is %s, then no login is announced', async (_, status, body) => {
    expect((await refused(status, body, login)).message).not.toContain('ten minutes')
  })
})

describe('given a request without a response', () => {
  it.each([
    ['ECONNREFUSED', 'not-sent', 'could not be reached'],
    ['ECONNRESET', 'unknown', 'did not respond'],
  ])('when it meets %s, then its outcome is %s', async (code, outcome, what) => {
    const source = sourceBehind(() => Promise.reject(new AxiosError('hidden-value', code)))
    const error = await failureOf(exchanged(source, 'r'))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome })
    expect(error.message).toBe(`${ENDPOINT} ${what} (${code})`)
  })
})

describe('given a login', () => {
  it('when there is no refresh token, then a user must log in, and no request is made', async () => {
    let calls = 0
    const source = sourceBehind((config) => answering(String((calls += 1)))(config), { grant: 'login' })
    const error = await failureOf(exchanged(source))
    expect(error).toMatchObject({ code: 'ERR_LOGIN_REQUIRED', retryable: false, outcome: 'not-sent' })
    expect(error.message).toContain('pass the tokens of that login to adopt()')
    expect(calls).toBe(0)
  })
})
