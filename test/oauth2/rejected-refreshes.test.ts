import { describe, expect, it } from '@jest/globals'
import type { OAuth2Options } from '../../src/oauth2/index.ts'
import { answering, failureOf } from '../service/world.ts'
import { type Answer, loginAt } from './login-at.ts'
import { exchanged, sourceBehind } from './world.ts'

const CONFIDENTIAL = {}
const PUBLIC = { clientSecret: undefined, clientAuthentication: 'none' } as const
const WITH_A_KEY = { clientSecret: undefined, clientAuthentication: () => undefined }
const CLIENTS: [string, Partial<OAuth2Options>][] = [
  ['with a secret', CONFIDENTIAL],
  ['with a key', WITH_A_KEY],
  ['without a secret', PUBLIC],
]

/** Codes and texts that name the refresh token or the session. Those without a comment are the reported ones. */
const NAMES_IT: object[] = [
  { code: 'REFRESH_REUSE_DETECTED', error: 'Session revoked, please sign in' },
  { code: 'REFRESH_REUSE_DETECTED' },
  { code: 'TOKEN_REVOKED' },
  { error: { code: 'refresh_token_reused' } },
  { error: 'refresh_token_expired' },
  { error: 'invalid_request', error_description: 'Session expired' },
  // Other spellings
  { error: 'RefreshTokenExpired' },
  { error: 'ERR_REFRESH_TOKEN_REUSED' },
  { code: 'refresh-token-revoked' },
  { error: 'expired_refresh_token' },
  { error: 'session.terminated' },
  { type: 'SESSION_TIMEOUT' },
  { code: 'TOKEN_REUSE_DETECTED' },
  { error: 'INVALID_GRANT' },
  { message: 'Your session has ended. Log in again.' },
  // Other places
  { errors: [{ code: 'REFRESH_TOKEN_ROTATED' }] },
  { error: { type: 'auth_error', message: 'The refresh token was already used' } },
  { status: 'TOKEN_BLACKLISTED' },
  // Beside a vague code, and beside the words of the status
  { error: 'unauthorized_client', error_description: 'Refresh token revoked' },
  { statusCode: 401, message: 'Unauthorized', code: 'SESSION_INVALIDATED' },
]

/** Codes that name neither, although they contain such words. */
const NAMES_ANOTHER: [body: object, code: string][] = [
  [{ error: 'refresh_failed' }, 'unknown'],
  [{ error: 'E_4711' }, 'unknown'],
  [{ code: 'session_store_failure' }, 'unknown'],
  [{ code: 'refresh_token_missing' }, 'unknown'],
  [{ error: 'refresh_token_not_supported' }, 'unknown'],
  [{ error: { code: 'something_else' } }, 'unknown'],
]

describe.each([400, 401, 403, 200])('given the refresh of a login, and a %i (F406)', (status) => {
  it.each(CLIENTS.flatMap(([client, options]) => NAMES_IT.map((body) => [body, client, options] as const)))(
    'when %j names the refresh token or the session of a client %s, then a login is required at once',
    async (body, _, options) => {
      const { asking, tokens, calls } = await loginAt(() => [status, body], options)
      expect(await asking(1)).toEqual(['ERR_LOGIN_REQUIRED'])
      expect(tokens.status().loginReason).toBe('refused')
      expect(calls()).toBe(1)
    },
  )
})

