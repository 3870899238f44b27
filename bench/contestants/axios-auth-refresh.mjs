// As in its README: after a 401 it gets a new token, and other requests wait for it.
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
  // By default a 401 that arrives during a refresh goes to its caller. With this option such requests wait for the refresh, too.
  createAuthRefresh(instance, refresh, { deduplicateRefresh: false })
  return { get: (url, config) => instance.get(url, config) }
}
