import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosError } from 'axios'
import { attachBearer, type TokenManager } from '../../src/index.ts'
import { inProcess } from './support/in-process.ts'
import { startTokens } from './support/tokens.ts'
import { failureOf } from './support/turns.ts'

const baseURL = 'https://api.example.com'

function handMade(members: Partial<TokenManager>): TokenManager {
  const never = () => new Promise<never>(() => {})
  return {
    peekAccessToken: () => undefined,
    getAccessToken: never,
    replaceAccessToken: never,
    ...members,
  } as unknown as TokenManager
}

class QuotaError extends Error {
  readonly quota = 1
}

describe('given failing user code', () => {
  it('when a custom manager rejects with an axios error of its own request, then that error still describes its own request (F220)', async () => {
    const config = { url: 'https://id.example.com/token', headers: {} }
    const own = new axios.AxiosError('no token', 'ERR_NETWORK', config as never)
    const api = axios.create({ adapter: inProcess().adapter, baseURL })
    attachBearer(api, handMade({ getAccessToken: () => Promise.reject(own) }))
    const error = await failureOf<AxiosError>(api.get('/1'))
    expect(error).toBe(own)
    expect(error.config).toBe(config)
  })

  it('when `refuses` throws, then its error has the config of its request (F220)', async () => {
    const api = axios.create({ adapter: inProcess(() => 401).adapter, baseURL })
    const thrown = new QuotaError('broken')
    const refuses = () => {
      throw thrown
    }
    attachBearer(api, startTokens().tokens, { refuses })
    const errors = [await failureOf<AxiosError>(api.get('/1')), await failureOf<AxiosError>(api.get('/2'))]
    expect(errors[0]).toBe(thrown)
    for (const [n, error] of errors.entries()) {
      expect(error).toBeInstanceOf(QuotaError)
      expect(error).toMatchObject({ message: 'broken', quota: 1, isAxiosError: true, config: { url: `/${n + 1}` } })
      expect(Object.keys(error)).toEqual(['quota'])
    }
  })

  it.each<[string, unknown]>([
    ['an error', new QuotaError('no token')],
    ['a frozen error', Object.freeze(new QuotaError('no token'))],
    ['a string', 'no token'],
    ['undefined', undefined],
  ])(
    'when a custom manager rejects two requests with %s, then each error has the config of its request (F220)',
    async (_, reason) => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- managers of others may reject with anything
      const shared = Promise.reject(reason)
      const api = axios.create({ adapter: inProcess().adapter, baseURL })
      attachBearer(api, handMade({ getAccessToken: () => shared }))
      const [one, two] = await Promise.all([failureOf<AxiosError>(api.get('/1')), failureOf<AxiosError>(api.get('/2'))])
      expect(one).toMatchObject({ isAxiosError: true, config: { url: '/1' } })
      expect(two).toMatchObject({ isAxiosError: true, config: { url: '/2' } })
      if (reason instanceof QuotaError)
        expect([one, two].map(({ message }) => message)).toEqual(['no token', 'no token'])
      else expect(one.cause).toBe(reason)
    },
  )

  it('when a custom manager throws in `peekAccessToken`, then the request rejects with its config (F220)', async () => {
    const api = axios.create({ adapter: inProcess().adapter, baseURL })
    const peekAccessToken = () => {
      throw new QuotaError('no token')
    }
    attachBearer(api, handMade({ peekAccessToken }))
    expect(await failureOf(api.get('/1'))).toMatchObject({
      message: 'no token',
      isAxiosError: true,
      config: { url: '/1' },
    })
  })
})

describe('given a polluted Object.prototype', () => {
  it('when it has an origin, then no token is sent to that origin (F217)', async () => {
    const { adapter, calls } = inProcess()
    const api = axios.create({ adapter, baseURL })
    const { tokens } = startTokens()
    Reflect.set(Object.prototype, 'origin', 'https://evil.example')
    try {
      attachBearer(api, tokens)
    } finally {
      Reflect.deleteProperty(Object.prototype, 'origin')
    }
    await api.get('https://evil.example/next-page')
    await api.get('/')
    expect(calls.map(({ authorization }) => authorization)).toEqual([undefined, 'Bearer token-1'])
  })
})
