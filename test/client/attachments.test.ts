import { describe, expect, it } from '@jest/globals'
import { isTokenError, TokenError } from '../../src/index.ts'
import { rejection, rejecting, startApi } from '../axios/support/api-server.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { failureOf, gate, until } from '../axios/support/turns.ts'
import { DOORS } from './support/doors.ts'

describe.each(DOORS)('given callers at an API ($name)', ({ open }) => {
  it('when twenty POSTs are rejected at once, then one renewal is made for all, with every body intact (F104, P1)', async () => {
    const { tokens, minted } = startTokens()
    const server = await startApi(rejecting('token-1'))
    const send = open(tokens, { origins: [server.baseUrl] })
    const bodies = Array.from({ length: 20 }, (_, n) => `body ${n} ü`)
    const responses = await Promise.all(bodies.map((body) => send(`${server.baseUrl}/x`, { method: 'POST', body })))
    expect(responses.map(({ status }) => status)).toEqual(bodies.map(() => 200))
    expect(minted.calls).toBe(2)
    const arrived = (token: string) =>
      server.received.filter(({ headers }) => headers.authorization === token).map(({ body }) => body.toString())
    expect(arrived('Bearer token-2').sort()).toEqual(bodies.toSorted())
    expect(arrived('Bearer token-1').every((body) => bodies.includes(body))).toBe(true)
  })

  it('when one gives up while all wait for the first token, then the others get it (P17)', async () => {
    const { tokens, minted } = startTokens()
    minted.hold()
    const server = await startApi()
    const send = open(tokens, { origins: [server.baseUrl] })
    const controller = new AbortController()
    const lost = failureOf(send(server.baseUrl, { signal: controller.signal }))
    const others = [send(server.baseUrl), send(server.baseUrl)]
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    expect(isTokenError(await lost)).toBe(false)
    minted.release()
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200])
    expect([server.received.length, minted.calls]).toEqual([2, 1])
  })

  it('when no token can be obtained, then nothing is sent, and each rejects with an error of its own (P13)', async () => {
    const { tokens, minted } = startTokens()
    minted.fail(new TokenError('ERR_CREDENTIALS_REJECTED', 'wrong'))
    const server = await startApi()
    const send = open(tokens, { origins: [server.baseUrl] })
    const [one, two] = await Promise.all([failureOf(send(server.baseUrl)), failureOf(send(server.baseUrl))])
    expect([isTokenError(one, 'ERR_CREDENTIALS_REJECTED'), one === two]).toEqual([true, false])
    expect(server.received).toHaveLength(0)
  })
})

describe.each(DOORS)('given an API that rejects ($name)', ({ open }) => {
  it('when it rejects the next token too, then the caller gets the second 401, and it is reported (F113, P8)', async () => {
    const { tokens, minted, anomalies } = startTokens()
    const server = await startApi((_, n) => ({ status: 401, body: `answer ${n}` }))
    const answer = await open(tokens, { origins: [server.baseUrl] })(server.baseUrl, { method: 'POST', body: 'x' })
    expect(answer).toEqual({ status: 401, text: 'answer 1' })
    expect([server.bearers, minted.calls]).toEqual([['Bearer token-1', 'Bearer token-2'], 2])
    expect(anomalies.map(({ kind }) => kind)).toEqual(['new-tokens-refused'])
  })

  it('when the renewal fails, then the caller gets the 401, readable', async () => {
    const { tokens, minted } = startTokens()
    await tokens.getAccessToken()
    minted.fail(new TokenError('ERR_CREDENTIALS_REJECTED', 'wrong'))
    const server = await startApi(() => rejection)
    const answer = await open(tokens, { origins: [server.baseUrl] })(server.baseUrl)
    expect(answer).toEqual({ status: 401, text: '{"error":"refused"}' })
    expect(server.received).toHaveLength(1)
  })

  it('when a 401 arrives late, for a token that was replaced, then the request is replayed without a renewal (P9)', async () => {
    const { tokens, minted } = startTokens()
    const opened = gate()
    const server = await startApi(async (request, n) => {
      if (n === 0) await opened.opened
      return rejecting('token-1')(request, n)
    })
    const sent = open(tokens, { origins: [server.baseUrl] })(server.baseUrl)
    await until(() => server.received.length === 1)
    await tokens.renew()
    opened.open()
    expect(await sent).toMatchObject({ status: 200 })
    expect(minted.calls).toBe(2)
  })

  it.each([
    [401, 'Bearer error="insufficient_user_authentication", acr_values="x"'],
    [401, 'Basic realm="a", Bearer error="insufficient_scope"'],
    [403, 'Bearer error="insufficient_scope", scope="a b"'],
    [403, 'Bearer'],
    [500, 'Bearer error="invalid_token"'],
  ])(
    'when it responds %d with %j, then nothing is renewed and nothing replayed (F223, F114)',
    async (status, challenge) => {
      const { tokens, minted, anomalies } = startTokens()
      const server = await startApi(() => ({ status, headers: { 'WWW-Authenticate': challenge } }))
      const answer = await open(tokens, { origins: [server.baseUrl] })(server.baseUrl, { method: 'POST', body: 'x' })
      expect([answer.status, server.received.length, minted.calls, anomalies]).toEqual([status, 1, 1, []])
    },
  )

  it.each(['Bearer', 'Bearer error="invalid_token"', 'Bearer error="x', 'Basic realm="a"'])(
    'when it returns 401 with %j, then the request is replayed (F223)',
    async (challenge) => {
      const server = await startApi((_, n) =>
        n === 0 ? { status: 401, headers: { 'WWW-Authenticate': challenge } } : {},
      )
      expect(await open(startTokens().tokens, { origins: [server.baseUrl] })(server.baseUrl)).toMatchObject({
        status: 200,
      })
      expect(server.received).toHaveLength(2)
    },
  )
})

