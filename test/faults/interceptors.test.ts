import { describe, expect, it, jest } from '@jest/globals'
import axios, { type AxiosError } from 'axios'
import axiosRetry from 'axios-retry'
import * as library from '../../src/index.ts'
import { type ApiServer, rejection, rejecting, startApi } from '../axios/support/api-server.ts'
import { mint, startTokens } from '../axios/support/tokens.ts'
import { failureOf } from '../axios/support/turns.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'

const ADAPTERS = ['http', 'fetch'] as const
/** Where our interceptor is registered among those of the user. */
const PLACES = ['first', 'last', 'first and last'] as const
const RETRIES = ['without axios-retry', 'before axios-retry', 'after axios-retry'] as const
const MATRIX = ADAPTERS.flatMap((adapter) =>
  PLACES.flatMap((place) => RETRIES.map((retry) => [adapter, place, retry] as const)),
)

/** @returns The `Authorization` headers of all requests. Two headers in one request give two entries. */
function authorizations({ received }: ApiServer): (string | undefined)[] {
  return received.flatMap(({ rawHeaders }) =>
    rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'authorization'),
  )
}

describe.each(MATRIX)('given an instance (%s adapter) that is attached %s, %s', (adapter, place, retry) => {
  function arranged(baseURL: string) {
    const api = axios.create({ adapter, baseURL })
    const { tokens, minted } = startTokens({ clock: manualClock() })
    const ran: string[] = []
    // axios-retry would retry anything, even a 401 that was replayed.
    const addRetry = () => axiosRetry(api, { retries: 2, retryDelay: () => 0, retryCondition: () => true })
    if (retry === 'after axios-retry') addRetry()
    if (place !== 'last') library.attachBearer(api, tokens)
    api.interceptors.request.use((config) => {
      ran.push('request')
      return config
    })
    api.interceptors.response.use((response) => {
      ran.push('response')
      return response
    })
    if (place !== 'first') library.attachBearer(api, tokens)
    if (retry === 'before axios-retry') addRetry()
    return { api, minted, ran }
  }

  it('when its token is rejected once, then there is one replay, and interceptors run once (F104)', async () => {
    const server = await startApi(rejecting('token-1'))
    const { api, minted, ran } = arranged(server.baseUrl)
    expect((await api.get('/wallet')).status).toBe(200)
    expect(authorizations(server)).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect([server.received.length, minted.calls, ran]).toEqual([2, 2, ['request', 'response']])
  })

  it('when every token is rejected, then one attempt is replayed, and no retry is replayed (F104)', async () => {
    const server = await startApi(() => rejection)
    const { api, minted } = arranged(server.baseUrl)
    expect(await failureOf<AxiosError>(api.get('/wallet'))).toMatchObject({ status: 401 })
    // Each retry is a separate attempt. The gap between forced renewals prevents its replay.
    const retried = retry === 'without axios-retry' ? [] : ['Bearer token-2', 'Bearer token-2']
    expect(authorizations(server)).toEqual(['Bearer token-1', 'Bearer token-2', ...retried])
    expect(minted.calls).toBe(2)
  })
})

/** A second copy of the package. A process that loads the package as ESM and as CommonJS has two. */
async function secondCopy(): Promise<typeof library> {
  let copy: typeof library | undefined
  await jest.isolateModulesAsync(async () => {
    copy = await import('../../src/index.ts')
  })
  return copy!
}

describe('given two copies of the package in one process', () => {
  const managerBy = (copy: typeof library, name: string) => copy.createTokenManager({ source: mint({ name }).source })

  it('when each attaches a manager to one instance, then the second is rejected, and there is one replay (F126)', async () => {
    const other = await secondCopy()
    expect(other.attachBearer).not.toBe(library.attachBearer)
    const server = await startApi(rejecting('one-1'))
    const api = axios.create({ baseURL: server.baseUrl })
    library.attachBearer(api, managerBy(library, 'one'))
    expect(() => other.attachBearer(api, managerBy(other, 'two'))).toThrow(
      `${server.baseUrl} already gets the token of another manager`,
    )
    expect((await api.get('/wallet')).status).toBe(200)
    expect(authorizations(server)).toEqual(['Bearer one-1', 'Bearer one-2'])
  })

  it('when each has an instance, then each has a token, and they recognize errors of each other (F126)', async () => {
    const other = await secondCopy()
    const server = await startApi(rejecting('one-1', 'two-1'))
    const [mine, theirs] = [axios.create({ baseURL: server.baseUrl }), axios.create({ baseURL: server.baseUrl })]
    const closing = managerBy(other, 'two')
    library.attachBearer(mine, managerBy(library, 'one'))
    other.attachBearer(theirs, closing)
    await mine.get('/')
    await theirs.get('/')
    expect(authorizations(server)).toEqual(['Bearer one-1', 'Bearer one-2', 'Bearer two-1', 'Bearer two-2'])
    await closing.close()
    expect(await failureOf(theirs.get('/'))).toBeInstanceOf(library.TokenError)
  })
})
