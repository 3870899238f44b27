import { describe, expect, it } from '@jest/globals'
import type { TokenError } from '../../src/index.ts'
import type { OAuth2Options } from '../../src/oauth2/index.ts'
import { answering, failureOf } from '../service/world.ts'
import { exchanged, sourceBehind } from './world.ts'
import { LATER, MORE, PROVIDERS, REPORTED, type Shape, type Wanted } from './providers.ts'

const source = ([status, body]: Shape, options: Partial<OAuth2Options> = {}) =>
  sourceBehind(answering(typeof body === 'string' ? body : JSON.stringify(body), status), options)

const ERRORS: Record<Exclude<Wanted, 'used'>, Partial<TokenError>> = {
  'login required': { code: 'ERR_REFRESH_REJECTED', outcome: 'rejected', refreshToken: 'refused' },
  'the person': { code: 'ERR_REFRESH_REJECTED', refreshToken: 'refused', loginReason: 'interaction' },
  'client refused': { code: 'ERR_CREDENTIALS_REJECTED', outcome: 'rejected', refreshToken: 'kept' },
  unclear: { code: 'ERR_CREDENTIALS_REJECTED', outcome: 'rejected' },
  'request refused': { code: 'ERR_TOKEN_REQUEST', outcome: 'rejected' },
  throttled: { code: 'ERR_THROTTLED', outcome: 'deferred' },
  unavailable: { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', refreshToken: 'kept' },
  failed: { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown-5xx' },
  'in doubt': { code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown' },
  'stopped before': { code: 'ERR_TOKEN_REQUEST', outcome: 'rejected', refreshToken: 'kept' },
}

const rows = (table: Readonly<Record<string, readonly Shape[]>>) =>
  Object.entries(table).flatMap(([provider, shapes]) =>
    shapes.map((shape) => ({ provider, status: shape[0], body: JSON.stringify(shape[1]), wanted: shape[2], shape })),
  )

describe('given the refresh of a login, and a response of a large server (F200, F201, F202, F204, F287, F292, F369, F371, F374)', () => {
  it('when the shapes are counted, then they are the 84 of the study', () => {
    expect(rows(PROVIDERS)).toHaveLength(84)
  })

  it('when those of the later study are counted, then they are 60, and each has a source', () => {
    expect(rows(LATER)).toHaveLength(60)
    for (const { shape } of [...rows(PROVIDERS), ...rows(LATER), ...rows(REPORTED)]) expect(shape[3]).not.toBe('')
  })

  it.each([...rows(PROVIDERS), ...rows(MORE), ...rows(LATER), ...rows(REPORTED)])(
    'when $provider responds $status $body, then that is: $wanted',
    async ({ wanted, shape }) => {
      const one = source(shape, { grant: 'login' })
      if (wanted === 'used') {
        expect((await exchanged(one, 'r')).grant.accessToken).toBe('issued-token')
        return
      }
      const error = await failureOf(exchanged(one, 'r'))
      expect(error).toMatchObject(ERRORS[wanted])
      if (wanted === 'login required' || wanted === 'failed' || wanted === 'client refused')
        expect(error.loginReason).toBeUndefined()
      // The manager decides by `outcome` alone.
      if (['failed', 'unclear', 'request refused', 'in doubt'].includes(wanted))
        expect(error.refreshToken).toBeUndefined()
      // Texts are read for the decision, and never shown.
      const { error_description: text } = shape[1] as { error_description?: string }
      if (text) expect(`${error.message} ${JSON.stringify(error)}`).not.toContain(text)
      expect(`${error.message} ${JSON.stringify(error)}`).not.toContain('hidden-value')
    },
  )
})

describe('given client credentials, and a server with its own error codes for throttling', () => {
  it.each([...rows(PROVIDERS), ...rows(MORE), ...rows(REPORTED)].filter(({ wanted }) => wanted === 'throttled'))(
    'when $provider responds $status $body, then the error reports throttling',
    async ({ shape }) => {
      const error = await failureOf(exchanged(source(shape)))
      expect(error).toMatchObject({ code: 'ERR_THROTTLED', outcome: 'deferred', retryable: true })
      expect(error.message).toContain('too many token requests')
    },
  )
})

describe('given unknown error codes (F203)', () => {
  const refreshed = (status: number, body: object, options: Partial<OAuth2Options> = {}) =>
    failureOf(exchanged(source([status, body, 'failed', ''], { grant: 'login', ...options }), 'r'))

  it.each([
    [{ error: 'invalid_request', error_description: 'missing required parameter: refresh_token' }, 'ERR_TOKEN_REQUEST'],
    [
      { error: 'unsupported_thing', error_description: 'Unknown grant type: refresh_token' },
      'ERR_CREDENTIALS_REJECTED',
    ],
    [{ error: 'invalid_request', error_description: 'The client assertion token is expired' }, 'ERR_TOKEN_REQUEST'],
    [{ error: 'weird' }, 'ERR_CREDENTIALS_REJECTED'],
    [{ message: ['Invalid refresh token'] }, 'ERR_CREDENTIALS_REJECTED'],
  ])('when the response is 400 %j, then nothing is known of the refresh token', async (body, code) => {
    const error = await refreshed(400, body)
    expect(error).toMatchObject({ code, outcome: 'rejected' })
    expect(error.refreshToken).toBeUndefined()
  })

  it('when the option errors has the code, then it decides, and the code is the service code', async () => {
    const errors = {
      weird: 'invalid_grant',
      unauthorized_client: 'invalid_grant',
      GONE: 'interaction_required',
    } as const
    expect(await refreshed(400, { error: 'weird' }, { errors })).toMatchObject({
      code: 'ERR_REFRESH_REJECTED',
      refreshToken: 'refused',
      serviceCode: 'weird',
    })
    const denied = { error: 'unauthorized_client', error_description: 'too many' }
    expect(await refreshed(401, denied, { errors })).toMatchObject({ refreshToken: 'refused' })
    expect(await refreshed(410, { status: 'GONE' }, { errors })).toMatchObject({ loginReason: 'interaction' })
    expect(await refreshed(503, { error: 'weird' }, { errors })).toMatchObject({ refreshToken: 'kept' })
  })
})
