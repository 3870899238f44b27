import axios from 'axios'

/** `storage`: what all tabs see, as localStorage. */
export function openTab({ tokenEndpoint, baseURL, adapter, storage, logOut }) {
  const api = axios.create({ baseURL, adapter })
  api.interceptors.request.use((config) => {
    config.headers.set('Authorization', `Bearer ${storage.access_token}`)
    return config
  })
  api.interceptors.response.use(undefined, async (error) => {
    if (error.response?.status !== 401 || error.config.isAgain) throw error
    try {
      const form = { grant_type: 'refresh_token', refresh_token: storage.refresh_token, client_id: 'page' }
      const { data } = await axios.post(tokenEndpoint, new URLSearchParams(form), { adapter })
      Object.assign(storage, data)
    } catch (failure) {
      logOut()
      throw failure
    }
    return api({ ...error.config, isAgain: true })
  })
  return api
}
