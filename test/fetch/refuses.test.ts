import { getEventListeners } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import { withBearer } from '../../src/fetch/index.ts'
import { TokenError } from '../../src/index.ts'
import { startApi } from '../axios/support/api-server.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { failureOf, gate, until } from '../axios/support/turns.ts'
import { startLogins } from '../client/support/logins.ts'

const UNAUTHENTICATED = '{"errors":[{"extensions":{"code":"UNAUTHENTICATED"}}]}'
const query = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"query":"{ me }"}' }

/** The predicate of docs/fetch.md. */
async function refuses(response: Response): Promise<boolean> {
  if (response.status !== 200) return response.status === 401
  const { errors } = (await response.clone().json()) as { errors?: { extensions?: { code?: string } }[] }
  return errors?.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED') ?? false
}

const graphql = (refused: readonly string[] = ['Bearer token-1']) =>
  startApi(({ headers }) => ({
    body: refused.includes(headers.authorization!) ? UNAUTHENTICATED : '{"data":{"me":1}}',
  }))

describe('given a GraphQL API, which rejects in the body under 200 (F381)', () => {
  it('when rejects reads a clone, then the request is sent again with the next token, and the caller reads the response (F381)', async () => {
    const server = await graphql()
    const { tokens, minted } = startTokens()
    const response = await withBearer(fetch, tokens, { origins: [server.baseUrl], refuses })(server.baseUrl, query)
    expect([await response.json(), minted.calls]).toEqual([{ data: { me: 1 } }, 2])
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(server.received[1]!.body.equals(server.received[0]!.body)).toBe(true)
  })

  it('when it rejects the next token too, then the caller gets its response, readable, and it is reported (F381)', async () => {
    const server = await graphql(['Bearer token-1', 'Bearer token-2'])
    const { tokens, anomalies } = startTokens()
    const response = await withBearer(fetch, tokens, { origins: [server.baseUrl], refuses })(server.baseUrl, query)
    expect([await response.text(), server.received.length]).toEqual([UNAUTHENTICATED, 2])
    expect(anomalies.map(({ kind }) => kind)).toEqual(['new-tokens-refused'])
  })

  it.each([
    ['rejects', () => Promise.reject(new SyntaxError('no JSON'))],
    [
      'throws',
      () => {
        throw new SyntaxError('no JSON')
      },
    ],
  ])('when refuses %s, then the caller gets that error, and nothing is sent again (F381)', async (_, broken) => {
    const server = await graphql()
    const { tokens, minted } = startTokens()
    const api = withBearer(fetch, tokens, { origins: [server.baseUrl], refuses: broken })
    expect(await failureOf(api(server.baseUrl, query))).toEqual(new SyntaxError('no JSON'))
    expect([server.received.length, minted.calls]).toEqual([1, 1])
  })

  it('when rejects rejects with a TokenError, then each caller has one of its own (F381)', async () => {
    const server = await graphql()
    const error = new TokenError('ERR_THROTTLED', 'later')
    const api = withBearer(fetch, startTokens().tokens, {
      origins: [server.baseUrl],
      refuses: () => Promise.reject(error),
    })
    const [one, two] = await Promise.all([failureOf(api(server.baseUrl)), failureOf(api(server.baseUrl))])
    expect([one, two]).toMatchObject([{ code: 'ERR_THROTTLED' }, { code: 'ERR_THROTTLED' }])
    expect(one).not.toBe(two)
  })

  it('when the response of rejects is a thenable, or true in another form, then it counts (F381)', async () => {
    for (const verdict of [{ then: (use: (is: boolean) => void) => use(true) }, 'yes']) {
      const server = await graphql()
      const { tokens, minted } = startTokens()
      let isFirst = true
      const once = () => (isFirst ? ((isFirst = false), verdict) : false) as boolean
      await withBearer(fetch, tokens, { origins: [server.baseUrl], refuses: once })(server.baseUrl, query)
      expect([server.received.length, minted.calls]).toEqual([2, 2])
    }
  })

  it('when another user logs in while rejects reads, then the caller gets the response, and nothing is sent as that user (F381, F209)', async () => {
    const server = await graphql(['Bearer ALICE'])
    const logins = startLogins()
    logins.logIn('ALICE')
    const opened = gate()
    const slow = async (response: Response) => {
      await opened.opened
      return refuses(response)
    }
    const sent = withBearer(fetch, logins.tokens, { origins: [server.baseUrl], refuses: slow })(server.baseUrl, query)
    await until(() => server.received.length === 1)
    logins.logIn('BOB')
    opened.open()
    expect(await (await sent).text()).toBe(UNAUTHENTICATED)
    expect([server.bearers, logins.replaced]).toEqual([['Bearer ALICE'], []])
  })

  it('when a stream is rejected so, then the caller gets its response, and the next request has another token (F381)', async () => {
    const server = await graphql()
    const { tokens } = startTokens()
    const api = withBearer(fetch, tokens, { origins: [server.baseUrl], refuses })
    const body = new Blob([query.body]).stream()
    const response = await api(server.baseUrl, { ...query, body, duplex: 'half' })
    expect(await response.text()).toBe(UNAUTHENTICATED)
    await until(() => tokens.peekAccessToken() === 'token-2')
    expect(await (await api(server.baseUrl, query)).json()).toEqual({ data: { me: 1 } })
  })
})

