import { describe, expect, it } from '@jest/globals'
import { PrivateKeyJwt } from 'openid-client'
import { ADAPTERS, answering, failureOf, serve } from '../service/world.ts'
import { client, ENDPOINT, exchanged, GRANT, sentBy, sourceBehind } from './world.ts'
import { createTokenManager } from '../../src/index.ts'
import { forResource, oauth2 } from '../../src/oauth2/index.ts'

const basicOf = (headers: Record<string, string>) => atob(headers.authorization!.replace(/^Basic /, ''))

describe('given client credentials', () => {
  it('when a token is obtained, then the request is that of RFC 6749, section 4.4.2', async () => {
    const { body, headers, url, method } = await sentBy()
    expect([method, url, body]).toEqual(['post', ENDPOINT, 'grant_type=client_credentials'])
    expect(headers).toMatchObject({ Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' })
    expect(basicOf(headers)).toBe('client-of-nobody:secret-of-nobody')
  })

  it('when scope and parameters are given, then they are sent, and a query of the endpoint is kept', async () => {
    const parameters = { audience: 'https://api.example/?a=b&c', resource: 'r' }
    const { body, url } = await sentBy({
      tokenEndpoint: `${ENDPOINT}?tenant=a`,
      scope: ['read', 'write'],
      parameters,
    })
    expect(url).toBe(`${ENDPOINT}?tenant=a`)
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'read write',
      ...parameters,
    })
  })

  it('when a response has an unrequested refresh token, then it is dropped (RFC 6749, section 4.4.3)', async () => {
    const answer = answering(JSON.stringify({ ...GRANT, refresh_token: 'r', refresh_token_expires_in: 60 }))
    const grant = { accessToken: 'issued-token', accessLifetimeMs: 3_600_000 }
    expect((await exchanged(sourceBehind(answer))).grant).toEqual(grant)
    const kept = await exchanged(sourceBehind(answer, { refreshTokens: 'single-use' }))
    expect(kept.grant).toEqual({ ...grant, refreshToken: 'r', refreshLifetimeMs: 60_000 })
  })
})

describe("given the option body: 'json' (F376)", () => {
  it('when tokens are obtained, then the parameters are the members of a JSON object', async () => {
    const parameters = { audience: 'https://api.example/?a=b&c' }
    const { body, headers } = await sentBy({ body: 'json', clientAuthentication: 'post', scope: 'read', parameters })
    expect(headers).toMatchObject({ Accept: 'application/json', 'Content-Type': 'application/json' })
    expect(JSON.parse(body)).toEqual({
      grant_type: 'client_credentials',
      client_id: 'client-of-nobody',
      client_secret: 'secret-of-nobody',
      scope: 'read',
      ...parameters,
    })
  })

  it('when the refresh token is presented, then its parameters are JSON too', async () => {
    const { body, headers } = await sentBy({ body: 'json', grant: 'login' }, 'a+b/c="')
    expect(JSON.parse(body)).toEqual({ grant_type: 'refresh_token', refresh_token: 'a+b/c="' })
    expect(basicOf(headers)).toBe('client-of-nobody:secret-of-nobody')
  })

  it('when a function authenticates the client, then its members are sent too', async () => {
    const { body } = await sentBy({
      body: 'json',
      clientAuthentication: (_, __, members) => members.set('client_assertion', 'signed'),
    })
    expect(JSON.parse(body)).toEqual({ grant_type: 'client_credentials', client_assertion: 'signed' })
  })

  it('when the token is for two resources, then they are a JSON array (F418)', async () => {
    const sent: string[] = []
    const source = sourceBehind(
      (config) => {
        sent.push(String(config.data))
        return answering(JSON.stringify(GRANT))(config)
      },
      { body: 'json' },
    )
    const resource = ['https://orders.example', 'https://stock.example']
    await forResource(createTokenManager({ source }), { resource }).getAccessToken()
    expect(JSON.parse(sent[0]!)).toEqual({ grant_type: 'client_credentials', resource })
  })
})

describe('given a refresh token', () => {
  it('when it is presented, then the request is that of RFC 6749, section 6', async () => {
    const { body, headers } = await sentBy({ grant: 'login', scope: 'read' }, 'a+b/c=')
    expect(body).toBe('grant_type=refresh_token&refresh_token=a%2Bb%2Fc%3D&scope=read')
    expect(basicOf(headers)).toBe('client-of-nobody:secret-of-nobody')
  })
})

