import { createServer } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import { AxiosError } from 'axios'
import { toTokenError } from '../../src/index.ts'
import { loginPassword } from '../../src/service/login-password.ts'
import { account } from './variant-b.ts'
import { ADAPTERS, answering, failureOf, grantText, listening, obtain, sourceAt, sourceBehind } from './world.ts'

const OAUTH = 'but this source uses the service’s own protocol: use oauth2 of axios-evergreen/oauth2'

describe('given an OAuth 2.0 server behind clientCredentials', () => {
  it.each([
    ...['invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client', 'unsupported_grant_type'],
    'invalid_scope',
  ])(
    'when the response is the error %s, then the message reports it, and quotes nothing else of the response (F194)',
    async (error) => {
      for (const status of [400, 401, 404]) {
        const body = JSON.stringify({ error, error_description: 'hidden-value' })
        const failure = await failureOf(obtain(sourceBehind(answering(body, status))))
        expect(failure.outcome).toBe('rejected')
        expect(failure.message).toBe(
          `https://tokens.example/api/token/ responded with ${status}: an OAuth 2.0 server responded (error: ${error}), ${OAUTH}`,
        )
      }
    },
  )

  it('when the response has an error code of its own, then the message reports it, and does not quote it (F194)', async () => {
    const body = '{"error":"hidden_value","error_description":"x"}'
    const failure = await failureOf(obtain(sourceBehind(answering(body, 400))))
    expect(failure.message).toBe(
      `https://tokens.example/api/token/ responded with 400: an OAuth 2.0 server responded (error), ${OAUTH}`,
    )
  })

  it('when the response is a token, then the message reports it, and quotes nothing of it (F194)', async () => {
    const body = JSON.stringify({ access_token: 'hidden-value', token_type: 'Bearer', expires_in: 3600 })
    const failure = await failureOf(obtain(sourceBehind(answering(body))))
    expect(failure).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown' })
    expect(failure.message).toBe(
      `The response from https://tokens.example/api/token/ cannot be used: an OAuth 2.0 server responded (access_token), ${OAUTH}`,
    )
  })

  it.each([
    'hidden-value',
    'Not Found',
    'error',
    'Invalid_request',
    'invalid_request ',
    400,
    { error: 'invalid_request' },
    null,
    undefined,
  ])('when the error is %p, which is not of OAuth 2.0, then it is not mentioned (F194)', async (error) => {
    const failure = await failureOf(obtain(sourceBehind(answering(JSON.stringify({ error }), 400))))
    expect(failure.message).toMatch(
      /responded with 400: check the credentials and baseUrl, and that the service uses Variant A /,
    )
  })

  it.each([429, 500, 503])('when the response is %i, then the status is enough (F194)', async (status) => {
    const failure = await failureOf(obtain(sourceBehind(answering('{"error":"invalid_request"}', status))))
    expect(failure.message).not.toContain('OAuth')
  })
})

describe('given credentials of the other variant', () => {
  it.each([400, 401, 403])('when the response is %i, then the message names the variant (F194)', async (status) => {
    const adapter = answering('{"errors":[{"code":"2006"}]}', status)
    const source = loginPassword({ ...account, baseUrl: 'https://tokens.example', transport: { adapter } })
    expect((await failureOf(obtain(source))).message).toBe(
      `https://tokens.example/token/ responded with ${status}: ` +
        'check the credentials and baseUrl, and that the service uses Variant B (login and password)',
    )
    expect((await failureOf(obtain(sourceBehind(adapter)))).message).toMatch(/uses Variant A \(client id and secret\)$/)
  })
})

describe.each(ADAPTERS)('given a wrong address, and the %s adapter', (adapter) => {
  it('when the port speaks plain http, then the message states it, and there is no retry (F195)', async () => {
    const host = await listening(createServer((_, reply) => reply.end(grantText())))
    const failure = await failureOf(obtain(sourceAt(`https://${host}`, { adapter })))
    expect(failure).toMatchObject({ code: 'ERR_TOKEN_REQUEST', outcome: 'unknown', retryable: false })
    expect(failure.message).toMatch(/ did not respond \(\w+\): the port does not speak TLS: check the address$/)
  })
})

describe('given an unknown host', () => {
  const unknown = 'unknown host: check the address, the proxy, and DNS'

  it.each(['ENOTFOUND', 'EAI_AGAIN'])(
    'when %s reports it, then the message states what to check (F195)',
    async (code) => {
      const lookup = ((_host: string, _options: object, done: (error: Error) => void) =>
        done(Object.assign(new Error('hidden-value'), { code, syscall: 'getaddrinfo' }))) as never
      const failure = await failureOf(obtain(sourceAt('https://tokens.example', { adapter: 'http', lookup })))
      expect(failure).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'not-sent', retryable: true })
      expect(failure.message).toBe(`https://tokens.example/token/ could not be reached (${code}): ${unknown}`)
    },
  )

  it('when a custom source meets it, then the message is the same (F195)', () => {
    const thrown = new AxiosError('getaddrinfo ENOTFOUND hidden-value', 'ENOTFOUND')
    expect(toTokenError(thrown, 'obtain').message).toBe(
      `The obtain request of the token source failed (ENOTFOUND): ${unknown}`,
    )
  })
})
