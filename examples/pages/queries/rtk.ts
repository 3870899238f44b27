// RTK Query with an attached instance. The manager renews tokens. The instance repeats a request whose token the API rejects.
import { configureStore } from '@reduxjs/toolkit'
import { type BaseQueryFn, createApi, retry } from '@reduxjs/toolkit/query'
import { type AxiosInstance, type AxiosRequestConfig, isAxiosError } from 'axios'
import { tokenErrorIn } from 'axios-evergreen'
import type { LoginManager } from 'axios-evergreen/login'

/** Plain data, because the state must not keep an axios error, which contains the whole request. */
interface Failure {
  readonly status: number | undefined
  readonly code: string | undefined
  readonly mayRetry: boolean
}

/** `mayRetry` is false after a 4xx, including 401, and if a login is required or was replaced. */
function failureOf(error: unknown): Failure {
  const { response, code } = isAxiosError(error) ? error : {}
  const status = response?.status
  return { status, code, mayRetry: tokenErrorIn(error)?.retryable ?? (status ?? 500) >= 500 }
}

const baseQueryOf =
  (api: AxiosInstance): BaseQueryFn<AxiosRequestConfig, unknown, Failure> =>
  async (config, { signal }) => {
    try {
      const { data } = await api.request<unknown>({ ...config, signal })
      return { data }
    } catch (error) {
      return { error: failureOf(error) }
    }
  }

export function storeOf(api: AxiosInstance, tokens: Pick<LoginManager, 'on'>) {
  const queries = createApi({
    baseQuery: retry(baseQueryOf(api), {
      retryCondition: (error, _, { attempt }) => (error as Failure).mayRetry && attempt < 3,
    }),
    endpoints: (build) => ({ me: build.query<{ path: string }, undefined>({ query: () => ({ url: '/me' }) }) }),
  })
  const store = configureStore({
    reducer: { [queries.reducerPath]: queries.reducer },
    middleware: (given) => given().concat(queries.middleware),
  })
  // Clear the cache after a logout, and for another user.
  tokens.on('loginChanged', ({ account }) => {
    if (account !== 'same') store.dispatch(queries.util.resetApiState())
  })
  return { store, queries }
}
