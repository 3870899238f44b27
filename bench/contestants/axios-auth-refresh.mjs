// As in its README: it learns from a 401 that a token has ended, and stalls other requests while a new one is got.
import { createAuthRefresh } from 'axios-auth-refresh'

export const name = 'axios-auth-refresh'

export async function create({ instance, obtain }) {
  let token
  instance.interceptors.request.use((config) => {
    if (token !== undefined) config.headers.Authorization = `Bearer ${token}`
    return config
  })
  const refresh = async (failed) => {
    token = (await obtain()).accessToken
    failed.response.config.headers.Authorization = `Bearer ${token}`
  }
  // By default a 401 that comes in while a token is being got goes to its caller; so they share the refresh too.
  createAuthRefresh(instance, refresh, { deduplicateRefresh: false })
  return { get: (url, config) => instance.get(url, config) }
}