describe('given a predicate that never decides', () => {
  const never = () => new Promise<boolean>(() => undefined)

  async function waiting(
    given: (url: string, signal: AbortSignal) => [unknown, RequestInit?],
    verdict: () => unknown = never,
  ) {
    const server = await graphql()
    const { tokens, minted } = startTokens()
    let asked = 0
    const refuses = () => ((asked += 1), verdict() as Promise<boolean>)
    const api = withBearer(fetch, tokens, { origins: [server.baseUrl], refuses })
    const controller = new AbortController()
    const sent = (api as (...given: unknown[]) => Promise<Response>)(...given(server.baseUrl, controller.signal))
    const settled = sent.catch((error: unknown) => error)
    await until(() => asked > 0)
    return { controller, settled, server, minted }
  }
  const reason = new Error('the page was left')

  it.each<[string, (url: string, signal: AbortSignal) => [unknown, RequestInit?]]>([
    ['a signal', (url, signal) => [url, { ...query, signal }]],
    ['a Request with a signal', (url, signal) => [new Request(url, { ...query, signal })]],
  ])(
    'when the caller aborts by %s, then the wait ends with its reason, and nothing is sent again (F411)',
    async (_, given) => {
      const { controller, settled, server, minted } = await waiting(given)
      controller.abort(reason)
      expect(await settled).toBe(reason)
      expect([server.received.length, minted.calls]).toEqual([1, 1])
    },
  )

  it('when a thenable never calls back, then an abort ends the wait, too (F411)', async () => {
    const { controller, settled } = await waiting(
      (url, signal) => [url, { signal }],
      () => ({ then: () => undefined }),
    )
    controller.abort(reason)
    expect(await settled).toBe(reason)
  })

  it.each(['rejects', 'resolves'])(
    'when the verdict %s after the abort, then nothing follows from it (F411)',
    async (how) => {
      let settle = () => {}
      const late = () =>
        new Promise<boolean>((resolve, reject) => {
          settle = () => (how === 'resolves' ? resolve(true) : reject(new Error('too late')))
        })
      const { controller, settled, server, minted } = await waiting((url, signal) => [url, { signal }], late)
      controller.abort(reason)
      expect(await settled).toBe(reason)
      settle()
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      expect([server.received.length, minted.calls]).toEqual([1, 1])
    },
  )

  it('when the caller aborted before the predicate was called, then the wait does not begin (F411)', async () => {
    const controller = new AbortController()
    const { tokens } = startTokens()
    const ignoring = () => {
      controller.abort(reason)
      return Promise.resolve(new Response('{}'))
    }
    const api = withBearer(ignoring, tokens, { origins: ['https://api.example.com'], refuses: never })
    const { signal } = controller
    expect(await failureOf((api as typeof fetch)('https://api.example.com/', { signal }))).toBe(reason)
  })

  it('when a verdict came, then no listener stays on the signal (F411)', async () => {
    const { signal } = new AbortController()
    const { tokens } = startTokens()
    const api = withBearer(() => Promise.resolve(new Response('{}')), tokens, {
      origins: ['https://api.example.com'],
      refuses: () => Promise.resolve(false),
    })
    for (let n = 0; n < 3; n += 1) await (api as typeof fetch)('https://api.example.com/', { signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
