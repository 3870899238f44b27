// The limit of what is possible: the defaults of the instance hold a token from the start, and nothing renews it.
export const name = 'static header'

export async function create({ instance, obtain }) {
  const { accessToken } = await obtain()
  instance.defaults.headers.common.Authorization = `Bearer ${accessToken}`
  return { get: (url, config) => instance.get(url, config) }
}
