import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import axios, { type AxiosInstance } from 'axios'
import { storeOf } from '../../examples/pages/queries/rtk.ts'
import { queryClientOf } from '../../examples/pages/queries/tanstack.ts'
import { attachBearer, createTokenManager, type TokenManager } from '../../src/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { type SimulatedService, startTokenService } from '../../src/testing/index.ts'

let service: SimulatedService
let tokens: TokenManager
let api: AxiosInstance
/** How many requests the library has made. */
let asked: number
beforeEach(async () => {
  service = await startTokenService()
  const source = oauth2({ tokenEndpoint: service.tokenEndpoint, clientId: 'page', grant: 'login' })
  tokens = createTokenManager({ source, retry: { baseDelayMs: 0 } })
  api = axios.create({ baseURL: service.baseUrl })
  attachBearer(api, tokens)
  asked = 0
  api.interceptors.request.use((config) => {
    asked += 1
    return config
  })
})
afterEach(async () => {
  await tokens.close()
  await service.close()
})
const logIn = async (subject = 'ada') => tokens.adopt(await service.logIn(subject))
const kinds = () => service.log.map(({ kind, status }) => `${kind} ${status}`)

interface Library {
  /** Asks for `/me` as a component would. @returns The path of the answer; what failed. */
  ask(): Promise<unknown>
  /** How many answers the cache holds. */
  readonly cached: number
  end(): void
}

function tanstack(): Library {
  const client = queryClientOf(tokens)
  // The pauses between attempts are the library's own affair.
  client.setDefaultOptions({ queries: { ...client.getDefaultOptions().queries, retryDelay: 0 } })
  const queryFn = async () => (await api.get<{ path: string }>('/me')).data.path
  return {
    ask: () => client.query({ queryKey: ['me'], queryFn }).catch((error: unknown) => error),
    get cached() {
      return client.getQueryCache().getAll().length
    },
    end: () => client.clear(),
  }
}

function rtk(): Library {
  const { store, queries } = storeOf(api, tokens)
  return {
    async ask() {
      const asked = store.dispatch(queries.endpoints.me.initiate(undefined, { forceRefetch: true }))
      const { data, error } = await asked
      return data?.path ?? error
    },
    get cached() {
      return Object.keys(store.getState()[queries.reducerPath].queries).length
    },
    end: () => void store.dispatch(queries.util.resetApiState()),
  }
}

describe.each([
  ['TanStack Query', tanstack],
  ['RTK Query', rtk],
])('given %s on an attached instance', (_, library) => {
  let queries: Library
  beforeEach(() => void (queries = library()))
  afterEach(() => queries.end())

  it('when the API refuses the token once, then the attachment sends the request again, and the library asks once', async () => {
    await logIn()
    service.revokeAccessTokens()
    expect(await queries.ask()).toBe('/me')
    expect(kinds()).toEqual(['resource 401', 'refresh 200', 'resource 200'])
  })

  it('when the API refuses each token, then the library does not ask again', async () => {
    await logIn()
    service.failNext('resource', { status: 401 }, 9)
    await queries.ask()
    expect(kinds()).toEqual(['resource 401', 'refresh 200', 'resource 401'])
  })

  it('when a login is required, then nobody asks again', async () => {
    expect(await queries.ask()).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect([asked, kinds()]).toEqual([1, []])
  })

  it('when the API fails, then the library asks three times in all', async () => {
    await logIn()
    service.failNext('resource', { status: 503 }, 9)
    await queries.ask()
    expect(kinds()).toEqual(['resource 503', 'resource 503', 'resource 503'])
  })

  it('when the API answers 404, then the library does not ask again', async () => {
    await logIn()
    service.failNext('resource', { status: 404 }, 9)
    await queries.ask()
    expect(kinds()).toEqual(['resource 404'])
  })

  it('when the person logs out, or another one logs in, then nothing is left in the cache', async () => {
    await logIn()
    await queries.ask()
    expect(queries.cached).toBe(1)
    await logIn('bob')
    await new Promise(setImmediate)
    expect(queries.cached).toBe(0)
    await queries.ask()
    await tokens.logout()
    await new Promise(setImmediate)
    expect(queries.cached).toBe(0)
  })

  it('when the same person logs in again, then the cache is kept', async () => {
    await logIn()
    await queries.ask()
    await logIn()
    await new Promise(setImmediate)
    expect(queries.cached).toBe(1)
  })
})
