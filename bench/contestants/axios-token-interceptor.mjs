// As in its README: a cache that keeps a token for the lifetime that the service reports, less a margin.
import tokenProvider from 'axios-token-interceptor'
import { marginMs } from '../lib/token-call.mjs'

export const name = 'axios-token-interceptor'

export async function create({ instance, obtain }) {
  const getMaxAge = ({ lifetimeMs }) => lifetimeMs - marginMs(lifetimeMs)
  const getToken = tokenProvider.tokenCache(obtain, { getMaxAge })
  const headerFormatter = ({ accessToken }) => `Bearer ${accessToken}`
  instance.interceptors.request.use(tokenProvider({ getToken, headerFormatter }))
  return { get: (url, config) => instance.get(url, config) }
}