describe('given a way to authenticate the client', () => {
  it('when id and secret have characters of all kinds, then basic encodes them before base64 (section 2.3.1)', async () => {
    const { headers } = await sentBy({ clientId: 'a:b c', clientSecret: 'ü+&=%/😀 *~' })
    const [id, secret, ...more] = basicOf(headers).split(':')
    expect([id, secret]).toEqual(['a%3Ab+c', '%C3%BC%2B%26%3D%25%2F%F0%9F%98%80+*%7E'])
    expect(more).toEqual([])
  })

  it('when it is post, then both are in the body', async () => {
    const { body, headers } = await sentBy({ clientAuthentication: 'post', clientSecret: 'ü+&' })
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      grant_type: 'client_credentials',
      client_id: client.clientId,
      client_secret: 'ü+&',
    })
    expect(headers).not.toHaveProperty('authorization')
  })

  it.each([
    { clientSecret: undefined, clientAuthentication: 'none' as const },
    { clientSecret: undefined, grant: 'login' as const },
  ])('when it is %j, then only the id is sent', async (options) => {
    const { body, headers } = await sentBy(options, 'r')
    expect(body).toBe('grant_type=refresh_token&refresh_token=r&client_id=client-of-nobody')
    expect(headers).not.toHaveProperty('authorization')
  })

  it('when it is a function, then it writes into body and headers, and receives issuer and client', async () => {
    const told: unknown[] = []
    const { body, headers } = await sentBy({
      clientSecret: undefined,
      clientAuthentication: async (as, { client_id }, members, fields) => {
        told.push(as, client_id)
        members.set('client_assertion', 'signed')
        fields.set('X-Proof', 'p')
      },
    })
    expect(told).toEqual([{ issuer: ENDPOINT }, client.clientId])
    expect(body).toBe('grant_type=client_credentials&client_assertion=signed')
    expect(headers).toMatchObject({ 'x-proof': 'p', 'Content-Type': 'application/x-www-form-urlencoded' })
  })

  it('when it is PrivateKeyJwt of openid-client, which is that of oauth4webapi, then the assertion names client and issuer', async () => {
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
    const { body } = await sentBy({
      clientSecret: undefined,
      issuer: 'https://login.example',
      clientAuthentication: PrivateKeyJwt(pair.privateKey),
    })
    const sent = new URLSearchParams(body)
    expect(sent.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    const [, payload = ''] = sent.get('client_assertion')!.split('.')
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({
      iss: client.clientId,
      sub: client.clientId,
      aud: 'https://login.example',
    })
  })

  it('when the secret is a function, then it is called for each exchange', async () => {
    const secrets = ['first', 'second']
    const source = { clientSecret: () => secrets.shift()! }
    expect(basicOf((await sentBy(source)).headers)).toBe('client-of-nobody:first')
    expect(basicOf((await sentBy(source, 'r')).headers)).toBe('client-of-nobody:second')
  })

  it.each([
    ['throws', () => Promise.reject(new Error('hidden-value')), 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'failed'],
    ['is broken', () => (undefined as never as string[]).join(), 'ERR_TOKEN_SOURCE', 'failed'],
    ['returns nothing', () => '', 'ERR_TOKEN_SOURCE', 'returned an unusable value: clientSecret must be given'],
    [
      'returns a line break',
      () => 'hidden-value\n',
      'ERR_TOKEN_SOURCE',
      'returned an unusable value: clientSecret must',
    ],
  ])(
    'when the function of the secret %s, then no request is made, and no secret is shown',
    async (_, clientSecret, code, message) => {
      let calls = 0
      const source = sourceBehind((config) => answering(String((calls += 1)))(config), { clientSecret })
      const error = await failureOf(exchanged(source, 'r'))
      expect(error).toMatchObject({ code, outcome: 'not-sent' })
      expect(error.message).toContain(`The clientSecret function ${message}`)
      expect(error.message).not.toContain('hidden-value')
      expect(calls).toBe(0)
    },
  )

  it('when a custom function throws, then no request is made', async () => {
    const clientAuthentication = () => {
      throw new Error('hidden-value')
    }
    const error = await failureOf(exchanged(sourceBehind(answering('{}'), { clientAuthentication })))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'not-sent' })
    expect(error.message).toBe('The clientAuthentication function failed: no token request was sent')
  })
})

describe.each(ADAPTERS)('given a real server, and the %s adapter', (adapter) => {
  it('when a token is obtained, then form and header arrive', async () => {
    const server = await serve((_, reply) => reply.end(JSON.stringify(GRANT)))
    const source = oauth2({ tokenEndpoint: `${server.origin}/token`, ...client, scope: 'read', transport: { adapter } })
    expect((await exchanged(source)).grant).toEqual({ accessToken: 'issued-token', accessLifetimeMs: 3_600_000 })
    const [{ method, url, body, headers }] = server.seen as [(typeof server.seen)[0]]
    expect([method, url, body]).toEqual(['POST', '/token', 'grant_type=client_credentials&scope=read'])
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect(headers.authorization).toMatch(/^Basic /)
  })

  it('when it redirects, then the redirect is not followed', async () => {
    const elsewhere = await serve((_, reply) => reply.end(JSON.stringify(GRANT)))
    const server = await serve((_, reply) => reply.writeHead(307, { Location: `${elsewhere.origin}/token` }).end())
    const source = oauth2({ tokenEndpoint: `${server.origin}/token`, ...client, transport: { adapter } })
    const error = await failureOf(exchanged(source))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', outcome: 'rejected', status: 307 })
    expect(error.message).toBe(
      `${server.origin}/token responded with 307: a redirect to another origin; token requests follow no redirects, check tokenEndpoint`,
    )
    expect(elsewhere.seen).toEqual([])
  })

  it('when its response is larger than 64 KiB, then it is rejected', async () => {
    const server = await serve((_, reply) => reply.end(JSON.stringify({ ...GRANT, more: 'x'.repeat(70_000) })))
    const source = oauth2({ tokenEndpoint: `${server.origin}/token`, ...client, transport: { adapter } })
    const error = await failureOf(exchanged(source))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown' })
    expect(error.message).toContain('larger than 65536 bytes')
  })
})
