// TanStack Query with an attached instance. The manager renews tokens. The instance repeats a request whose token the API rejects.
import { QueryClient } from '@tanstack/react-query'
import { isAxiosError } from 'axios'
import { tokenErrorIn } from 'axios-evergreen'
import type { LoginManager } from 'axios-evergreen/login'

/** Whether to retry: not after a 4xx, including 401, and not if a login is required or was replaced. */
export function retry(failures: number, error: unknown): boolean {
  const tokenError = tokenErrorIn(error)
  if (tokenError) return tokenError.retryable && failures < 2
  return isAxiosError(error) && (error.response?.status ?? 500) >= 500 && failures < 2
}

/** Clears the cache after a logout, and for another user. */
export function queryClientOf(tokens: Pick<LoginManager, 'on'>): QueryClient {
  const client = new QueryClient({ defaultOptions: { queries: { retry } } })
  tokens.on('loginChanged', ({ account }) => {
    if (account !== 'same') client.clear()
  })
  return client
}
