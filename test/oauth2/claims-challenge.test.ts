import { describe, expect, it } from '@jest/globals'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { startApi } from '../axios/support/api-server.ts'
import { managerOf } from '../axios/support/tokens.ts'
import { DOORS } from '../client/support/doors.ts'
import { response } from '../service/world.ts'
import { client, ENDPOINT, GRANT } from './world.ts'

/** As Microsoft Entra requests a token that was issued after this time. */
const AFTER = { access_token: { nbf: { essential: true, value: '1604106651' } } }
const base64 = (claims: unknown) => Buffer.from(JSON.stringify(claims)).toString('base64')
const challenge = (claims = base64(AFTER), error = 'insufficient_claims') =>
  `Bearer realm="", authorization_uri="https://login.example/authorize", error="${error}", claims="${claims}"`

/** An API that challenges its first request, a token endpoint, and a manager between them. */
async function startWorld(header = challenge(), options: Partial<OAuth2Options> = {}, statuses: number[] = []) {
  const asked: URLSearchParams[] = []
  const api = await startApi((_, n) => (n === 0 ? { status: 401, headers: { 'WWW-Authenticate': header } } : {}))
  const source = oauth2({
    tokenEndpoint: ENDPOINT,
    ...client,
    ...options,
    transport: {
      adapter: (config) => {
        asked.push(new URLSearchParams(String(config.data)))
        const body = JSON.stringify({ ...GRANT, access_token: `token-${asked.length}` })
        return Promise.resolve(response(config, body, statuses[asked.length - 1]))
      },
    },
  })
  const tokens = managerOf(source, { retry: { baseDelayMs: 0 } })
  const claims = () => asked.map((body) => JSON.parse(body.get('claims') ?? 'null') as unknown)
  return { api, source, tokens, claims }
}

describe.each(DOORS)('given an API that requires other claims in the token ($name)', ({ open }) => {
  it('when it responds with a claims challenge, then the next token request carries the claims, and the request is replayed', async () => {
    const { api, tokens, claims } = await startWorld()
    const send = open(tokens, { origins: [api.baseUrl] })
    expect((await send(api.baseUrl)).status).toBe(200)
    expect(api.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(claims()).toEqual([null, AFTER])
    await tokens.renew()
    expect(claims()).toEqual([null, AFTER, null])
  })

  it('when the user has logged in, then the refresh carries the claims', async () => {
    const { api, tokens, claims } = await startWorld(challenge(), { grant: 'login', refreshTokens: 'reusable' })
    await tokens.adopt({ accessToken: 'token-0', accessLifetimeMs: 60_000, refreshToken: 'r' })
    expect((await open(tokens, { origins: [api.baseUrl] })(api.baseUrl)).status).toBe(200)
    expect(claims()).toEqual([AFTER])
  })
})

describe.each(DOORS.slice(0, 1))('given a claims challenge', ({ open }) => {
  const send = async (...given: Parameters<typeof startWorld>) => {
    const world = await startWorld(...given)
    await open(world.tokens, { origins: [world.api.baseUrl] })(world.api.baseUrl)
    return world
  }

  it('when the client has declared its capabilities, then they are kept', async () => {
    const capabilities = { xms_cc: { values: ['cp1'] } }
    const own = { access_token: capabilities, id_token: { auth_time: { essential: true } } }
    const { claims } = await send(challenge(), { parameters: { claims: JSON.stringify(own) } })
    expect(claims()).toEqual([own, { ...own, access_token: { ...capabilities, ...AFTER.access_token } }])
  })

  it('when the claims are base64url, or have characters beyond ASCII, then they are read', async () => {
    const text = { access_token: { name: { value: '>>>???ü' } } }
    const { claims } = await send(challenge(Buffer.from(JSON.stringify(text)).toString('base64url')))
    expect(claims()).toEqual([null, text])
  })

  it('when the token request fails, then the next attempt carries the claims too', async () => {
    expect((await send(challenge(), {}, [200, 503])).claims()).toEqual([null, AFTER, AFTER])
  })

  it('when the manager is reset, then the claims are forgotten', async () => {
    const { tokens, claims } = await send(challenge(), {}, [200, 400])
    expect(claims()).toEqual([null, AFTER])
    await tokens.reset()
    await tokens.getAccessToken()
    expect(claims()).toEqual([null, AFTER, null])
  })

  it.each([
    ['another error', challenge(base64(AFTER), 'invalid_token')],
    ['no claims', 'Bearer error="insufficient_claims"'],
    ['claims that are not base64', challenge('!!!')],
    ['claims that are not JSON', challenge(Buffer.from('nbf').toString('base64'))],
    ['claims that are an array', challenge(base64([1]))],
  ])('when it has %s, then the token is replaced without claims', async (_, header) => {
    const { api, claims } = await send(header)
    expect(api.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(claims()).toEqual([null, null])
  })
})
