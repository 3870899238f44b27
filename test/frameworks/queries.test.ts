import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import axios, { type AxiosInstance } from 'axios'
import { storeOf } from '../../examples/pages/queries/rtk.ts'
import { queryClientOf } from '../../examples/pages/queries/tanstack.ts'
import { attachBearer, createTokenManager, type TokenSource } from '../../src/index.ts'
import { type LoginManager, session } from '../../src/login/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { type SimulatedService, startTokenService } from '../../tools/testing/index.ts'

let service: SimulatedService
let tokens: LoginManager
let api: AxiosInstance
/** How many requests the library has made. */
let asked: number
/** The number of tokens after the login. */
let renewals: () => number
let logIn: (subject?: string) => Promise<void>

/** The two forms of `examples/pages`: the page presents a refresh token, or your server has a session. */
const FORMS = {
  'a refresh token': () => {
    logIn = async (subject = 'ada') => tokens.adopt(await service.logIn(subject))
    renewals = () => service.count('refresh')
    return oauth2({ tokenEndpoint: service.tokenEndpoint, clientId: 'page', grant: 'login' })
  },
  'a session': (): TokenSource => {
    let person: string | undefined
    let obtained = 0
    const newToken = async () => {
      const { accessToken, accessLifetimeMs } = await service.logIn(person)
      return { accessToken, accessLifetimeMs, subject: person! }
    }
    logIn = async (subject = 'ada') => {
      person = subject
      await tokens.adopt(await newToken())
    }
    renewals = () => obtained
    return {
      id: 'page',
      login: session,
      async obtain() {
        if (person === undefined) throw new Response(null, { status: 401 })
        obtained += 1
        return newToken()
      },
      revoke: async () => void (person = undefined),
    }
  },
}
/** The responses of the API. */
const answers = () => service.log.filter(({ kind }) => kind === 'resource').map(({ status }) => status)

interface Library {
  /** Requests `/me` as a component would. @returns The path in the response, or the failure. */
  ask(): Promise<unknown>
  /** The number of responses in the cache. */
  readonly cached: number
  end(): void
}

function tanstack(): Library {
  const client = queryClientOf(tokens)
  // The pauses between attempts belong to the library.
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

const LIBRARIES = { 'TanStack Query': tanstack, 'RTK Query': rtk }
const cases = Object.entries(LIBRARIES).flatMap(([name, library]) =>
  Object.entries(FORMS).map(([form, source]) => ({ name, library, form, source })),
)

describe.each(cases)('given $name on an attached instance, with $form', ({ library, source }) => {
  let queries: Library
  beforeEach(async () => {
    service = await startTokenService()
    tokens = createTokenManager({ source: source(), retry: { baseDelayMs: 0 } }) as LoginManager
    api = axios.create({ baseURL: service.baseUrl })
    attachBearer(api, tokens)
    asked = 0
    api.interceptors.request.use((config) => {
      asked += 1
      return config
    })
    queries = library()
  })
  afterEach(async () => {
    queries.end()
    await tokens.close()
    await service.close()
  })

  it('when the API rejects the token once, then the attachment replays the request, and the library sees one request', async () => {
    await logIn()
    service.revokeAccessTokens()
    expect(await queries.ask()).toBe('/me')
    expect([answers(), renewals(), asked]).toEqual([[401, 200], 1, 1])
  })

  it('when the API rejects each token, then the library does not retry', async () => {
    await logIn()
    service.failNext('resource', { status: 401 }, 9)
    await queries.ask()
    expect([answers(), renewals(), asked]).toEqual([[401, 401], 1, 1])
  })

  it('when a login is required, then the library does not retry', async () => {
    // As the page does when it loads. Earlier queries are cancelled, because a required login empties the cache.
    await tokens.getAccessToken().catch(() => undefined)
    expect(await queries.ask()).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect([asked, answers(), renewals()]).toEqual([1, [], 0])
  })

  it('when the API fails, then the library makes three attempts in total', async () => {
    await logIn()
    service.failNext('resource', { status: 503 }, 9)
    await queries.ask()
    expect(answers()).toEqual([503, 503, 503])
  })

  it('when the API returns 404, then the library does not retry', async () => {
    await logIn()
    service.failNext('resource', { status: 404 }, 9)
    await queries.ask()
    expect(answers()).toEqual([404])
  })

  it('when the user logs out, or another one logs in, then nothing is left in the cache', async () => {
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

  it('when the same user logs in again, then the cache is kept', async () => {
    await logIn()
    await queries.ask()
    await logIn()
    await new Promise(setImmediate)
    expect(queries.cached).toBe(1)
  })
})
