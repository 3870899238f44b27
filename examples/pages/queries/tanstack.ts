// TanStack Query on an attached instance. The manager renews, and the attachment sends a request again if the API refuses its token.
import { QueryClient } from '@tanstack/react-query'
import { isAxiosError } from 'axios'
import { type LoginManager, tokenErrorIn } from 'axios-evergreen'

/** No query is asked again after a 401 or any other 4xx, nor when a login is required. */
export function retry(failures: number, error: unknown): boolean {
  const told = tokenErrorIn(error)
  if (told) return told.retryable && failures < 2
  return isAxiosError(error) && (error.response?.status ?? 500) >= 500 && failures < 2
}

/** After a logout, and for another person, the cache is empty. */
export function queryClientOf(tokens: Pick<LoginManager, 'on'>): QueryClient {
  const client = new QueryClient({ defaultOptions: { queries: { retry } } })
  tokens.on('loginChanged', ({ account }) => {
    if (account !== 'same') client.clear()
  })
  return client
}
