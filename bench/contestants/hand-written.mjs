// The pair of interceptors that tutorials show: they get a token if there is none, and another one after a 401.
export const name = 'hand-written'

export async function create({ instance, obtain }) {
  let token
  instance.interceptors.request.use(async (config) => {
    token ??= (await obtain()).accessToken
    config.headers.Authorization = `Bearer ${token}`
    return config
  })
  instance.interceptors.response.use(undefined, async (error) => {
    const { config, response } = error
    if (response?.status !== 401 || config.isRetry) throw error
    token = (await obtain()).accessToken
    return instance.request({ ...config, isRetry: true })
  })
  return { get: (url, config) => instance.get(url, config) }
}