describe.each(DOORS)('given origins and redirects ($name)', ({ open }) => {
  it('when a request is sent to another origin, then it has no token, and it is reported once (F105)', async () => {
    const { tokens, minted, anomalies } = startTokens()
    const [server, other] = [await startApi(), await startApi(() => rejection)]
    const send = open(tokens, { origins: [server.baseUrl] })
    expect([await send(other.baseUrl), await send(other.baseUrl)]).toMatchObject([{ status: 401 }, { status: 401 }])
    expect([other.bearers, minted.calls]).toEqual([[undefined, undefined], 0])
    expect(anomalies.map(({ kind }) => kind)).toEqual(['origin-not-allowed'])
  })

  it('when a request has the header, then it is sent unchanged, 401 included (F108)', async () => {
    const { tokens, minted } = startTokens()
    const server = await startApi(() => rejection)
    const answer = await open(tokens, { origins: [server.baseUrl] })(server.baseUrl, {
      headers: { authorization: 'Own 1' },
    })
    expect([answer.status, server.bearers, minted.calls]).toEqual([401, ['Own 1'], 0])
  })

  it.each(['GET', 'POST'])(
    'when a redirect of a %s leads to a 401 of another origin, then nothing is renewed (F106)',
    async (method) => {
      const { tokens, minted } = startTokens()
      const other = await startApi(() => rejection)
      const server = await startApi(() => ({ status: 302, headers: { Location: `${other.baseUrl}/there` } }))
      const body = method === 'POST' ? { body: 'x' } : {}
      const answer = await open(tokens, { origins: [server.baseUrl] })(server.baseUrl, { method, ...body })
      expect([answer.status, server.received.length, other.bearers, minted.calls]).toEqual([401, 1, [undefined], 1])
    },
  )

  it('when a POST became a GET at its own origin, then the caller gets its 401, and later requests have another token', async () => {
    const { tokens, minted } = startTokens()
    const server = await startApi(({ method }) =>
      method === 'POST' ? { status: 303, headers: { Location: '/got' } } : rejection,
    )
    const answer = await open(tokens, { origins: [server.baseUrl] })(server.baseUrl, { method: 'POST', body: 'x' })
    expect([answer.status, server.received.map(({ method }) => method)]).toEqual([401, ['POST', 'GET']])
    await until(() => minted.calls === 2)
  })

  it.each(['GET', 'PUT', 'DELETE'])(
    'when a %s is redirected within its origin and then rejected, then it is replayed',
    async (method) => {
      const server = await startApi(({ url, headers }) => {
        if (url === '/start') return { status: 307, headers: { Location: '/end' } }
        return headers.authorization === 'Bearer token-1' ? rejection : {}
      })
      const send = open(startTokens().tokens, { origins: [server.baseUrl] })
      const response = await send(`${server.baseUrl}/start`, { method, ...(method === 'PUT' && { body: 'x' }) })
      expect(response.status).toBe(200)
      const sent = [`${method} /start`, `${method} /end`]
      expect(server.received.map(({ method, url }) => `${method} ${url}`)).toEqual([...sent, ...sent])
    },
  )

  it.each([
    ['POST', 307],
    ['POST', 308],
    ['PATCH', 307],
  ])(
    'when a %s is redirected within its origin (%i) and then rejected, then it is not replayed',
    async (method, status) => {
      const { tokens, minted } = startTokens()
      const server = await startApi(({ url }) =>
        url === '/start' ? { status, headers: { Location: '/end' } } : rejection,
      )
      const send = open(tokens, { origins: [server.baseUrl] })
      expect(await send(`${server.baseUrl}/start`, { method, body: 'x' })).toMatchObject({ status: 401 })
      expect(server.received).toHaveLength(2)
      await until(() => minted.calls === 2)
    },
  )

  it('when the token is in another header, then no redirect forwards it (F107)', async () => {
    const other = await startApi()
    const server = await startApi(() => ({ status: 302, headers: { Location: other.baseUrl } }))
    const answer = await open(startTokens().tokens, { origins: [server.baseUrl], header: 'X-Token' })(server.baseUrl)
    expect([answer.status, other.received.length]).toEqual([302, 0])
    expect(server.received[0]!.headers['x-token']).toBe('Bearer token-1')
  })
})
