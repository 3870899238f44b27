// The reference: the least that an interceptor can do.
export const name = 'constant interceptor'

export async function create({ instance, obtain }) {
  const header = `Bearer ${(await obtain()).accessToken}`
  const setHeader = (config) => {
    config.headers.Authorization = header
    return config
  }
  instance.interceptors.request.use(setHeader, undefined, { synchronous: true })
  return { get: (url, config) => instance.get(url, config) }
}
