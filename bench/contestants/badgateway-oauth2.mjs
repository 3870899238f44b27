// Its fetch wrapper, as in its README.
import { OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client'

export const name = '@badgateway/oauth2-client'
export const transport = 'fetch'

export async function create({ baseUrl, obtain }) {
  const wrapper = fetchWrapper(obtain)
  return {
    async get(path, { signal } = {}) {
      const response = await wrapper.fetch(new URL(path, baseUrl).href, { signal })
      const data = await response.text()
      if (!response.ok) throw new Error(`The API responded with ${response.status}`)
      return { status: response.status, data }
    },
  }
}

/** An interceptor asks the wrapper for the token. */
export async function onAxios({ instance, obtain }) {
  const wrapper = fetchWrapper(obtain)
  instance.interceptors.request.use(async (config) => {
    config.headers.Authorization = `Bearer ${await wrapper.getAccessToken()}`
    return config
  })
  return { get: (url, config) => instance.get(url, config) }
}

function fetchWrapper(obtain) {
  return new OAuth2Fetch({
    client: new OAuth2Client({ clientId: 'unused: getNewToken asks the service' }),
    async getNewToken() {
      const { accessToken, lifetimeMs } = await obtain()
      return { accessToken, refreshToken: null, expiresAt: Date.now() + lifetimeMs }
    },
  })
}
