// RTK Query on an attached instance. The manager renews, and the attachment sends a request again if the API refuses its token.
import { configureStore } from '@reduxjs/toolkit'
import { type BaseQueryFn, createApi, retry } from '@reduxjs/toolkit/query'
import { type AxiosInstance, type AxiosRequestConfig, isAxiosError } from 'axios'
import { type LoginManager, tokenErrorIn } from 'axios-evergreen'

/** Plain data: the state must not keep an axios error, which has the whole request. */
interface Failure {
  readonly status: number | undefined
  readonly code: string | undefined
  readonly mayRetry: boolean
}

/** No query is asked again after a 401 or any other 4xx, nor when a login is required. */
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
  // After a logout, and for another person, the cache is empty.
  tokens.on('loginChanged', ({ account }) => {
    if (account !== 'same') store.dispatch(queries.util.resetApiState())
  })
  return { store, queries }
}
