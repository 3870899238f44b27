import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosRequestConfig } from 'axios'
import { dpopKey } from '../../src/dpop/index.ts'
import { attachBearer } from '../../src/index.ts'
import { keyPair } from '../dpop/support/keys.ts'
import { verified } from '../dpop/support/verifier.ts'
import { startApi } from './support/api-server.ts'
import { startTokens } from './support/tokens.ts'
import { failureOf } from './support/turns.ts'

/** What plain axios makes of the request: the message of its error, or the status. */
const outcomeOf = (sent: Promise<{ status: number }>) =>
  sent.then(
    ({ status }) => status,
    (error: unknown) => (error as Error).message,
  )

describe.each(['http', 'fetch'] as const)('given the %s adapter', (adapter) => {
  const KINDS: readonly [string, (origin: string) => AxiosRequestConfig][] = [
    ['a URL object and a baseURL', (origin) => ({ baseURL: origin, url: new URL('/1', origin) as never })],
    ['a URL object without a baseURL', (origin) => ({ url: new URL('/1', origin) as never })],
    [
      'a URL object that must be relative',
      (origin) => ({ baseURL: origin, url: new URL('/1', origin) as never, allowAbsoluteUrls: false }),
    ],
    ['a number', (origin) => ({ baseURL: origin, url: 1 as never })],
    ['a String object', (origin) => ({ baseURL: origin, url: Object('/1') as never })],
    ['an object without a text', (origin) => ({ baseURL: origin, url: Object.create(null) as never })],
  ]

  it.each(KINDS)('when the url is %s, then the result is that of axios (F414)', async (_, configOf) => {
    const server = await startApi()
    const config = { adapter, proxy: false, ...configOf(server.baseUrl) } as const
    const api = axios.create()
    attachBearer(api, startTokens().tokens, { origins: [server.baseUrl] })
    expect(await outcomeOf(api.request(config))).toEqual(await outcomeOf(axios.request(config)))
    expect(server.bearers.slice(0, -1)).toEqual(server.bearers.length === 0 ? [] : ['Bearer token-1'])
  })

  it('when baseURL is a URL object, then the result is that of axios (F414)', async () => {
    const server = await startApi()
    const baseURL = new URL(server.baseUrl) as never
    const api = axios.create({ adapter, proxy: false, baseURL })
    const plain = await outcomeOf(api.get('/1'))
    attachBearer(api, startTokens().tokens)
    expect(await outcomeOf(api.get('/1'))).toEqual(plain)
    expect(await failureOf(api.get('/1'))).not.toMatchObject({ code: expect.anything() })
  })
})

describe('given the http adapter, which takes URL objects', () => {
  it('when a URL object changes after the call, then the request with the token goes where it was sent (F414)', async () => {
    const [server, other] = [await startApi(), await startApi()]
    const { tokens, minted } = startTokens()
    minted.hold()
    const api = axios.create({ adapter: 'http', proxy: false })
    attachBearer(api, tokens, { origins: [server.baseUrl] })
    const url = new URL('/1?a=1', server.baseUrl)
    const sent = api.get(url as never)
    url.href = `${other.baseUrl}/2`
    minted.release()
    await sent
    expect(server.received.map((request) => [request.url, request.headers.authorization])).toEqual([
      ['/1?a=1', 'Bearer token-1'],
    ])
    expect(other.received).toEqual([])
  })

  it('when a key signs a request to a URL object, then the proof is for its address (F414)', async () => {
    const server = await startApi()
    const api = axios.create({ adapter: 'http', proxy: false })
    attachBearer(api, startTokens().tokens, { origins: [server.baseUrl], dpop: dpopKey(await keyPair()) })
    await api.get(new URL('/1?a=1#part', server.baseUrl) as never)
    expect(verified(server.received[0]!.headers.dpop).claims.htu).toBe(`${server.baseUrl}/1`)
  })
})
