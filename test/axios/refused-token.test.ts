import { Readable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosInstance } from 'axios'
import FormData from 'form-data'
import { attachBearer, type TokenManager, TokenError } from '../../src/index.ts'
import { withBearer } from '../../src/fetch/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'
import { rejecting, startApi } from './support/api-server.ts'
import { managerOf, mint, type MintOptions, startTokens } from './support/tokens.ts'
import { failureOf, until } from './support/turns.ts'

const REQUESTS = 40

type Send = (api: AxiosInstance, tokens: TokenManager) => Promise<unknown>
const KINDS: [string, Send][] = [
  ['JSON', (api) => api.post('/', { a: 1 })],
  ['a stream', (api) => api.post('/', Readable.from(['one', 'two']))],
  [
    'form-data',
    (api) => {
      const form = new FormData()
      form.append('file', 'content', 'file.txt')
      return api.post('/', form)
    },
  ],
  ['postForm', (api) => api.postForm('/', { file: Readable.from(['one']) as never, name: 'x' })],
  [
    'a fetch stream',
    async (api, tokens) => {
      const send = withBearer(fetch, tokens, { origins: [api.defaults.baseURL!] })
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('one'))
          controller.close()
        },
      })
      const { status } = await send(`${api.defaults.baseURL}/`, { method: 'POST', body, duplex: 'half' })
      if (status !== 200) throw new Error(`responded with ${status}`)
    },
  ],
]

describe('given a token that the API rejects, while its replacement is in flight (F367)', () => {
  it.each(KINDS)(
    'when forty requests with %s start, then all succeed, and the rejected token is sent once',
    async (_, send) => {
      const server = await startApi(rejecting('token-1'))
      const { minted, tokens } = startTokens()
      const api = axios.create({ baseURL: server.baseUrl })
      attachBearer(api, tokens)
      await tokens.getAccessToken()
      minted.hold()
      const first = api.get('/first')
      await until(() => minted.calls === 2)
      const sent = Array.from({ length: REQUESTS }, () => send(api, tokens))
      await settle()
      expect([tokens.peekAccessToken(), tokens.status().phase]).toEqual([undefined, 'fresh'])
      minted.release()
      await Promise.all([first, ...sent])
      expect(server.bearers.filter((bearer) => bearer === 'Bearer token-1')).toHaveLength(1)
      expect(server.received.length).toBeLessThanOrEqual(REQUESTS + 2)
    },
  )

  it('when the first exchange fails, then they use the old token at once and wait neither for retries nor for the cool-down', async () => {
    const server = await startApi(({ url, headers }, index) =>
      rejecting(url === '/odd' ? 'token-1' : 'none')({ url, headers } as never, index),
    )
    const clock = manualClock()
    const { minted, tokens } = startTokens({ clock })
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await tokens.getAccessToken()
    minted.hold()
    minted.fail(
      new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'responded with 503', { outcome: 'unknown-5xx', status: 503 }),
    )
    const odd = failureOf(api.get('/odd'))
    await until(() => minted.calls === 2)
    const waiting = Array.from({ length: REQUESTS }, () => api.get('/good'))
    await settle()
    expect(server.received).toHaveLength(1)
    minted.release()
    await Promise.all(waiting)
    // The renewal pauses before its second call, and cools down later.
    expect([minted.calls, tokens.status().renewing]).toEqual([2, true])
    await api.get('/good')
    await clock.advance(30_000)
    await api.get('/good')
    expect(await odd).toMatchObject({ response: { status: 401 } })
  })

  it('when the exchange has no response, then they wait no longer than an exchange may take', async () => {
    const clock = manualClock()
    const { minted, tokens } = startTokens({ clock, lifetimeMs: 3_600_000 })
    await tokens.getAccessToken()
    minted.hold()
    const replaced = failureOf(tokens.replaceAccessToken('token-1'))
    await settle()
    const waiting = tokens.getAccessToken()
    await clock.advance(10_000)
    expect(await waiting).toBe('token-1')
    await clock.advance(30_000)
    await replaced
  })
})

describe('given an API that rejects a token that cannot be replaced (F385)', () => {
  const down = new TokenError('ERR_CREDENTIALS_REJECTED', 'responded with 401', { outcome: 'rejected', status: 401 })
  const isReady = (tokens: TokenManager) =>
    !['refused', 'cooling-down', 'stopped', 'closed'].includes(tokens.status().phase)

  async function refusedBy(script: Parameters<typeof startApi>[0], options?: MintOptions) {
    const server = await startApi(script)
    const clock = manualClock()
    const minted = mint({ lifetimeMs: 3_600_000, ...options })
    const tokens = managerOf(minted.source, { clock })
    const api = axios.create({ baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await tokens.getAccessToken()
    return { clock, minted, tokens, api, server }
  }

  it('when the secret was rotated, then the phase is refused, and stays so despite further requests', async () => {
    const { clock, minted, tokens, api } = await refusedBy(rejecting('token-1'))
    minted.fail(down)
    for (let request = 0; request < 30; request += 1) {
      await failureOf(api.get('/'))
      expect([tokens.status().phase, isReady(tokens)]).toEqual(['refused', false])
      await clock.advance(10_000)
    }
  })

  it('when another token arrives, then the phase is fresh again', async () => {
    const { minted, tokens, api } = await refusedBy(rejecting('token-1'))
    minted.fail(down)
    await failureOf(api.get('/'))
    expect(tokens.status().phase).toBe('refused')
    await tokens.adopt({ accessToken: 'other', accessLifetimeMs: 3_600_000 })
    expect(tokens.status().phase).toBe('fresh')
  })

  it.each([
    ['new tokens are', {}],
    ['the same token is issued and', { token: () => 'same' }],
  ])('when %s rejected, too, then the phase is refused', async (_, options) => {
    const { tokens, api } = await refusedBy(() => ({ status: 401 }), options)
    await failureOf(api.get('/'))
    expect(tokens.status().phase).toBe('refused')
  })

  it('when one endpoint rejects every token, then a success with the token ends the phase, and the next rejection does not restore it', async () => {
    const { clock, tokens, api } = await refusedBy(({ url }) => (url === '/odd' ? { status: 401 } : {}))
    await failureOf(api.get('/odd'))
    await api.get('/good')
    expect(tokens.status().phase).toBe('fresh')
    for (let round = 0; round < 9; round += 1) {
      await failureOf(api.get('/odd'))
      await clock.advance(500)
      await api.get('/good')
      expect(tokens.status().phase).toBe('fresh')
    }
  })
})