describe.each(CLIENTS)('given the refresh of a login of a client %s, and a 401 (F406)', (client, options) => {
  const wrong = client === 'without a secret' ? 'ERR_TOKEN_REQUEST' : 'ERR_CREDENTIALS_REJECTED'

  it.each(NAMES_ANOTHER)(
    'when its code is unknown (%j), then the third rejection after ten minutes ends it',
    async (body) => {
      const { asking, tokens, told, calls } = await loginAt(() => [401, body], options)
      expect(await asking(9)).toEqual([wrong])
      expect(tokens.status().login).toBe('present')
      expect(await asking(3)).toContain('ERR_LOGIN_REQUIRED')
      expect(calls()).toBeLessThanOrEqual(12)
      expect(told.suspicious).toEqual([])
    },
  )

  it.each([{ error: 'invalid_client' }, { error: 'unauthorized_client' }, { error: { code: 'INVALID_CLIENT' } }])(
    'when it rejects the client (%j), then the login is kept, however long that lasts',
    async (body) => {
      const { asking, tokens } = await loginAt(() => [401, body], options)
      expect(await asking(25)).toEqual(['ERR_CREDENTIALS_REJECTED'])
      expect(tokens.status().login).toBe('present')
      const source = sourceBehind(answering(JSON.stringify(body), 401), { grant: 'login', ...options })
      const { message } = await failureOf(exchanged(source, 'r'))
      expect(/secret/i.test(message)).toBe(client !== 'without a secret')
    },
  )

  it.each([400, 403])(
    'when it is a %d with unauthorized_client, then that judges the client, as under 401',
    async (status) => {
      const { asking, tokens } = await loginAt(() => [status, { error: 'unauthorized_client' }], options)
      expect(await asking(25)).toEqual(['ERR_CREDENTIALS_REJECTED'])
      expect(tokens.status().login).toBe('present')
    },
  )

  it.each<[string, object | string]>([
    ['no body', ''],
    ['an empty object', {}],
    ['only the words of its status', { statusCode: 401, error: 'Unauthorized', message: 'Unauthorized' }],
    ['only its number', { status: 401, code: 401 }],
  ])('when it has %s, then it judges the client, if that has a secret', async (_, body) => {
    const { asking, tokens } = await loginAt(() => [401, body], options)
    const codes = await asking(25)
    const isJudged = client !== 'without a secret'
    expect(codes).toEqual(isJudged ? ['ERR_CREDENTIALS_REJECTED'] : ['ERR_TOKEN_REQUEST', 'ERR_LOGIN_REQUIRED'])
    expect(tokens.status().login).toBe(isJudged ? 'present' : 'required')
  })

  it('when it says access_denied, then that judges a client with a secret (Auth0), else the user, as under 400', async () => {
    const { asking } = await loginAt(() => [401, { error: 'access_denied' }], options)
    expect(await asking(25)).toEqual(
      client === 'without a secret' ? ['ERR_LOGIN_REQUIRED'] : ['ERR_CREDENTIALS_REJECTED'],
    )
  })
})

describe('given a refresh that the server rejects for its scope (F427)', () => {
  const grant = { access_token: 'issued-token', token_type: 'Bearer', expires_in: 3_600, refresh_token: 'next' }

  it.each<[string, Partial<OAuth2Options>, Answer]>([
    ['without the option scope', {}, [400, { error: 'invalid_scope' }]],
    ['with the option scope', { scope: 'read' }, [400, { error: 'invalid_scope' }]],
    ['under 401', { scope: 'read' }, [401, { error: 'invalid_scope' }]],
    ['under 200', {}, [200, { error: 'invalid_scope' }]],
    ['in a nested code', {}, [403, { error: { code: 'invalid_scope' } }]],
    ['for a public client', { ...PUBLIC, scope: 'read' }, [400, { error: 'invalid_scope' }]],
  ])(
    'when that lasts for 25 minutes %s, then it is reported once, and the login is well when the server is',
    async (_, options, answer) => {
      let isSet = false
      const { asking, tokens, told } = await loginAt(() => (isSet ? [200, grant] : answer), options)
      expect(await asking(25)).toEqual(['ERR_TOKEN_SERVICE_UNAVAILABLE'])
      expect(tokens.status().login).toBe('present')
      expect(told.anomaly.map(({ kind }) => kind)).toEqual(['unexpected-response'])
      isSet = true
      await asking(2)
      expect(await asking(1)).toEqual(['issued-token'])
    },
  )
})
